"""A table as one sequence of tokens, and where each value is in it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

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
        """The segment number of each token, -1 for a field's name."""
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


def linearize(table: Table, tokenizer: Tokenizer = "words") -> Linearized:
    """The linearized table, without empty fields."""
    tokens: list[str] = []
    segments: list[Segment] = []
    for name, values in table:
        pieces = [piece for value in values if (piece := tokenize(value, tokenizer))]
        if not pieces:
            continue
        tokens.append(field_token(name))
        for piece in pieces:
            segments.append(Segment(name, len(tokens), len(tokens) + len(piece)))
            tokens.extend(piece)
    return Linearized(tokens, segments)


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
