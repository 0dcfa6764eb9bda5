"""Doubts: what a person should look at before a text is published, though nothing forbids it.

A text is doubtful if its record has a field or value that the store does not know, if not all of the record
is said or something else is, if two spans meet in it as nobody wrote them, or if the judge finds it
improbable.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, cast, get_args

from textsplice.corpus.table import Table
from textsplice.neighbors.store import Store
from textsplice.search.beside import Beside
from textsplice.search.reading import JsonRow
from textsplice.search.seams import Seams
from textsplice.slots.asking import Asking
from textsplice.slots.check import check_slots, out_of_act, told
from textsplice.slots.lexicon import Lexicon, items_of
from textsplice.slots.numbers import stray_numbers
from textsplice.slots.topics import Topics
from textsplice.slots.wordings import FieldKind

Why = Literal["field", "value", "slot", "seam", "judge"]
# A field with few values, each of many records, is a choice among them; a name or a price is not.
FEW_VALUES, RECORDS_EACH = 12, 5
IMPROBABLE = -0.8  # mean log-probability per token; half of a trained writer's own texts have above -0.3
SAMPLE, STRAYING, SEVERAL = 1000, 0.3, 2  # texts; share with numbers of their own; texts that say one
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


class Unchecked(NamedTuple):
    """A value of which nobody can tell whether the text says it: no wording is known, or not all of them."""

    field: str
    value: str

    @classmethod
    def from_row(cls, row: JsonRow) -> Unchecked:
        """One of a row's `unchecked`."""
        return cls(row.text("field"), row.text("value"))


@dataclass(frozen=True)
class Known:
    """The fields of a store, the values of those that are choices among a few, and how texts ask for them."""

    fields: frozenset[str]
    choices: dict[str, frozenset[str]]
    kinds: dict[str, FieldKind]
    asking: Asking = field(default_factory=lambda: Asking({}))
    # Numbers that texts say though no record has them (`open 24 hours`); None: such numbers are no doubt.
    usual: frozenset[str] | None = None
    beside: Beside = field(default_factory=Beside)
    topics: Topics = field(default_factory=Topics)

    @classmethod
    def of(cls, store: Store) -> Known:
        """What the tables of a store have."""
        values: dict[str, Counter[str]] = {}
        for table in store.tables:
            for name, said in table:
                counts = values.setdefault(name, Counter())
                if len(counts) <= FEW_VALUES or name in store.alike:  # a million names would be of no use
                    counts.update(said)
        choices = {
            name: frozenset(map(_folded, counts))
            for name, counts in values.items()
            if (len(counts) <= FEW_VALUES and counts.total() >= RECORDS_EACH * len(counts))
            or (name in store.alike and name in store.unsaid.fields)
        }
        tables = [store.tables[number] for number in store.table_of.tolist()] if store.alike else []
        asking = Asking.of(zip(tables, store.texts, strict=False))
        sample = [(store.tables[int(store.table_of[row])], store.texts[row]) for row in _sample(store)]
        topics = Topics.of(sample) if store.kinds else Topics()
        more = (asking, _usual(store), Beside.of(sample), topics)
        return cls(frozenset(values), choices, dict(store.kinds), *more)

    def strays(self, text: str, table: Table) -> list[str]:
        """The numbers of a text that its record does not have, as clauses."""
        if self.usual is None:
            return []
        found = stray_numbers(text, _pairs(table))
        return [
            f"it says {number!r}, which the record does not have"
            for number in dict.fromkeys(found)
            if _folded(number) not in self.usual
        ]

    def slips(self, text: str, table: Table) -> Iterator[str]:
        """What only shows in a whole text, as clauses."""
        if astray := self.asking.astray(text, table):
            yield astray
        yield from self.strays(text, table)
        yield from self.beside.misfits(text, table)
        yield from self.topics.added(text, table)
        yield from self.topics.clashes(text, table)

    def silences(self, text: str, table: Table, lexicon: Lexicon | None) -> Iterator[str]:
        """What a text should speak of and does not, of what could not be checked, as clauses."""
        if self.topics.spoken_of:
            unchecked = (name for name, _ in unchecked_values(text, table, self, lexicon))
            yield from self.topics.left_out(text, table, unchecked)

    def doubts(self, table: Table) -> Iterator[Doubt]:
        """Fields and values of a record that no record of the store has."""
        for name, values in table:
            if name not in self.fields:
                yield Doubt("field", f"no record of the store has the field {name!r}")
            for value in values:
                if name in self.choices and _folded(value) not in self.choices[name]:
                    yield Doubt("value", f"no record of the store has {value!r} as its {name}")


