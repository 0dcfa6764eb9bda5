"""What the beam over splices holds: its settings, canvases under way, and first decisions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from textsplice.oracle.splice import Splice
from textsplice.text.linearize import Segment
from textsplice.text.vocabulary import END_ID

INFINITY = float("inf")


@dataclass(frozen=True, slots=True)
class BeamSettings:
    """Each of `starts` start neighbours has a beam of its own; `wanted` finished texts are looked for.

    A canvas is given up once `horizon` more splices could not bring it among the wanted even if all their
    decisions were certain. `horizon = max_splices` gives up only what can't be among the wanted at all;
    3 can lose a text that needs more than three nearly certain splices to overtake the best. That is rare:
    on 92 of E2E's dev tables 2 and 4 gave the same texts as 16, in 78 and 85 % of the processor time.
    """

    beam: int = 5
    max_splices: int = 16
    starts: int = 1
    wanted: int = 1
    horizon: int = 3


@dataclass(frozen=True, slots=True)
class Hypothesis:
    """A canvas of one beam. `origins[t]` is the source, the position and the step of token t."""

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
        """Whether end has been laid."""
        return len(self.ids) > 0 and self.ids[-1] == END_ID


class FirstDecision(NamedTuple):
    """A first decision: the hypothesis's row in the batch, the gap, the key, and the total so far."""

    row: int
    start: int
    column: int
    total: float

    def order(self) -> tuple[float, int, int, int]:
        """The most probable first; ties go to the earlier hypothesis, the earlier gap, the earlier key."""
        return (-self.total, self.row, self.start, self.column)
