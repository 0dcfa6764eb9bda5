"""One system's outputs, measured: metrics, and how faithful the texts are to their tables."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from textsplice.config import CorpusConfig
from textsplice.corpus.table import Table
from textsplice.errors import InputError, MissingExtraError
from textsplice.evaluate.metrics.metric import metric_named
from textsplice.evaluate.outputs import Item, Matched, Output, corpus_of, read_items
from textsplice.evaluate.score import E2E_METRICS, Measured, Measurement, measure
from textsplice.evaluate.significance import Comparison
from textsplice.files import write_new
from textsplice.parsing import read_object
from textsplice.runs.prepared import Prepared
from textsplice.slots.check import SlotReport, SlotSummary, check_slots, summarize_slots
from textsplice.slots.lexicon import BUNDLED, VALUES, Lexicon
from textsplice.slots.wordings import FieldKind

NO_LEXICON = "none"
SCORES = "scores.json"


@dataclass(frozen=True)
class Evaluation:
    """The scores of one system and, if slots were checked, what the checker found.

    `scores` are the values by metric; `signatures` say how each number was made.
    """

    name: str
    items: int
    measurements: list[Measurement]
    reports: list[SlotReport]
    slots: SlotSummary | None
    erring: list[dict[str, object]]
    lexicon: str | None = None
    slot_signature: str | None = None

    @property
    def scores(self) -> dict[str, float]:
        """The values, by the metric's name."""
        return {each.score.metric: each.score.value for each in self.measurements}

    @property
    def signatures(self) -> list[str]:
        """How each number was made, one line per number."""
        lines = [str(each.score.signature) for each in self.measurements]
        return lines if self.slot_signature is None else [*lines, self.slot_signature]

    def to_dict(self) -> dict[str, object]:
        """Plain data; `slot_errors` names the field and the output of each error."""
        return {
            "name": self.name,
            "items": self.items,
            "scores": [each.score.to_dict() for each in self.measurements],
            "lexicon": self.lexicon,
            "slots": None if self.slots is None else self.slots.to_dict(),
            "slot_signature": self.slot_signature,
            "slot_errors": self.erring,
        }


@dataclass(frozen=True)
class ReferenceSet:
    """What outputs are scored against: the items of a split, and how signatures name them.

    `lexicon` is the default for checking slots: that of the corpus, else the values as written, and None if
    there are no tables to check against.
    """

    items: list[Item]
    data: str
    lexicon: str | None
    kinds: Mapping[str, FieldKind] = field(default_factory=dict[str, FieldKind])  # of fields, where known

    @classmethod
    def read(
        cls,
        references: str,
        split: str,
        *,
        text_column: str | None = None,
        like: CorpusConfig | None = None,
    ) -> ReferenceSet:
        """Reads a split of a corpus or of a prepared folder, or a JSONL file of ids and texts."""
        items = read_items(references, split, text_column=text_column, like=like)
        if items[0].table is None:
            return cls(items, references, None)
        kinds = Prepared.open(references).kinds if Prepared.is_prepared(references) else {}
        return cls(items, f"{references}/{split}", default_lexicon(corpus_of(references)), kinds)

    def checked_with(self, lexicon: str | None, kinds: Mapping[str, FieldKind]) -> ReferenceSet:
        """The same with the lexicon and the kinds of a run, where the corpus has none of its own."""
        own = lexicon if lexicon and self.lexicon == VALUES else self.lexicon
        return replace(self, lexicon=own, kinds=self.kinds or kinds)

    def lexicon_named(self, name: str | None) -> str | None:
        """The lexicon to use: the named one, none for "none", the default for None."""
        return chosen_lexicon(name, self.lexicon)


def default_lexicon(corpus: str) -> str:
    """The lexicon that comes with the package for this corpus, else the values as they are written."""
    name = corpus.split(":")[0]
    return name if name in BUNDLED else VALUES