def _usual(store: Store) -> frozenset[str] | None:
    """The numbers that several texts say though their records lack them; None if that is what texts do."""
    if not store.kinds:
        return None
    counts, odd = Counter[str](), 0
    rows = _sample(store)
    for row in rows:
        table = store.tables[int(store.table_of[row])]
        found = {_folded(n) for n in stray_numbers(store.texts[row], _pairs(table))}
        counts.update(found)
        odd += bool(found)
    if odd > STRAYING * len(rows):
        return None
    return frozenset(number for number, count in counts.items() if count >= SEVERAL)


def _pairs(table: Table) -> Iterator[tuple[str, str]]:
    return ((name, value) for name, values in table for value in values)


def _sample(store: Store) -> range:
    return range(0, len(store), -(-len(store) // SAMPLE) or 1)


def seam_doubts(seams: Seams | None) -> Iterator[Doubt]:
    """Where spans meet as nobody wrote them."""
    for seam in seams.unattested if seams else ():
        yield Doubt("seam", "nobody has written these words side by side", seam.start, seam.stop)


def slot_doubts(text: str, table: Table, lexicon: Lexicon) -> Iterator[Doubt]:
    """What of the record is not said, and what is said that it does not have."""
    for slot in check_slots(text, table, lexicon).errors:
        known = lexicon.fields.get(slot.field)
        several = known and (known.kind == "list" or (slot.field in table and len(table[slot.field]) > 1))
        if slot.status in CHECKED or slot.said or several:
            yield Doubt("slot", told(slot))
    for told_act in out_of_act(text, table, lexicon):
        yield Doubt("slot", told_act)


def unchecked_values(
    text: str, table: Table, known: Known, lexicon: Lexicon | None = None
) -> tuple[Unchecked, ...]:
    """The values of the record that a text may say or not: no doubt, but not right either."""
    slots = check_slots(text, table, _checker(table, known, lexicon)).slots
    return tuple(Unchecked(slot.field, slot.value) for slot in slots if slot.status == "unchecked")


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
    return (
        *known.doubts(table),
        *slot_doubts(text, table, _checker(table, known, lexicon)),
        *(Doubt("slot", slip) for slip in known.slips(text, table)),
        *(Doubt("slot", silence) for silence in known.silences(text, table, lexicon)),
        *seam_doubts(seams),
        *judge_doubts(judged),
    )


def _checker(table: Table, known: Known, lexicon: Lexicon | None) -> Lexicon:
    return lexicon or Lexicon.of_tables([table], known.kinds)


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


def not_unchecked(unchecked: Sequence[Unchecked], status: str, table: Table) -> str | None:
    """What a row itself says against what it calls unchecked, as a clause."""
    if unchecked and status not in ("ok", "doubtful"):
        return f"it is {status}, yet says what is unchecked in it"
    for name, value in unchecked:
        if not any(
            name == field and value in (*items_of(values, "list"), *values) for field, values in table
        ):
            return f"it calls {name} ({value}) unchecked, which its record does not have"
    return None


def reason_of(doubts: Sequence[Doubt]) -> str:
    """All doubts as one clause, the same once."""
    return "; ".join(dict.fromkeys(doubt.what for doubt in doubts))


def _folded(value: str) -> str:
    return " ".join(value.casefold().split())
