"""Faithfulness: does a text say everything in its table, once, and nothing else?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, NamedTuple

from textsplice.corpus.asked import ASKED
from textsplice.corpus.table import Table
from textsplice.slots.candidates import stem, words_in_name
from textsplice.slots.dates import day_of, days_in
from textsplice.slots.lexicon import Lexicon, items_of
from textsplice.slots.mentions import Mention
from textsplice.slots.numbers import amounts_in, places, quantity, unit_in_name, units_twice
from textsplice.slots.phrases import said_at
from textsplice.slots.wordings import FieldWordings, words_of
from textsplice.text.yes_no import is_yes_or_no

Status = Literal["ok", "missing", "wrong", "repeated", "added", "unchecked"]
ERRORS: tuple[Status, ...] = ("missing", "wrong", "repeated", "added")
ONE = "1"
SIDE_BY_SIDE = 2  # at most so many words between mentions that count as one
_AS_WRITTEN = FieldWordings({})


class Slot(NamedTuple):
    """One value of the table and what the text says about it.

    `missing`: the text does not say it. `wrong`: the text says another value of the field, `said`.
    `repeated`: the text says it more than once, or its unit: `said`. `added`: the table does not have the
    field, but the text says `said`. `unchecked`: nobody can tell: the lexicon has no wording for a yes or no,
    or not all of them.
    """

    field: str
    value: str
    status: Status
    said: str = ""


@dataclass(frozen=True, slots=True)
class SlotReport:
    """What the checker found in one text."""

    slots: tuple[Slot, ...]

    @property
    def checked(self) -> int:
        """The number of slots that were looked for."""
        return sum(slot.status not in ("unchecked", "added") and bool(slot.value) for slot in self.slots)

    @property
    def errors(self) -> tuple[Slot, ...]:
        """The slots with an error."""
        return tuple(slot for slot in self.slots if slot.status in ERRORS)

    def __str__(self) -> str:
        return "; ".join(told(slot) for slot in self.errors) or "ok"


@dataclass(frozen=True, slots=True)
class SlotSummary:
    """Counts over many texts; `by_field` has the counts of each status for each field."""

    texts: int
    slots: int
    by_status: dict[str, int]
    by_field: dict[str, dict[str, int]]
    texts_with_errors: int

    @property
    def error_rate(self) -> float:
        """Errors of all four kinds per slot."""
        return sum(self.by_status.get(status, 0) for status in ERRORS) / max(1, self.slots)

    @property
    def missing_or_wrong_rate(self) -> float:
        """Missing and wrong values per slot: what most papers call the slot error rate."""
        return sum(self.by_status.get(status, 0) for status in ("missing", "wrong")) / max(1, self.slots)

    @property
    def unchecked(self) -> dict[str, int]:
        """Of each field, how many values nobody could check: they are neither right nor wrong."""
        counts = {field: statuses.get("unchecked", 0) for field, statuses in self.by_field.items()}
        return {field: count for field, count in counts.items() if count}

    def rate(self, digits: int = 2) -> str:
        """The error rate in words: nothing was checked, or a share of what was."""
        checked = self.slots or any(self.by_status.get(status) for status in ERRORS)
        return f"{self.error_rate:.{digits}%}" if checked or not self.unchecked else "unchecked"

    def told_unchecked(self) -> str:
        """What could not be checked, as a clause; "" if everything was."""
        named = ", ".join(f"{field} ({count:,})" for field, count in self.unchecked.items())
        return f"unchecked, since no wording is known: {named}" if named else ""

    def to_dict(self) -> dict[str, object]:
        """Plain data."""
        return {
            "texts": self.texts,
            "slots": self.slots,
            "error_rate": self.error_rate,
            "missing_or_wrong_rate": self.missing_or_wrong_rate,
            "texts_with_errors": self.texts_with_errors,
            "by_status": self.by_status,
            "by_field": self.by_field,
        }


def check_slots(text: str, table: Table, lexicon: Lexicon) -> SlotReport:
    """Looks for each value of the table, and for values that it does not have."""
    asked: list[tuple[str, Sequence[str], FieldWordings]] = []
    for field, values in table:
        wordings = lexicon.fields.get(field, _AS_WRITTEN)
        said = [value for value in values if value != ASKED]  # which has no word that could be found
        if said and wordings.kind != "unsaid":
            asked.append((field, items_of(said, wordings.kind), wordings))
    slots = [(field, value) for field, values, _ in asked for value in values]
    words = words_of(text)
    mentions = lexicon.matcher.find(words, slots)
    found_in: dict[str, list[Mention]] = {}
    questions = {field for field, values in table if ASKED in values}
    for mention in mentions:
        if mention.field not in questions:  # "Is it on Steam?" does not say that it is
            found_in.setdefault(mention.field, []).append(mention)
    own = {field for field, _, _ in asked}
    for field, wordings in lexicon.fields.items():
        if wordings.kind == "number" and field not in own | questions:
            found_in.setdefault(field, []).extend(_says_one(words, field))
    for field, values, wordings in asked:
        if wordings.kind == "number":
            found_in[field] = _with_numbers(field, values, words, mentions)
        elif wordings.kind == "date":
            found_in[field] = _days(field, values, words, slots)
    elsewhere = Counter(value.casefold() for _, value in slots)
    found_in = {name: _without_numbers(name, said, lexicon, slots) for name, said in found_in.items()}
    found: list[Slot] = []
    for field, values, wordings in asked:
        found += _check_field(field, values, found_in.pop(field, ()), wordings, elsewhere)
    for field, mentioned in found_in.items():
        foreign = _foreign(mentioned, (), lexicon.fields[field], elsewhere)
        found += [Slot(field, "", "added", value) for value in foreign[:1]]
    return SlotReport(tuple(_with_units(found, text)))


def _with_units(slots: Sequence[Slot], text: str) -> Iterator[Slot]:
    """The same, in which a value whose unit is said twice is no longer right: `169 m² square metres`."""
    twice = units_twice(text)
    for slot in slots:
        amount = quantity(slot.value) if twice and slot.status == "ok" else None
        said = twice.get(amount.amount) if amount else None
        yield slot._replace(status="repeated", said=said) if said else slot


def _without_numbers(
    field: str, mentions: Sequence[Mention], lexicon: Lexicon, slots: Sequence[tuple[str, str]]
) -> list[Mention]:
    """The same without other values of a number that are numbers of other fields: the 21 of a birthday is not
    how many goals somebody scored."""
    own = {value for name, value in slots if name == field}
    known = lexicon.fields.get(field)
    if not known or known.kind != "number" or all(m.values & own for m in mentions):
        return list(mentions)
    others = {amount for name, value in slots if name != field for amount in amounts_in(value)}

    def elsewhere(mention: Mention) -> bool:
        wanted = quantity(min(mention.values)) if mention.verbatim else None
        return wanted is not None and not mention.values & own and wanted.amount in others

    return [mention for mention in mentions if not elsewhere(mention)]


def _days(
    field: str, values: Sequence[str], words: Sequence[str], slots: Sequence[tuple[str, str]]
) -> list[Mention]:
    """Where a text says the days of a field, as `14 March 1987` or `March 1987`, and days of no field."""
    own = {value: day for value in values if (day := day_of(value))}
    known = [day for _, value in slots if (day := day_of(value))]
    years = {amount for _, value in slots if not day_of(value) for amount in amounts_in(value)}
    found: list[Mention] = []
    for start, stop, day in days_in(words):
        said = frozenset(value for value, wanted in own.items() if wanted.fits(day))
        if said or not (any(wanted.fits(day) for wanted in known) or (day.year and day.year in years)):
            other = " ".join(words[start:stop])
            found.append(Mention(start, stop, field, said or frozenset((other,)), True))
    for value, day in own.items():
        if not any(value in mention.values for mention in found):
            said_at = (place for place, word in enumerate(words) if word == str(day.year))
            found += [Mention(place, place + 1, field, frozenset((value,)), True) for place in said_at]
    return sorted(found)


def _with_numbers(
    field: str, values: Sequence[str], words: Sequence[str], mentions: Sequence[Mention]
) -> list[Mention]:
    """The mentions of a field, with those of numbers that are written otherwise than in the table."""
    own = [mention for mention in mentions if mention.field == field]
    if not any(wanted.amount == 1 for wanted in map(quantity, values) if wanted):
        own += _says_one(words, field)
    others = [mention for mention in mentions if mention.field != field and mention.verbatim]
    taken = {place for mention in others for place in range(mention.start, mention.stop)}
    for value in values:
        wanted = quantity(value)
        if wanted is None or any(value in mention.values for mention in own):
            continue
        said = [
            *places(words, wanted, unit_in_name(field)),
            *(_ones(words, field) if wanted.amount == 1 else ()),
        ]
        spans = [span for span in said if taken.isdisjoint(range(*span))]
        # What is said there is this value, whatever other table writes it so.
        own = [m for m in own if not any(m.start < stop and start < m.stop for start, stop in spans)]
        own += [Mention(*span, field, frozenset((value,)), True) for span in spans]
    return sorted(own)


def _ones(words: Sequence[str], field: str) -> Iterator[tuple[int, int]]:
    """Where a text says one of what a field counts: `one room`, `a single room`."""
    named = set(words_in_name(field))
    for place, (word, after) in enumerate(pairwise(words)):
        if word in ("one", "single") and stem(after) in named:
            yield place, place + 1


def _says_one(words: Sequence[str], field: str) -> list[Mention]:
    """The mentions of one in words, which stand for 1."""
    return [Mention(start, stop, field, frozenset((ONE,)), True) for start, stop in _ones(words, field)]


def out_of_act(text: str, table: Table, lexicon: Lexicon) -> Iterator[str]:
    """What a text does that its table does not ask of it, as clauses: it recommends instead of asking.

    Such fields are no facts and have no slots; what is wrong with them is told, but not counted.
    """
    if not lexicon.acts.fields:
        return
    words, acts = words_of(text), {n for n, f in lexicon.acts.fields.items() if f.kind == "coded"}
    for value in (value for name, values in table if name not in acts for value in values):
        for start, stop in said_at(value, words):  # `real time strategy` has no wording of an act
            words[start:stop] = [";"] * (stop - start)
    for slot in check_slots(" ".join(words), table, lexicon.acts).errors:
        if slot.status == "wrong":
            yield f"it reads like {slot.field} {slot.said}, not {slot.value}"


def slot_errors(texts: Sequence[str], tables: Iterable[Table], lexicon: Lexicon) -> list[int]:
    """The number of errors in each text."""
    return [len(check_slots(text, table, lexicon).errors) for text, table in zip(texts, tables, strict=True)]


def summarize_slots(reports: Iterable[SlotReport]) -> SlotSummary:
    """Adds up reports."""
    texts = slots = wrong_texts = 0
    by_status: Counter[str] = Counter()
    by_field: dict[str, Counter[str]] = {}
    for report in reports:
        texts += 1
        slots += report.checked
        wrong_texts += bool(report.errors)
        for slot in report.slots:
            by_status[slot.status] += 1
            by_field.setdefault(slot.field, Counter())[slot.status] += 1
    return SlotSummary(
        texts,
        slots,
        dict(by_status),
        {field: dict(counts) for field, counts in sorted(by_field.items())},
        wrong_texts,
    )


def _check_field(
    field: str,
    values: Sequence[str],
    mentions: Sequence[Mention],
    wordings: FieldWordings,
    elsewhere: Counter[str],
) -> Iterator[Slot]:
    others = mentions
    if (
        wordings.kind == "worded"
        and not wordings.exclusive
        and any(_may_be_said(value, wordings) for value in values)
    ):
        # Another value may be one more wording: "high" is said of "5 out of 5". Its wordings are not.
        others = [mention for mention in mentions if not mention.verbatim]
    foreign = _foreign(others, values, wordings, elsewhere)
    apart = 0 if wordings.kind == "list" or len(values) > 1 else SIDE_BY_SIDE
    for value in values:
        count = _times_said([mention for mention in mentions if value in mention.values], apart)
        if is_yes_or_no(value) and value not in wordings.wordings and not wordings.kind:
            yield Slot(field, value, "unchecked")
        elif not count and foreign:
            yield Slot(field, value, "wrong", foreign.pop(0))
        elif not count:
            yield Slot(field, value, "unchecked" if _may_be_said(value, wordings) else "missing")
        elif foreign and len(values) == 1:
            yield Slot(field, value, "wrong", foreign.pop(0))
        elif count > max(1, elsewhere[value.casefold()]) and not wordings.repeatable:
            yield Slot(field, value, "repeated")
        else:
            yield Slot(field, value, "ok")
    if foreign and len(values) > 1:
        yield Slot(field, "", "wrong", foreign[0])


def _may_be_said(value: str, wordings: FieldWordings) -> bool:
    """Whether a text may say a value in words that the lexicon does not know."""
    if value in wordings.partial:
        return True
    return value not in wordings.wordings and (
        is_yes_or_no(value) or wordings.kind in ("yes/no", "worded", "coded")
    )


def _times_said(mentions: Sequence[Mention], apart: int) -> int:
    """Mentions next to each other count once: `a high rating of 5 out of 5`.

    Values of a list have nothing `apart` from each other: `PC, Xbox and PC` says PC twice.
    """
    times = sum(apart == 0 or b.start - a.stop > apart for a, b in pairwise(mentions))
    return times + 1 if mentions else 0


def _foreign(
    mentions: Sequence[Mention], values: Sequence[str], wordings: FieldWordings, elsewhere: Counter[str]
) -> list[str]:
    """Mentioned values that are neither this field's, nor generic, nor values of another field."""
    foreign: dict[str, None] = {}
    for mention in mentions:
        if mention.values.isdisjoint(values) and mention.values.isdisjoint(wordings.generic):
            value = min(mention.values)
            # "high" may be said of another field; the yes or no of a wording is this field's own.
            if is_yes_or_no(value) or value.casefold() not in elsewhere:
                foreign[value] = None
    return list(foreign)


def told(slot: Slot) -> str:
    """An error as a clause."""
    match slot.status:
        case "missing":
            return f"{slot.field} ({slot.value}) is missing"
        case "wrong":
            return f"{slot.field} ({slot.value}) is said to be {slot.said}"
        case "repeated" if slot.said:
            return f"{slot.field} ({slot.value}) is said with its unit twice: {slot.said}"
        case "repeated":
            return f"{slot.field} ({slot.value}) is said twice"
        case "added":
            return f"{slot.field} is said to be {slot.said}, which the table does not say"
        case _:
            return f"{slot.field} ({slot.value}) is {slot.status}"
