"""Two oracles that only append: token by token, as the LRT policy writes, and span by span."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import NamedTuple, TypeVar

from textsplice.oracle.derive import require_sources
from textsplice.oracle.splice import Splice

Token = TypeVar("Token", bound=Hashable)


class Place(NamedTuple):
    """A position that a token can be copied from."""

    neighbor: int
    position: int


def token_places(target: Sequence[Token], neighbors: Sequence[Sequence[Token]]) -> list[list[Place]]:
    """All places that have each token of the target, preferred neighbors first."""
    places: dict[Token, list[Place]] = {token: [] for token in target}
    for number, neighbor in enumerate(neighbors):
        for position, token in enumerate(neighbor):
            if token in places:
                places[token].append(Place(number, position))
    return [places[token] for token in target]


def lrt_oracle(target: Sequence[Token], neighbors: Sequence[Sequence[Token]]) -> list[Splice]:
    """One splice per token, left to right, each from the first place that has the token."""
    require_sources(target, neighbors)
    return [
        Splice(start, start, places[0].neighbor, places[0].position, places[0].position + 1)
        for start, places in enumerate(token_places(target, neighbors))
    ]


def span_oracle(target: Sequence[Token], neighbors: Sequence[Sequence[Token]]) -> list[Splice]:
    """The fewest spans side by side: each time the longest match, from the first place that has it.

    Taking the longest is optimal, because every prefix of a match is also a match.
    """
    require_sources(target, neighbors)
    places = token_places(target, neighbors)
    splices: list[Splice] = []
    start = 0
    while start < len(target):
        longest = max(
            (
                Splice(start, start, n, k, k + common_length(target, start, neighbors[n], k))
                for n, k in places[start]
            ),
            key=lambda splice: splice.end - splice.begin,
        )
        splices.append(longest)
        start += longest.end - longest.begin
    return splices


def common_length(left: Sequence[Token], i: int, right: Sequence[Token], j: int) -> int:
    """The length of the common prefix of `left[i:]` and `right[j:]`."""
    length = 0
    while i + length < len(left) and j + length < len(right) and left[i + length] == right[j + length]:
        length += 1
    return length
