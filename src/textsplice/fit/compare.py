"""Swap, drafts and FULL on the same dev records."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from textsplice.config import CorpusConfig
from textsplice.corpus import Table, read_corpus
from textsplice.errors import TextspliceError
from textsplice.evaluate.outputs import items_of
from textsplice.evaluate.score import score
from textsplice.fit.look import is_written, unpicked
from textsplice.runs import Run
from textsplice.search.generation import Generation
from textsplice.slots.check import check_slots, summarize_slots
from textsplice.slots.lexicon import Lexicon
from textsplice.slots.wordings import FieldKind
from textsplice.splicer import Splicer

COMPARED = 20  # records, after a training


@dataclass(frozen=True)
class Result:
    """What one system did on dev."""

    name: str
    bleu: float
    slot_errors: float | None  # percent of the slots that can be checked; None if none can
    unchecked: int
    copied: float  # percent of the words that stand in a source
    splices: float
    abstained: int
    records: int
    seconds: float  # a record
    rows: tuple[Generation, ...]

    @property
    def merit(self) -> float:
        """BLEU less the percentage of slots with an error: what decides."""
        return self.bleu - (self.slot_errors or 0.0)

    def to_dict(self) -> dict[str, object]:
        """The figures."""
        return {
            "system": self.name,
            "BLEU": round(self.bleu, 2),
            "slot errors, %": None if self.slot_errors is None else round(self.slot_errors, 2),
            "slots that could not be checked": self.unchecked,
            "copied, %": round(self.copied, 1),
            "splices": round(self.splices, 1),
            "abstained": self.abstained,
            "records": self.records,
            "seconds a record": round(self.seconds, 3),
        }


class Referee:
    """The dev records, their texts, and how slots are checked."""

    def __init__(
        self,
        corpus: CorpusConfig,
        tables: Sequence[Table],
        lexicon: Lexicon | None,
        kinds: Mapping[str, FieldKind],
    ) -> None:
        self.tables = tables
        rows = read_corpus(corpus.source, "dev", like=corpus)
        examples = [row for row in rows if is_written(row, corpus)]
        self._references = {item.table: item.references for item in items_of(examples)}
        known = lexicon or Lexicon.of_tables((example.table for example in examples), kinds)
        self._lexicon = known.with_kinds(kinds)

    def judge(self, name: str, rows: Sequence[Generation], seconds: float) -> Result:
        """The figures of one system's texts."""
        bleu = score([row.text for row in rows], [self._references[row.table] for row in rows], ["BLEU"])
        given = [row for row in rows if row.finished]
        slots = summarize_slots(check_slots(row.text, row.table, self._lexicon) for row in given)
        kinds = [row.sources.kind(place.source) for row in given for place in row.provenance]
        return Result(
            name=name,
            bleu=100 * bleu[0].value,
            slot_errors=100 * slots.error_rate if slots.slots else None,
            unchecked=sum(slots.unchecked.values()),
            copied=100 * sum(kind != "vocabulary" for kind in kinds) / max(1, len(kinds)),
            splices=sum(len(row.splices) for row in given) / max(1, len(given)),
            abstained=len(rows) - len(given),
            records=len(rows),
            seconds=seconds / max(1, len(rows)),
            rows=tuple(rows),
        )


def open_candidate(name: str, folder: Path) -> Splicer:
    """The splicer of one of the systems."""
    return Splicer.untrained(folder) if name == "swap" else Splicer.load(folder)


def with_swap(folder: Path) -> str:
    """How a run's texts of a few dev records compare with what swap makes of them, as a sentence."""
    run = Run.open(folder)
    corpus = run.config.corpus
    try:
        tables = unpicked(corpus, "dev", COMPARED)
        referee = Referee(corpus, tables, run.lexicon, run.kinds)
        rows = [
            list(splicer.generate_many(tables, progress=False))
            for splicer in (Splicer.untrained(folder), Splicer.load(folder))
        ]
    except TextspliceError as error:
        return f"It was not compared with swap: {error.sentence()}"
    swap, own = (referee.judge("", each, 0.0) for each in rows)
    better = "better than" if own.merit > swap.merit else "not better than"
    return (
        f"On {len(tables)} dev records it has {_figures(own)}; swap, which needs no training, has "
        f"{_figures(swap)}: it is {better} swap so far."
    )


def _figures(result: Result) -> str:
    errors = "" if result.slot_errors is None else f" and {result.slot_errors:.1f} % slot errors"
    return f"{result.bleu:.1f} BLEU{errors}"


def best_of(results: Sequence[Result]) -> Result:
    """The system that is kept as the default; of equals the one that needs least."""
    return max(results, key=lambda result: round(result.merit, 1))
