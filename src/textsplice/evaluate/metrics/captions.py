"""What METEOR, ROUGE-L and CIDEr share: pycocoevalcap, its tokenizer, and Java."""

from __future__ import annotations

import shutil
from abc import abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Protocol, SupportsFloat

from textsplice.errors import MissingExtraError
from textsplice.evaluate.metrics.metric import (
    OTHERS,
    Metric,
    References,
    Statistics,
    means,
    missing_package,
)


@dataclass(frozen=True, slots=True)
class Captions:
    """Outputs and references in Penn Treebank tokens, by item."""

    outputs: dict[int, list[str]]
    references: dict[int, list[str]]


class Scorer(Protocol):
    """A scorer of pycocoevalcap: the corpus's score and each item's."""

    def compute_score(
        self, gts: dict[int, list[str]], res: dict[int, list[str]]
    ) -> tuple[SupportsFloat, Iterable[SupportsFloat]]: ...


class CaptionMetric(Metric):
    """A metric that pycocoevalcap computes, as the E2E challenge's script does."""

    package = "pycocoevalcap"
    tokenization = "ptb-no-punctuation"
    case = "lower"

    @abstractmethod
    def scorer(self) -> Scorer:
        """The program's own scorer."""

    def statistics(self, outputs: Sequence[str], references: References) -> Statistics:
        return self.measure(outputs, references)[1]

    def measure(self, outputs: Sequence[str], references: References) -> tuple[float, Statistics]:
        score, items = self.scores(tokenize_captions(tuple(outputs), tuple(map(tuple, references))))
        return score, means(items)

    def scores(self, captions: Captions) -> tuple[float, list[float]]:
        """The corpus's score and each item's."""
        score, items = self.scorer().compute_score(captions.references, captions.outputs)
        return float(score), [float(item) for item in items]

    def obstacle(self) -> MissingExtraError | None:
        if (missing := missing_package(self.name, self.package, "pycocoevalcap")) is not None:
            return missing
        if shutil.which("java") is None:
            return MissingExtraError(
                f"{self.name} needs Java, and there is no `java` on the PATH.",
                remedy="Install a Java runtime (Debian and Ubuntu: `apt install default-jre-headless`),"
                f" {OTHERS}",
            )
        return None


# Three metrics in a row ask for the same tokens, and each start of Java takes a second.
@lru_cache(maxsize=1)
def tokenize_captions(outputs: tuple[str, ...], references: tuple[tuple[str, ...], ...]) -> Captions:
    """Tokenizes outputs and references together."""
    from pycocoevalcap.tokenizer.ptbtokenizer import PTBTokenizer

    # The tokenizer reads one text per line, so a text must not contain a line break.
    lines = {
        number: [{"caption": " ".join(text.split())} for text in (output, *texts)]
        for number, (output, texts) in enumerate(zip(outputs, references, strict=True))
    }
    # It would drop an empty last line.
    lines[len(lines)] = [{"caption": "end"}]
    tokenized: dict[int, list[str]] = PTBTokenizer().tokenize(lines)
    if {number: len(texts) for number, texts in tokenized.items()} != {n: len(t) for n, t in lines.items()}:
        raise java_failed("the tokenizer", "see its output above")
    del tokenized[len(lines) - 1]
    return Captions(
        {number: texts[:1] for number, texts in tokenized.items()},
        {number: texts[1:] for number, texts in tokenized.items()},
    )


def java_failed(what: str, reason: str) -> MissingExtraError:
    """The error for a Java program that ended too early."""
    return MissingExtraError(
        f"Java ended before {what} was done: {reason}.",
        remedy=f"Check that `java -version` works and that 2 GB of memory are free, {OTHERS}",
    )
