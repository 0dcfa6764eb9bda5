"""Rules about the fields of the table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from textsplice.policy.problem import Draft
from textsplice.search.rules.reading import only, strings
from textsplice.search.rules.rule import Rule
from textsplice.text.linearize import Linearized, Segment
from textsplice.text.tokens import detokenize
from textsplice.text.verbatim import occurrences

_JOINS = frozenset("-‐‑–−/⁄.,:×'’+_…")  # of numbers
_SIGNS = frozenset((" -", " −", " +", "-", "−", "+"))  # of a number, unless another is before it


@dataclass(frozen=True)
class RequireFields(Rule):
    """All values of these fields appear in the text, each whole and in one piece, as the table writes it."""

    fields: tuple[str, ...]
    name: ClassVar[str] = "require-fields"

    def __init__(self, fields: Sequence[str]) -> None:
        object.__setattr__(self, "fields", (fields,) if isinstance(fields, str) else tuple(fields))

    def missing(self, draft: Draft) -> Sequence[Segment]:
        table = draft.sources.table
        return [s for s in table.segments if s.field in self.fields and not says(draft.tokens, table, s)]

    def mendable(self, draft: Draft) -> bool:
        return self._absent(draft) is None

    def violation(self, draft: Draft) -> str | None:
        absent = self._absent(draft)
        if absent is not None:
            return f"the required field {absent!r} has no value in the table"
        for segment in self.missing(draft):
            value = detokenize(draft.sources.table.tokens[segment.start : segment.stop])
            return f"the required field {segment.field!r} ({value}) is not in the text"
        return None

    def to_dict(self) -> dict[str, object]:
        return {"rule": self.name, "fields": list(self.fields)}

    @classmethod
    def from_dict(cls, data: Mapping[str, object], where: str) -> RequireFields:
        only(data, ("fields",), where)
        return cls(strings(data, "fields", where))

    def _absent(self, draft: Draft) -> str | None:
        present = {segment.field for segment in draft.sources.table.segments}
        return next((wanted for wanted in self.fields if wanted not in present), None)


def says(tokens: Sequence[str], table: Linearized, segment: Segment) -> bool:
    """Whether a text says a value of its table, and not only as a part of a longer value or number."""
    value = table.tokens[segment.start : segment.stop]
    places = [
        place for place in occurrences(tokens, value) if not _in_number(tokens, place, place + len(value))
    ]
    if not places:
        return False
    longer = [other for other in table.value_tokens() if len(other) > len(value) and contains(other, value)]
    inside = {
        place + shift
        for other in longer
        for place in occurrences(tokens, other)
        for shift in occurrences(other, value)
    }
    return not inside.issuperset(places)


def contains(tokens: Sequence[str], phrase: Sequence[str]) -> bool:
    """Whether `phrase` appears in `tokens` in one piece."""
    return next(occurrences(tokens, phrase), None) is not None


def _in_number(tokens: Sequence[str], start: int, stop: int) -> bool:
    """Whether a number goes on beside `tokens[start:stop]`, as that of `20-25` does, or has a sign there."""
    left, right = tokens[max(start - 2, 0) : start + 1], tokens[stop - 1 : stop + 2]
    if any(
        len(around) == 3
        and around[1].strip(" ") in _JOINS
        and around[0][-1].isdigit()
        and around[2][0].isdigit()
        for around in (left, right)
    ):
        return True
    if tokens[start][0].isdigit() and start and tokens[start - 1] in _SIGNS:
        return start == 1 or tokens[start - 1][0] == " "
    after = tokens[stop] if stop < len(tokens) else ""
    if tokens[stop - 1][-1].isdigit() and after[:1].isnumeric() and not after[0].isdecimal():
        return True  # 20½
    # Groups of three digits: the 20 of `20 000`, and its 000.
    pairs = (tokens[max(start - 1, 0) : start + 1], tokens[stop - 1 : stop + 1])
    return any(
        len(pair) == 2 and pair[0][-1].isdigit() and pair[1].isdigit() and len(pair[1]) == 3 for pair in pairs
    )
