"""A splice, and replaying a derivation: the only way this program makes text."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from typing import NamedTuple, TypeVar

from textsplice.errors import InputError
from textsplice.oracle.pieces import Piece, Pieces

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


def replay_pieces(splices: Sequence[Splice], neighbors: Sequence[Sequence[Token]]) -> Pieces:
    """The last canvas as pieces of the neighbors; `InputError` if a splice does not fit."""
    canvas = Pieces()
    for step, splice in enumerate(_fitting(splices, neighbors)):
        start, stop, neighbor, begin, end = splice
        canvas.splice(start, stop, Piece(neighbor, begin, end, step))
    return canvas


def origins_of(pieces: Iterable[Piece]) -> list[Origin]:
    """The origin of each token of pieces."""
    return [Origin(n, position, step) for n, begin, end, step in pieces for position in range(begin, end)]


def canvases(splices: Sequence[Splice], neighbors: Sequence[Sequence[Token]]) -> Iterator[list[Origin]]:
    """The origins of the tokens of each canvas, one canvas at a time."""
    canvas: list[Origin] = []
    for step, (start, stop, neighbor, begin, end) in enumerate(_fitting(splices, neighbors)):
        span = [Origin(neighbor, position, step) for position in range(begin, end)]
        canvas = [*canvas[:start], *span, *canvas[stop:]]
        yield canvas


def trace(splices: Sequence[Splice], neighbors: Sequence[Sequence[Token]]) -> list[list[Origin]]:
    """All canvases at once; `InputError` if a splice does not fit."""
    return list(canvases(splices, neighbors))


def provenance(splices: Sequence[Splice], neighbors: Sequence[Sequence[Token]]) -> list[Origin]:
    """The origin of each token of the finished text."""
    return origins_of(replay_pieces(splices, neighbors))


def replay(splices: Sequence[Splice], neighbors: Sequence[Sequence[Token]]) -> list[Token]:
    """The text that splices make, starting from an empty canvas."""
    return [
        token for n, begin, end, _ in replay_pieces(splices, neighbors) for token in neighbors[n][begin:end]
    ]


def _fitting(splices: Sequence[Splice], neighbors: Sequence[Sequence[Token]]) -> Iterator[Splice]:
    """The splices, each after it was found to fit its neighbor and the canvas that those before it make."""
    count, length = len(neighbors), 0
    for step, splice in enumerate(splices):
        start, stop, neighbor, begin, end = splice
        if not 0 <= neighbor < count:
            problem = f"neighbor {neighbor} does not exist: there are {count}."
        elif not 0 <= begin < end <= len(neighbors[neighbor]):
            size = len(neighbors[neighbor])
            problem = f"span {begin}:{end} does not fit neighbor {neighbor} of {size} tokens."
        elif not 0 <= start <= stop <= length:
            problem = f"slice {start}:{stop} does not fit the canvas of {length} tokens."
        else:
            length += end - begin - (stop - start)
            yield splice
            continue
        raise InputError(problem, where=f"splice {step} {tuple(splice)}")
