"""What every index over tables offers: the rows of the store that score highest against a table."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from textsplice.errors import InputError
from textsplice.neighbors.features import Features

Allow = NDArray[np.bool_] | Callable[[int], bool]


class Hits(NamedTuple):
    """Rows and their scores, best first."""

    rows: NDArray[np.int32]
    scores: NDArray[np.float64]


class TableIndex(ABC):
    """An exact index. Ties go to the row of higher commonness, then to the lower row number."""

    @abstractmethod
    def __len__(self) -> int:
        """The number of rows."""

    @property
    @abstractmethod
    def row_commonness(self) -> NDArray[np.float64]:
        """The commonness of each row, as the index was given it."""

    @abstractmethod
    def save(self, folder: Path) -> None:
        """Writes the index into a folder."""

    @abstractmethod
    def search_many(
        self,
        queries: Sequence[Features],
        k: int,
        *,
        exclude_rows: NDArray[np.int32] | None = None,
        exclude_groups: NDArray[np.int32] | None = None,
        allow: Allow | None = None,
        threads: int = 1,
    ) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
        """The best `k` rows for every query and their scores, padded with row -1 and score 0.

        `exclude_rows` and `exclude_groups` hold one number per query, -1 to exclude nothing. A predicate is
        called once for every row of the store; for many calls, pass its results as an array.
        """

    def search(
        self,
        query: Features,
        k: int,
        *,
        exclude_row: int | None = None,
        exclude_group: int | None = None,
        allow: Allow | None = None,
    ) -> Hits:
        """The best `k` allowed rows, or all of them if there are fewer."""
        rows, scores = self.search_many(
            [query],
            k,
            exclude_rows=None if exclude_row is None else np.array([exclude_row], dtype=np.int32),
            exclude_groups=None if exclude_group is None else np.array([exclude_group], dtype=np.int32),
            allow=allow,
        )
        found = rows[0] >= 0
        return Hits(rows[0][found], scores[0][found])

    def allowed_rows(self, allow: Allow | None) -> NDArray[np.bool_] | None:
        """A filter as an array; None if every row is allowed."""
        return allowed_rows(allow, len(self))


def allowed_rows(allow: Allow | None, count: int) -> NDArray[np.bool_] | None:
    """A filter of this many rows as an array; None if every row is allowed."""
    if allow is None:
        return None
    if callable(allow):
        return np.fromiter((bool(allow(row)) for row in range(count)), np.bool_, count)
    if allow.dtype != np.bool_ or allow.shape != (count,):
        raise InputError(
            f"the allowed rows are {allow.dtype}{list(allow.shape)}, not bool[{count}].",
            remedy="Give one truth value for each row of the corpus, or a function of a row.",
        )
    return allow


def check_count(k: int) -> None:
    """`InputError` unless at least one neighbor is asked for."""
    if k < 1:
        raise InputError(f"{k} neighbors were asked for.", remedy="Ask for at least one.")
