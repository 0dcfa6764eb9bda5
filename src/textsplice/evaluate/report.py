"""One system's outputs, measured: metrics and slots together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from textsplice.errors import InputError
from textsplice.evaluate.metrics import measure
from textsplice.evaluate.outputs import Matched
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

    def to_dict(self) -> dict[str, object]:
        """Plain data; `slot_errors` names the field and the output of each error."""
        return {
            "name": self.name,
            "items": self.items,
            "scores": [each.score.to_dict() for each in self.measurements],
            "slots": None if self.slots is None else self.slots.to_dict(),
            "slot_errors": self.erring,
        }


def evaluate(
    matched: Matched, metrics: Sequence[Metric], *, name: str, data: str, lexicon: str | None = None
) -> Evaluation:
    """Scores outputs that have been matched with their references; `lexicon` is a name or a file."""
    measurements = measure(matched.texts, matched.references, metrics, data=data)
    if lexicon is None:
        return Evaluation(name, len(matched.items), measurements, [], None, [])
    known = Lexicon.load(lexicon)
    reports: list[SlotReport] = []
    erring: list[dict[str, object]] = []
    for item, output in zip(matched.items, matched.outputs, strict=True):
        table = output.table or item.table
        if table is None:
            raise InputError(
                "slots can't be checked without a table.",
                where=output.where,
                remedy="Leave them out with --lexicon none.",
            )
        report = check_slots(output.text, table, known)
        reports.append(report)
        if report.errors:
            erring.append(
                {
                    "id": output.id or item.ids[0],
                    "text": output.text,
                    "errors": [slot._asdict() for slot in report.errors],
                }
            )
    return Evaluation(name, len(matched.items), measurements, reports, summarize_slots(reports), erring)
