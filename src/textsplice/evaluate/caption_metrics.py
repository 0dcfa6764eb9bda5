"""METEOR 1.5, ROUGE-L and CIDEr by the programs that the E2E challenge's script calls: they need Java."""

from __future__ import annotations

import shutil
import subprocess
import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Literal, Protocol, SupportsFloat, cast

from textsplice.errors import MissingExtraError
from textsplice.evaluate.score import References

CaptionMetric = Literal["METEOR", "ROUGE_L", "CIDEr"]
EXTRA = "Install it with `pip install 'textsplice[eval]'`, or ask for other metrics: `--metrics BLEU,NIST`."
JAVA = (
    "Install a Java runtime (Debian and Ubuntu: `apt install default-jre-headless`),"
    " or ask for other metrics: `--metrics BLEU,NIST`."
)
BROKEN_JAVA = (
    "Does `java -version` work, and are 2 GB of memory free?"
    " You can also ask for other metrics: `--metrics BLEU,NIST`."
)
LAST_WORDS_SECONDS = 5


@dataclass(frozen=True, slots=True)
class Captions:
    """Outputs and references in Penn Treebank tokens, by item."""

    outputs: dict[int, list[str]]
    references: dict[int, list[str]]


def obstacle(metric: str) -> MissingExtraError | None:
    """What keeps METEOR, ROUGE-L and CIDEr from being computed here."""
    if find_spec("pycocoevalcap") is None:
        return MissingExtraError(f"{metric} needs pycocoevalcap, which is not installed.", remedy=EXTRA)
    if shutil.which("java") is None:
        return MissingExtraError(f"{metric} needs Java, and there is no `java` on the PATH.", remedy=JAVA)
    return None


def tokenize_captions(outputs: Sequence[str], references: References) -> Captions:
    """Tokenises both in one go, since each start of Java takes a second."""
    from pycocoevalcap.tokenizer.ptbtokenizer import PTBTokenizer

    # One text a line is what the tokeniser is given, so no text may hold a line's end.
    lines = {
        number: [{"caption": " ".join(text.split())} for text in (output, *texts)]
        for number, (output, texts) in enumerate(zip(outputs, references, strict=True))
    }
    # A last line that is empty would be lost.
    lines[len(lines)] = [{"caption": "end"}]
    tokenized: dict[int, list[str]] = PTBTokenizer().tokenize(lines)
    if {number: len(texts) for number, texts in tokenized.items()} != {n: len(t) for n, t in lines.items()}:
        raise _java_failed("the tokeniser", "what it said stands above")
    del tokenized[len(lines) - 1]
    return Captions(
        {number: texts[:1] for number, texts in tokenized.items()},
        {number: texts[1:] for number, texts in tokenized.items()},
    )


def caption_scores(metric: CaptionMetric, captions: Captions) -> tuple[float, list[float]]:
    """The corpus's score and each item's."""
    scorer = _scorer(metric)
    try:
        score, items = scorer.compute_score(captions.references, captions.outputs)
    except (OSError, ValueError) as error:
        if metric != "METEOR":
            raise
        raise _java_failed(metric, _last_words(cast("_Meteor", scorer)) or repr(error)) from error
    return float(score), [float(item) for item in items]


def _java_failed(what: str, said: str) -> MissingExtraError:
    return MissingExtraError(f"Java ended before {what} was done: {said}.", remedy=BROKEN_JAVA)


def _last_words(meteor: _Meteor) -> str:
    """Ends METEOR's Java and says what it wrote to standard error."""
    # What `compute_score` leaves locked when it fails, METEOR's finaliser would wait for without end.
    if meteor.lock.locked():
        meteor.lock.release()
    meteor.meteor_p.kill()
    try:
        _, said = meteor.meteor_p.communicate(timeout=LAST_WORDS_SECONDS)
    except subprocess.TimeoutExpired:
        return ""
    return " ".join(said.decode("utf-8", "replace").split()).rstrip(".")


class _Scorer(Protocol):
    def compute_score(
        self, gts: dict[int, list[str]], res: dict[int, list[str]]
    ) -> tuple[SupportsFloat, Iterable[SupportsFloat]]: ...


class _Meteor(Protocol):
    """What METEOR's scorer keeps: a process that it talks with, and a lock that it holds meanwhile."""

    lock: threading.Lock
    meteor_p: subprocess.Popen[bytes]


def _scorer(metric: CaptionMetric) -> _Scorer:
    from pycocoevalcap.cider.cider import Cider
    from pycocoevalcap.meteor.meteor import Meteor
    from pycocoevalcap.rouge.rouge import Rouge

    return {"METEOR": Meteor, "ROUGE_L": Rouge, "CIDEr": Cider}[metric]()
