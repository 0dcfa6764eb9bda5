"""A splice, and replaying a derivation: the only way this program makes text."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import NamedTuple, TypeVar

from textsplice.errors import InputError

Token = TypeVar("Token", bound=Hashable)


class Splice(NamedTuple):
    """`canvas[start:stop] = neighbors[neighbor][begin:end]`; an insertion if `start == stop`."""

    start: int
    stop: int
    neighbor: int
    begin: int
    end: int

    @property
    def replaces(self) -> bool:
        """Whether it replaces tokens of the canvas; otherwise it inserts."""
        return self.stop > self.start


class Origin(NamedTuple):
    """The origin of one token of a canvas: a position in a neighbor, and the splice that copied it."""

    neighbor: int
    position: int
    step: int


def trace(splices: Sequence[Splice], neighbors: Sequence[Sequence[Token]]) -> list[list[Origin]]:
    """The origins of the tokens of each canvas, one per splice; `InputError` if a splice does not fit."""
    canvases: list[list[Origin]] = []
    canvas: list[Origin] = []
    for step, splice in enumerate(splices):
        start, stop, neighbor, begin, end = splice
        where = f"splice {step} {tuple(splice)}"
        if not 0 <= neighbor < len(neighbors):
            raise InputError(f"neighbor {neighbor} does not exist: there are {len(neighbors)}.", where=where)
        if not 0 <= begin < end <= len(neighbors[neighbor]):
            raise InputError(
                f"span {begin}:{end} does not fit neighbor {neighbor} of {len(neighbors[neighbor])} tokens.",
                where=where,
            )
        if not 0 <= start <= stop <= len(canvas):
            raise InputError(
                f"slice {start}:{stop} does not fit the canvas of {len(canvas)} tokens.",
                where=where,
            )
        span = [Origin(neighbor, position, step) for position in range(begin, end)]
        canvas = [*canvas[:start], *span, *canvas[stop:]]
        canvases.append(canvas)
    return canvases


def provenance(splices: Sequence[Splice], neighbors: Sequence[Sequence[Token]]) -> list[Origin]:
    """The origin of each token of the finished text."""
    canvases = trace(splices, neighbors)
    return canvases[-1] if canvases else []


def replay(splices: Sequence[Splice], neighbors: Sequence[Sequence[Token]]) -> list[Token]:
    """The text that splices make, starting from an empty canvas."""
    return [neighbors[o.neighbor][o.position] for o in provenance(splices, neighbors)]
