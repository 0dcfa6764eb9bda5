"""A table as one sequence of tokens, with the map from value tokens to their places."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from textsplice.corpus.table import Table
from textsplice.text.tokens import Tokenizer, tokenize


class Segment(NamedTuple):
    """One value of one field: `tokens[start:stop]` of the linearised table. Copied spans stay inside."""

    field: str
    start: int
    stop: int


@dataclass(frozen=True, slots=True)
class Linearized:
    """`name value value … name value …`; the field's name is one token and belongs to no segment."""

    tokens: list[str]
    segments: list[Segment]

    def segment_numbers(self) -> list[int]:
        """For each token the number of its segment, -1 for a field's name."""
        numbers = [-1] * len(self.tokens)
        for number, segment in enumerate(self.segments):
            numbers[segment.start : segment.stop] = [number] * (segment.stop - segment.start)
        return numbers

    def value_tokens(self) -> list[list[str]]:
        """The tokens of each segment."""
        return [self.tokens[s.start : s.stop] for s in self.segments]


def field_token(name: str) -> str:
    """The one token that stands for a field's name in a linearised table.

    The colon marks it, so that the field `name` and the word `name` have different embeddings.
    """
    return f"{name}:"


def linearize(table: Table, tokenizer: Tokenizer = "words") -> Linearized:
    """The linearised table; empty fields are left out."""
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
