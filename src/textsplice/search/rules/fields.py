"""Rules about the fields of the table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from textsplice.oracle.numbering import TABLE
from textsplice.policy.problem import Draft
from textsplice.search.rules.reading import strings
from textsplice.search.rules.rule import Rule
from textsplice.text.linearize import Segment


@dataclass(frozen=True)
class RequireFields(Rule):
    """All values of these fields appear in the text, copied from the table or word for word."""

    fields: tuple[str, ...]
    name: ClassVar[str] = "require-fields"

    def __init__(self, fields: Sequence[str]) -> None:
        object.__setattr__(self, "fields", (fields,) if isinstance(fields, str) else tuple(fields))

    def missing(self, draft: Draft) -> Sequence[Segment]:
        copied = {o.position for o in draft.origins if o.neighbor == TABLE}
        table = draft.sources.table
        return [
            segment
            for segment in table.segments
            if segment.field in self.fields
            and not copied.issuperset(range(segment.start, segment.stop))
            and not contains(draft.tokens, table.tokens[segment.start : segment.stop])
        ]

    def mendable(self, draft: Draft) -> bool:
        return self._absent(draft) is None

    def violation(self, draft: Draft) -> str | None:
        absent = self._absent(draft)
        if absent is not None:
            return f"the required field {absent!r} has no value in the table"
        for segment in self.missing(draft):
            value = " ".join(draft.sources.table.tokens[segment.start : segment.stop])
            return f"the required field {segment.field!r} ({value}) is not in the text"
        return None

    def to_dict(self) -> dict[str, object]:
        return {"rule": self.name, "fields": list(self.fields)}

    @classmethod
    def from_dict(cls, data: Mapping[str, object], where: str) -> RequireFields:
        return cls(strings(data, "fields", where))

    def _absent(self, draft: Draft) -> str | None:
        present = {segment.field for segment in draft.sources.table.segments}
        return next((wanted for wanted in self.fields if wanted not in present), None)


def contains(tokens: Sequence[str], phrase: Sequence[str]) -> bool:
    """Whether `phrase` appears in `tokens` in one piece."""
    size, wanted = len(phrase), list(phrase)
    return any(list(tokens[i : i + size]) == wanted for i in range(len(tokens) - size + 1))
