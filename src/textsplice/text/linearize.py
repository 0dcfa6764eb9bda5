"""A table as one sequence of tokens, and where each value is in it."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from textsplice.corpus.asked import ASKED
from textsplice.corpus.table import Table
from textsplice.text.tokens import Tokenizer, tokenize


class Segment(NamedTuple):
    """One value of one field: `tokens[start:stop]` of the linearized table. Copied spans stay inside one."""

    field: str
    start: int
    stop: int


@dataclass(frozen=True, slots=True)
class Linearized:
    """`name value value … name value …`; a field's name is one token, outside every segment."""

    tokens: list[str]
    segments: list[Segment]

    def segment_numbers(self) -> list[int]:
        """The segment number of each token, -1 for a field's name and for what is never copied."""
        numbers = [-1] * len(self.tokens)
        for number, segment in enumerate(self.segments):
            numbers[segment.start : segment.stop] = [number] * (segment.stop - segment.start)
        return numbers

    def value_tokens(self) -> list[list[str]]:
        """The tokens of each segment."""
        return [self.tokens[s.start : s.stop] for s in self.segments]


def field_token(name: str) -> str:
    """The token for a field's name in a linearized table.

    The colon gives the field `name` and the word `name` different embeddings.
    """
    return f"{name}:"


@dataclass(frozen=True, slots=True)
class Unsaid:
    """What is read like other values, but never copied: some fields and, with `asked`, the value `?`."""

    fields: Collection[str] = frozenset()
    asked: bool = False

    def has(self, field: str, value: str) -> bool:
        """Whether a value is one of these."""
        return field in self.fields or (self.asked and value == ASKED)

    @classmethod
    def of_kinds(cls, kinds: Mapping[str, str]) -> Unsaid:
        """What follows from the kinds of fields; nothing if there are none."""
        never = frozenset(name for name, kind in kinds.items() if kind in ("coded", "unsaid"))
        return cls(never, bool(kinds))


NOTHING_UNSAID = Unsaid()


def linearize(table: Table, tokenizer: Tokenizer = "words", unsaid: Unsaid = NOTHING_UNSAID) -> Linearized:
    """The linearized table, without empty fields; what is `unsaid` is no segment."""
    tokens: list[str] = []
    segments: list[Segment] = []
    for name, values in table:
        pieces = [(value, piece) for value in values if (piece := tokenize(value, tokenizer))]
        if not pieces:
            continue
        tokens.append(field_token(name))
        for value, piece in pieces:
            if not unsaid.has(name, value):
                segments.append(Segment(name, len(tokens), len(tokens) + len(piece)))
            tokens.extend(piece)
    return Linearized(tokens, segments)


def unsaid_in(found: Linearized, table: Table, tokenizer: Tokenizer) -> Unsaid:
    """What a linearized table leaves unsaid: fields without segments, and perhaps `?` in the others."""
    fields = frozenset(name for name, _ in table) - {segment.field for segment in found.segments}
    plain = Unsaid(fields)
    return plain if linearize(table, tokenizer, plain) == found else Unsaid(fields, asked=True)


def value_spaces(table: Table, tokenizer: Tokenizer) -> list[bool | None]:
    """Whether a space comes before each token of the linearized table inside its value.

    None for the first token of a value and for a field's name.
    """
    spaces: list[bool | None] = []
    for _, values in table:
        pieces = [piece for value in values if (piece := tokenize(value, tokenizer))]
        if pieces:
            spaces.append(None)
        for piece in pieces:
            spaces += [None, *piece.spaced[1:]]
    return spaces
