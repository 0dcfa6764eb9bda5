"""A splice, and replaying a derivation: the only way text ever comes into being in this program."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import NamedTuple, TypeVar

from textsplice.errors import InputError

Token = TypeVar("Token", bound=Hashable)


class Splice(NamedTuple):
    """`canvas[start:stop] = neighbors[neighbor][begin:end]`; inserts where `start == stop`."""

    start: int
    stop: int
    neighbor: int
    begin: int
    end: int

    @property
    def replaces(self) -> bool:
        """Whether text of the canvas is taken out (otherwise the span is inserted)."""
        return self.stop > self.start


class Origin(NamedTuple):
    """Where one token of a canvas came from: a place in a neighbour, and the splice that laid it."""

    neighbor: int
    position: int
    step: int


def trace(splices: Sequence[Splice], neighbors: Sequence[Sequence[Token]]) -> list[list[Origin]]:
    """The origins of every canvas's tokens, one canvas a splice; `InputError` if a splice does not fit."""
    canvases: list[list[Origin]] = []
    canvas: list[Origin] = []
    for step, splice in enumerate(splices):
        start, stop, neighbor, begin, end = splice
        where = f"splice {step} {tuple(splice)}"
        if not 0 <= neighbor < len(neighbors):
            raise InputError(f"neighbour {neighbor} does not exist: there are {len(neighbors)}.", where=where)
        if not 0 <= begin < end <= len(neighbors[neighbor]):
            raise InputError(
                f"span {begin}:{end} does not fit neighbour {neighbor} of {len(neighbors[neighbor])} tokens.",
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
    """Where each token of the finished text came from."""
    canvases = trace(splices, neighbors)
    return canvases[-1] if canvases else []


def replay(splices: Sequence[Splice], neighbors: Sequence[Sequence[Token]]) -> list[Token]:
    """The text that a derivation makes, starting from the empty canvas."""
    return [neighbors[o.neighbor][o.position] for o in provenance(splices, neighbors)]
