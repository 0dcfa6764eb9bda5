"""The order in which references are trained on: a pure function of the seed and the epoch.

Because of that, a place in training is two numbers, (epoch, updates of it that are done), and a run that is
continued sees what it would have seen. The references of one table stay together wherever they fit, so that
a policy encodes their neighbors, which are nearly the same, once for all of them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from textsplice.runs.prepared import PreparedSplit

Rows = NDArray[np.int64]


class Place(NamedTuple):
    """The update that comes next."""

    epoch: int
    done: int  # updates of the epoch


FIRST = Place(0, 0)


def references(split: PreparedSplit, max_cost: int = 0, *, verbatim: bool = False) -> Rows:
    """The rows with a reference: of at most `max_cost` splices (0: any), `verbatim` ones if asked for."""
    written = np.fromiter((text != "" for text in split.texts), dtype=bool, count=len(split.texts))
    if max_cost:
        written &= np.asarray(split.costs) <= max_cost
    if verbatim:
        written &= split.unsaid == 0
    return np.flatnonzero(written)


def pack(rows: Rows, tables: NDArray[np.int64], target: int) -> list[Rows]:
    """Cuts `rows` into parts of about `target`, between tables unless one alone is larger."""
    parts: list[Rows] = []
    begin = end = 0
    for stop in _piece_ends(tables[rows], target):
        # Close the part if adding the next piece would miss the target by more than leaving it out.
        if end > begin and (stop - begin) - target > target - (end - begin):
            parts.append(rows[begin:end])
            begin = end
        end = stop
    if end > begin:
        parts.append(rows[begin:end])
    return parts


def _piece_ends(tables: NDArray[np.int64], target: int) -> Iterator[int]:
    """Where each table ends, and where one larger than `target` is cut into equal pieces."""
    ends = [*(np.flatnonzero(np.diff(tables)) + 1).tolist(), len(tables)] if len(tables) else []
    begin = 0
    for end in ends:
        pieces = math.ceil((end - begin) / target)
        for piece in range(1, pieces + 1):
            yield begin + (end - begin) * piece // pieces
        begin = end


def share(rows: Rows, weights: NDArray[np.int64], rank: int, world: int) -> Rows:
    """The contiguous part of `rows` that process `rank` of `world` works on, equal by weight."""
    # Each row belongs to the process in whose equal stretch of the total weight its middle lies.
    ends = np.cumsum(weights[rows])
    middles = ends - weights[rows] / 2
    owner = np.minimum(middles * world // max(int(ends[-1]), 1), world - 1)
    return rows[owner == rank]


@dataclass(frozen=True, slots=True)
class Order:
    """The updates of every epoch."""

    rows: Rows
    tables: NDArray[np.int64]
    batch_sequences: int
    seed: int

    def epoch(self, epoch: int) -> list[Rows]:
        """The references of each update of an epoch: tables shuffled, packed into updates."""
        generator = np.random.default_rng([self.seed, epoch])
        turn = generator.permutation(int(self.tables.max(initial=-1)) + 1)
        shuffled = self.rows[np.argsort(turn[self.tables[self.rows]], kind="stable")]
        return pack(shuffled, self.tables, self.batch_sequences)

    def updates(self, place: Place) -> Iterator[tuple[Place, Rows]]:
        """All updates from `place` on, without end, each with the place that follows it."""
        epoch, first = place
        while True:
            updates = self.epoch(epoch)
            for index in range(first, len(updates)):
                following = Place(epoch, index + 1)
                if following.done == len(updates):
                    following = Place(epoch + 1, 0)
                yield following, updates[index]
            epoch, first = epoch + 1, 0
