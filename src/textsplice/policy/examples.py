"""The examples of a batch, grouped into cases."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from textsplice.ragged import Ragged


class TrainingSplit(Protocol):
    """The part of a `PreparedSplit` that policies learn from."""

    @property
    def table_tokens(self) -> Ragged: ...
    @property
    def table_segments(self) -> Ragged: ...
    @property
    def table_of(self) -> NDArray[np.int32]: ...
    @property
    def targets(self) -> Ragged: ...
    @property
    def neighbors(self) -> NDArray[np.int32]: ...
    @property
    def splices(self) -> NDArray[np.int32]: ...
    @property
    def splice_offsets(self) -> NDArray[np.int64]: ...


@dataclass(frozen=True)
class Grouped:
    """Examples with the same table and neighbors share a case.

    `rows` are the examples ordered by case, `case_of` their cases. Case c has row `tables[c]` of the distinct
    tables and rows `neighbors[c]` of the store, padded with -1.
    """

    rows: NDArray[np.int64]
    case_of: NDArray[np.int64]
    tables: NDArray[np.int64]
    neighbors: NDArray[np.int64]


def group_cases(split: TrainingSplit, rows: NDArray[np.int64], *, neighbors: bool = True) -> Grouped:
    """The cases of examples; without `neighbors`, a case is a table alone."""
    found = split.neighbors[rows] if neighbors else np.zeros((len(rows), 0), dtype=np.int32)
    what = np.column_stack([split.table_of[rows], found]).astype(np.int64)
    distinct, case_of = np.unique(what, axis=0, return_inverse=True)
    order = np.argsort(case_of, kind="stable")
    return Grouped(rows[order], case_of[order], distinct[:, 0], distinct[:, 1:])
