"""A canvas as pieces of its sources: replaying takes memory and time by the splice, not by the token."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import NamedTuple

BLOCK = 256  # pieces of a block, beyond which it is split in two


class Piece(NamedTuple):
    """`sources[neighbor][begin:end]`, laid by splice number `step`."""

    neighbor: int
    begin: int
    end: int
    step: int


class Pieces:
    """The pieces of a canvas, in blocks; finding a place walks over blocks, then over one block."""

    def __init__(self) -> None:
        self.length = 0  # of the canvas, in tokens
        self._blocks: list[list[Piece]] = [[]]
        self._sizes = [0]

    def __iter__(self) -> Iterator[Piece]:
        return chain.from_iterable(self._blocks)

    def splice(self, start: int, stop: int, new: Piece) -> None:
        """`canvas[start:stop] = new`; the places must be on the canvas."""
        block, place = self._cut(start)
        self._insert(block, place, new)
        self._remove(block, place + 1, stop - start)
        self.length += new.end - new.begin - (stop - start)
        if len(self._blocks[block]) > BLOCK:
            self._halve(block)

    def _cut(self, position: int) -> tuple[int, int]:
        """The block and the place in it where a piece begins at this position of the canvas."""
        block = 0
        if position == self.length:  # most derivations that only append are long
            block, position = len(self._sizes) - 1, self._sizes[-1]
        while position > self._sizes[block]:
            position -= self._sizes[block]
            block += 1
        pieces = self._blocks[block]
        if position == self._sizes[block]:
            return block, len(pieces)
        place = 0
        while (size := pieces[place].end - pieces[place].begin) <= position:
            position -= size
            place += 1
        if position:
            whole = pieces[place]
            middle = whole.begin + position
            pieces[place : place + 1] = [whole._replace(end=middle), whole._replace(begin=middle)]
            place += 1
        return block, place

    def _insert(self, block: int, place: int, new: Piece) -> None:
        self._blocks[block].insert(place, new)
        self._sizes[block] += new.end - new.begin

    def _remove(self, block: int, place: int, count: int) -> None:
        """Removes `count` tokens from a place on; blocks that are emptied are dropped."""
        first = block
        while count:
            pieces, last = self._blocks[block], place
            while count and last < len(pieces):
                size = pieces[last].end - pieces[last].begin
                if size > count:
                    pieces[last] = pieces[last]._replace(begin=pieces[last].begin + count)
                    self._sizes[block] -= count
                    count = 0
                    break
                self._sizes[block] -= size
                count -= size
                last += 1
            del pieces[place:last]
            block, place = block + 1, 0
        end = block
        while end > first + 1 and self._blocks[end - 1]:
            end -= 1
        if end > first + 1:
            del self._blocks[first + 1 : end], self._sizes[first + 1 : end]

    def _halve(self, block: int) -> None:
        pieces = self._blocks[block]
        parts = [pieces[: len(pieces) // 2], pieces[len(pieces) // 2 :]]
        self._blocks[block : block + 1] = parts
        self._sizes[block : block + 1] = [sum(p.end - p.begin for p in part) for part in parts]
