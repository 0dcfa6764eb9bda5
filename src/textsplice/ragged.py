"""Rows of different lengths in two flat arrays: how the whole program holds tokens of many texts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Ragged:
    """Row `i` is `values[offsets[i]:offsets[i + 1]]`."""

    values: NDArray[np.int32]
    offsets: NDArray[np.int64]

    @classmethod
    def from_rows(cls, rows: Iterable[Sequence[int] | NDArray[np.int32]]) -> Ragged:
        """Packs rows of integers."""
        arrays = [np.asarray(row, dtype=np.int32) for row in rows]
        lengths = np.fromiter((len(row) for row in arrays), dtype=np.int64, count=len(arrays))
        offsets = np.zeros(len(arrays) + 1, dtype=np.int64)
        np.cumsum(lengths, out=offsets[1:])
        values = np.concatenate(arrays) if arrays else np.zeros(0, dtype=np.int32)
        return cls(values, offsets)

    @property
    def lengths(self) -> NDArray[np.int64]:
        """How long each row is."""
        return np.diff(self.offsets)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, row: int) -> NDArray[np.int32]:
        return self.values[self.offsets[row] : self.offsets[row + 1]]

    def take(self, rows: NDArray[np.int64]) -> Ragged:
        """Some of the rows, in the order given."""
        return Ragged.from_rows([self[row] for row in rows])

    def plus(self, other: Ragged) -> Ragged:
        """These rows, and after them those of another."""
        offsets = np.concatenate([self.offsets, self.offsets[-1] + other.offsets[1:]])
        return Ragged(np.concatenate([self.values, other.values]), offsets)

    def __iter__(self) -> Iterator[NDArray[np.int32]]:
        return (self[row] for row in range(len(self)))