def chosen_lexicon(name: str | None, default: str | None) -> str | None:
    """The named lexicon; None for "none"; the default if no name was given."""
    if name is None:
        return default
    return None if name == NO_LEXICON else name


def default_metrics() -> tuple[list[str], dict[str, MissingExtraError]]:
    """The metrics of the E2E challenge that can be computed here, and why the others can't."""
    obstacles = {name: metric_named(name).obstacle() for name in E2E_METRICS}
    missing = {name: error for name, error in obstacles.items() if error is not None}
    return [name for name in E2E_METRICS if name not in missing], missing


def unsaid_kinds(outputs: Iterable[Output]) -> dict[str, FieldKind]:
    """The fields that outputs were not offered to copy from, as their rows say."""
    return dict.fromkeys(sorted({name for output in outputs for name in output.unsaid}), "unsaid")


def evaluate_matched(
    matched: Matched,
    metrics: Sequence[str],
    *,
    name: str,
    data: str,
    lexicon: str | None = None,
    kinds: Mapping[str, FieldKind] | None = None,
    known: Mapping[str, Measured] | None = None,
) -> Evaluation:
    """Scores outputs that have been matched with their references.

    `lexicon` is a name or a file; `values` looks for the values of the tables as they are written. Of which
    kinds fields are, `kinds` says and, if they are not said at all, the outputs' rows. `known` as in
    `measure`.
    """
    measurements = measure(matched.texts, matched.references, metrics, data=data, known=known)
    if lexicon is None:
        return Evaluation(name, len(matched.items), measurements, [], None, [])
    tables = [_table(item, output) for item, output in zip(matched.items, matched.outputs, strict=True)]
    wordings = Lexicon.named(lexicon, tables, {**unsaid_kinds(matched.outputs), **(kinds or {})})
    reports = [check_slots(text, table, wordings) for text, table in zip(matched.texts, tables, strict=True)]
    erring: list[dict[str, object]] = [
        {
            "id": output.id or item.ids[0],
            "text": output.text,
            "errors": [slot._asdict() for slot in report.errors],
        }
        for item, output, report in zip(matched.items, matched.outputs, reports, strict=True)
        if report.errors
    ]
    slots = summarize_slots(reports)
    signature = slot_signature(lexicon, wordings)
    return Evaluation(name, len(matched.items), measurements, reports, slots, erring, lexicon, signature)


def scores_json(evaluations: Sequence[Evaluation], comparisons: Sequence[Comparison] = ()) -> str:
    """What `evaluate --json` prints: every number with its signature."""
    data = {
        "systems": [each.to_dict() for each in evaluations],
        "comparisons": [comparison._asdict() for comparison in comparisons],
    }
    return json.dumps(data, indent=2, ensure_ascii=False) + "\n"


def scores_path(outputs: Path) -> Path:
    """Where the scores of a file of outputs are kept: `dev.jsonl` has `dev.scores.json` beside it."""
    return outputs.with_name(f"{outputs.stem}.{SCORES}")


def keep_scores(outputs: Path, evaluation: Evaluation) -> Path:
    """Writes the scores of outputs beside them; a file that is not one of scores is left as it is."""
    path = scores_path(outputs)
    written = scores_json([evaluation])
    if path.exists():
        before = read_object(path, InputError)
        if set(before) != {"systems", "comparisons"}:
            raise InputError("is there already and has no scores; it was left as it is.", where=str(path))
    write_new(path, written, force=True)
    return path


def slot_signature(name: str, lexicon: Lexicon) -> str:
    """What slot errors were counted with: the lexicon by name and by a hash of its content, our version."""
    from textsplice import __version__

    return f"slots|lexicon:{name}@{lexicon.digest[:16]}|version:textsplice-{__version__}"


def _table(item: Item, output: Output) -> Table:
    table = output.table or item.table
    if table is None:
        raise InputError(
            "slots can't be checked without a table.",
            where=output.where,
            remedy="Leave the check out with --lexicon none.",
        )
    return table
