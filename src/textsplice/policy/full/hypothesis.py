"""What the beam over splices holds: its settings, unfinished canvases, and first decisions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from textsplice.config import SearchConfig
from textsplice.oracle.splice import Splice
from textsplice.policy.places import misplaced_cost
from textsplice.policy.problem import wants_one
from textsplice.text.linearize import Segment
from textsplice.text.vocabulary import END_ID

INFINITY = float("inf")


@dataclass(frozen=True, slots=True)
class BeamSettings:
    """Each of `starts` start neighbors has a beam of its own; `wanted` finished texts are looked for.

    A canvas is dropped once `horizon` more splices could not bring it among the wanted even if all their
    decisions were certain. `horizon = max_splices` drops only what can't be among the wanted at all; 3 can
    lose a text that needs more than three nearly certain splices to overtake the best. That is rare: on 92
    of E2E's dev tables, 2 and 4 gave the same texts as 16, in 78 and 85 % of the CPU time.

    `misplaced` is taken off the score of a splice that lays a value in another field's place (`places`).
    """

    beam: int = 5
    max_splices: int = 16
    starts: int = 1
    wanted: int = 1
    horizon: int = 3
    misplaced: float = 0.0

    @classmethod
    def of(cls, search: SearchConfig) -> BeamSettings:
        """The settings of the beam for the settings of a search."""
        starts = max(search.start_neighbors, 1)
        wanted = 1 if wants_one(search) else search.beam * starts
        return cls(search.beam, search.max_splices, starts, wanted, misplaced=misplaced_cost(search))


@dataclass(frozen=True, slots=True)
class Hypothesis:
    """A canvas of one beam; `origins[t]` is the source, the position and the step of token t.

    `forced` are the values of the table that must come next: they are all it still lacks.
    """

    item: int
    ids: NDArray[np.int32]
    origins: NDArray[np.int32]
    splices: tuple[Splice, ...]
    total: float
    may_stop: bool = False
    forced: tuple[Segment, ...] = ()

    @classmethod
    def empty(cls, item: int) -> Hypothesis:
        """The empty canvas of a beam."""
        ids, origins = np.zeros(0, dtype=np.int32), np.zeros((0, 3), dtype=np.int32)
        return cls(item, ids, origins, (), 0.0)

    @property
    def ended(self) -> bool:
        """Whether end has been placed."""
        return len(self.ids) > 0 and self.ids[-1] == END_ID


class FirstDecision(NamedTuple):
    """A first decision: the hypothesis's row in the batch, the gap, the key, and the total so far."""

    row: int
    start: int
    column: int
    total: float

    def order(self) -> tuple[float, int, int, int]:
        """The most probable first; ties by hypothesis, gap and key."""
        return (-self.total, self.row, self.start, self.column)
