"""Doubts: what a person should look at before a text is published, though nothing forbids it.

A text is doubtful if its record has a field or value that the store does not know, if not all of the record
is said or something else is, if two spans meet in it as nobody wrote them, or if the judge finds it
improbable.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, cast, get_args

from textsplice.corpus.table import Table
from textsplice.neighbors.store import Store
from textsplice.search.reading import JsonRow
from textsplice.search.seams import Seams
from textsplice.slots.check import check_slots, told
from textsplice.slots.lexicon import Lexicon
from textsplice.slots.wordings import FieldKind

Why = Literal["field", "value", "slot", "seam", "judge"]
# A field with few values, each of many records, is a choice among them; a name or a price is not.
FEW_VALUES, RECORDS_EACH = 12, 5
IMPROBABLE = -0.8  # mean log-probability per token; half of a trained writer's own texts have above -0.3
CHECKED = ("missing", "wrong", "added")


class Doubt(NamedTuple):
    """Why a text is doubtful; `text[start:stop]` is what it is about, None if it is all of it."""

    why: Why
    what: str
    start: int | None = None
    stop: int | None = None

    def to_dict(self) -> dict[str, object]:
        """One of a row's `doubts`."""
        place = {} if self.start is None else {"start": self.start, "stop": self.stop}
        return {"why": self.why, "what": self.what, **place}

    @classmethod
    def from_row(cls, row: JsonRow) -> Doubt:
        """Reads what `to_dict` wrote; `InputError` if something is missing or of another type."""
        why = cast("Why", row.choice("why", get_args(Why)))
        if "start" not in row.data and "stop" not in row.data:
            return cls(why, row.text("what"))
        start, stop = row.numbers([row.data.get("start"), row.data.get("stop")], "doubts", 2)
        return cls(why, row.text("what"), start, stop)


@dataclass(frozen=True)
class Known:
    """The fields of a store, and the values of those fields that are choices among a few."""

    fields: frozenset[str]
    choices: dict[str, frozenset[str]]
    kinds: dict[str, FieldKind]

    @classmethod
    def of(cls, store: Store) -> Known:
        """What the tables of a store have."""
        values: dict[str, Counter[str]] = {}
        for table in store.tables:
            for field, said in table:
                counts = values.setdefault(field, Counter())
                if len(counts) <= FEW_VALUES:  # the names of a million records would be of no use
                    counts.update(said)
        choices = {
            field: frozenset(map(_folded, counts))
            for field, counts in values.items()
            if len(counts) <= FEW_VALUES and counts.total() >= RECORDS_EACH * len(counts)
        }
        return cls(frozenset(values), choices, dict(store.kinds))

    def doubts(self, table: Table) -> Iterator[Doubt]:
        """Fields and values of a record that no record of the store has."""
        for field, values in table:
            if field not in self.fields:
                yield Doubt("field", f"no record of the store has the field {field!r}")
            for value in values:
                if field in self.choices and _folded(value) not in self.choices[field]:
                    yield Doubt("value", f"no record of the store has {value!r} as its {field}")


def seam_doubts(seams: Seams | None) -> Iterator[Doubt]:
    """Where spans meet as nobody wrote them."""
    for seam in seams.unattested if seams else ():
        yield Doubt("seam", "nobody has written these words side by side", seam.start, seam.stop)


def slot_doubts(text: str, table: Table, lexicon: Lexicon) -> Iterator[Doubt]:
    """What of the record is not said, and what is said that it does not have."""
    for slot in check_slots(text, table, lexicon).errors:
        if slot.status in CHECKED:
            yield Doubt("slot", told(slot))


def judge_doubts(judged: float | None) -> Iterator[Doubt]:
    """A text that the judge finds improbable."""
    if judged is not None and judged < IMPROBABLE:
        yield Doubt("judge", f"the judge finds it improbable ({judged:.2f} per word, below {IMPROBABLE})")


def find_doubts(
    text: str,
    table: Table,
    seams: Seams | None,
    known: Known,
    lexicon: Lexicon | None = None,
    judged: float | None = None,
) -> tuple[Doubt, ...]:
    """All doubts about a text; without a lexicon its values are looked for as they are written."""
    checker = lexicon or Lexicon.of_tables([table], known.kinds)
    return (
        *known.doubts(table),
        *slot_doubts(text, table, checker),
        *seam_doubts(seams),
        *judge_doubts(judged),
    )


def misjudged(doubts: Sequence[Doubt], table: Table, seams: Seams | None, known: Known) -> str | None:
    """What a run says otherwise of a row's doubts, as a clause; slots and the judge are not asked again."""
    again = (*known.doubts(table), *seam_doubts(seams))
    said = tuple(doubt for doubt in doubts if doubt.why not in ("slot", "judge"))
    if said == again:
        return None
    missing = [doubt.what for doubt in again if doubt not in said]
    return f"it does not say that {missing[0]}" if missing else "it has a doubt that the run does not have"


def not_doubts(doubts: Sequence[Doubt] | None, status: str, reason: str | None, length: int) -> str | None:
    """What a row itself says against its doubts, as a clause: a doubtful text, and only that, has some."""
    if (status == "doubtful") != bool(doubts):
        return f"it is {status}, yet has {'doubts' if doubts else 'none'}"
    if doubts and reason != reason_of(doubts):
        return "its reason is not what its doubts say"
    if doubts is not None and status not in ("ok", "doubtful"):
        return f"it is {status}, yet says its doubts"
    for doubt in doubts or ():
        start, stop = doubt.start, doubt.stop
        if start is not None and not (stop is not None and 0 <= start <= stop <= length):
            return f"it has a doubt ({doubt.what}) about a place that it does not have"
    return None


def reason_of(doubts: Sequence[Doubt]) -> str:
    """All doubts as one clause, the same once."""
    return "; ".join(dict.fromkeys(doubt.what for doubt in doubts))


def _folded(value: str) -> str:
    return " ".join(value.casefold().split())
