"""One system's outputs, measured: metrics and slots together."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

from textsplice.corpus.table import Table
from textsplice.errors import InputError
from textsplice.evaluate.metrics import measure
from textsplice.evaluate.outputs import Item, Matched, Output
from textsplice.evaluate.score import Measurement, Metric
from textsplice.slots.check import SlotReport, SlotSummary, check_slots, summarize_slots
from textsplice.slots.lexicon import Lexicon


@dataclass(frozen=True)
class Evaluation:
    """The scores of one system and, where there is a lexicon, how faithful it is to its tables."""

    name: str
    items: int
    measurements: list[Measurement]
    reports: list[SlotReport]
    slots: SlotSummary | None
    erring: list[dict[str, object]]
    lexicon: str | None = None
    slot_signature: str | None = None

    @property
    def signatures(self) -> list[str]:
        """How each number was made, one line each."""
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


def evaluate(
    matched: Matched, metrics: Sequence[Metric], *, name: str, data: str, lexicon: str | None = None
) -> Evaluation:
    """Scores outputs that have been matched with their references.

    `lexicon` is a name or a file; `values` looks for the values of the tables as they are written.
    """
    measurements = measure(matched.texts, matched.references, metrics, data=data)
    if lexicon is None:
        return Evaluation(name, len(matched.items), measurements, [], None, [])
    tables = [_table(item, output) for item, output in zip(matched.items, matched.outputs, strict=True)]
    known = Lexicon.named(lexicon, tables)
    reports = [check_slots(text, table, known) for text, table in zip(matched.texts, tables, strict=True)]
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
    signature = slot_signature(lexicon, known)
    return Evaluation(name, len(matched.items), measurements, reports, slots, erring, lexicon, signature)


def slot_signature(name: str, lexicon: Lexicon) -> str:
    """What slot errors were counted with: the lexicon, by name and by a hash of what it says; our version."""
    from textsplice import __version__

    digest = hashlib.sha256(lexicon.to_toml().encode("utf-8", "surrogatepass")).hexdigest()[:16]
    return f"slots|lexicon:{name}@{digest}|version:textsplice-{__version__}"


def _table(item: Item, output: Output) -> Table:
    table = output.table or item.table
    if table is None:
        raise InputError(
            "slots can't be checked without a table.",
            where=output.where,
            remedy="Leave them out with --lexicon none.",
        )
    return table
