"""An index in shards, each an exact index of some of the rows: a query asks all of them and merges.

A shard is built alone, so only one is in memory while a large corpus is indexed; and rows that are added
later are one more shard. What is found is what one index over all rows finds, ties included: scores depend
on nothing but the two tables, and the order of equal ones on nothing but the rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from textsplice.neighbors.features import Features
from textsplice.neighbors.index import Index
from textsplice.neighbors.persistence import COMMONNESS, read_index, write_index
from textsplice.neighbors.table_index import Allow, TableIndex, check_count

TABLES_A_SHARD = 250_000
ROWS_TO_APPEND = 100_000  # to an index with so many rows, more are added as a shard
MOST_SHARDS = 40  # each takes a part of a query's time: with more, all are made again


@dataclass(frozen=True, slots=True)
class Shard:
    """An index of the rows `rows`, which ascend, about the tables `groups`, which ascend too."""

    index: Index
    rows: NDArray[np.int32]
    groups: NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class ShardedIndex(TableIndex):
    """Several indexes as one."""

    shards: tuple[Shard, ...]
    commonness: NDArray[np.float64]

    @classmethod
    def build(
        cls,
        groups: Iterable[Features],
        row_group: NDArray[np.int32],
        commonness: NDArray[np.float64],
        size: int = TABLES_A_SHARD,
    ) -> ShardedIndex:
        """Indexes distinct tables (groups), so many a shard."""
        remaining = iter(groups)
        shards: list[Shard] = []
        count = int(row_group.max(initial=-1)) + 1
        for first in range(0, max(count, 1), size):
            numbers = np.arange(first, min(first + size, count), dtype=np.int32)
            shards.append(_shard(islice(remaining, size), numbers, row_group, commonness))
        return cls(tuple(shards), np.array(commonness, dtype=np.float64))

    @classmethod
    def of(cls, index: TableIndex) -> ShardedIndex | None:
        """Itself, or the one shard of an index that has none; None if it is of another kind."""
        if isinstance(index, ShardedIndex):
            return index
        if not isinstance(index, Index):
            return None
        rows = np.arange(len(index), dtype=np.int32)
        groups = np.arange(len(index.arrays.group_slots), dtype=np.int32)
        return cls((Shard(index, rows, groups),), index.row_commonness)

    def plus(
        self,
        described: Sequence[tuple[int, Features]],
        row_group: NDArray[np.int32],
        more: NDArray[np.float64],
    ) -> ShardedIndex:
        """One more shard: rows after these, with their groups and commonness.

        `described` are the numbers and features of their groups, in ascending order.
        """
        numbers = np.array([number for number, _ in described], dtype=np.int32)
        local = np.searchsorted(numbers, row_group).astype(np.int32)
        index = Index.build((features for _, features in described), local, more)
        rows = np.arange(len(self), len(self) + len(row_group), dtype=np.int32)
        return ShardedIndex(
            (*self.shards, Shard(index, rows, numbers)), np.concatenate([self.commonness, more])
        )

    def __len__(self) -> int:
        return len(self.commonness)

    @property
    def row_commonness(self) -> NDArray[np.float64]:
        """The commonness of each row, as the index was given it."""
        return self.commonness

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
        """See `TableIndex`."""
        check_count(k)
        allowed = self.allowed_rows(allow)
        found: list[tuple[NDArray[np.int32], NDArray[np.float64]]] = []
        for shard in self.shards:
            rows, scores = shard.index.search_many(
                queries,
                k,
                exclude_rows=None if exclude_rows is None else _places(exclude_rows, shard.rows),
                exclude_groups=None if exclude_groups is None else _places(exclude_groups, shard.groups),
                allow=None if allowed is None else allowed[shard.rows],
                threads=threads,
            )
            there = rows >= 0
            rows[there] = shard.rows[rows[there]]
            found.append((rows, scores))
        all_rows = np.concatenate([rows for rows, _ in found], 1)
        return self._best(all_rows, np.concatenate([scores for _, scores in found], 1), k)

    def _best(
        self, rows: NDArray[np.int32], scores: NDArray[np.float64], k: int
    ) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
        """The best of what the shards found, in the order of one index."""
        there = rows >= 0
        commonness = np.where(there, self.commonness[np.maximum(rows, 0)] if len(self) else 0.0, 0.0)
        order = np.lexsort((rows, -commonness, -scores, ~there), axis=-1)[:, :k]
        return np.take_along_axis(rows, order, 1), np.take_along_axis(scores, order, 1)

    def save(self, folder: Path) -> None:
        """Writes the shards, each as an index of its own, and what they are about."""
        arrays: dict[str, NDArray[np.generic]] = {COMMONNESS: self.commonness}
        for number, shard in enumerate(self.shards):
            shard.index.save(folder / _name(number))
            arrays[f"{_name(number)}.rows"] = shard.rows
            arrays[f"{_name(number)}.groups"] = shard.groups
        write_index(folder, arrays, [], [])

    @classmethod
    def is_saved(cls, folder: Path) -> bool:
        """Whether the index in a folder is one in shards."""
        return (folder / _name(0)).is_dir()

    @classmethod
    def load(cls, folder: Path) -> ShardedIndex:
        """Opens a saved index; all its arrays are memory-mapped."""
        saved = read_index(folder)
        commonness = saved.array(COMMONNESS, np.float64)
        shards: list[Shard] = []
        covered = np.zeros(len(commonness), dtype=np.bool_)
        while (name := _name(len(shards))) + ".rows" in saved.shapes:
            index = Index.load(folder / name)
            rows, groups = saved.array(f"{name}.rows", np.int32), saved.array(f"{name}.groups", np.int32)
            saved.require(f"{name}.rows", len(rows) == len(index) and _ascend(rows, len(commonness)))
            known = len(index.arrays.group_slots)
            saved.require(f"{name}.groups", len(groups) == known and _ascend(groups, 1 << 31))
            covered[rows] = True
            shards.append(Shard(index, rows, groups))
        saved.require(COMMONNESS, bool(covered.all()) and sum(len(s.rows) for s in shards) == len(covered))
        return cls(tuple(shards), commonness)


def grown_index(
    index: TableIndex,
    features: Iterable[Features],
    row_group: NDArray[np.int32],
    commonness: NDArray[np.float64],
) -> TableIndex | None:
    """An index with one more shard, for new rows; None if all is better indexed again.

    `features` are those of each row's table.
    """
    before = ShardedIndex.of(index)
    if before is None or len(index) < ROWS_TO_APPEND or len(before.shards) > MOST_SHARDS:
        return None
    described = dict(zip(row_group.tolist(), features, strict=True))
    return before.plus(sorted(described.items(), key=lambda each: each[0]), row_group, commonness)


def _shard(
    groups: Iterator[Features],
    numbers: NDArray[np.int32],
    row_group: NDArray[np.int32],
    commonness: NDArray[np.float64],
) -> Shard:
    first = int(numbers[0]) if len(numbers) else 0
    rows = np.flatnonzero((row_group >= first) & (row_group < first + len(numbers))).astype(np.int32)
    local = (row_group[rows] - first).astype(np.int32)
    return Shard(Index.build(groups, local, commonness[rows]), rows, numbers)


def _places(numbers: NDArray[np.int32], ascending: NDArray[np.int32]) -> NDArray[np.int32]:
    """Where numbers stand among ascending ones; -1 if they do not."""
    if not len(ascending):
        return np.full(len(numbers), -1, dtype=np.int32)
    places = np.minimum(np.searchsorted(ascending, numbers), len(ascending) - 1)
    return np.where(ascending[places] == numbers, places, -1).astype(np.int32)


def _ascend(numbers: NDArray[np.int32], stop: int) -> bool:
    if numbers.ndim != 1:
        return False
    inside = not len(numbers) or (int(numbers[0]) >= 0 and int(numbers[-1]) < stop)
    return inside and bool((np.diff(numbers) > 0).all())


def _name(number: int) -> str:
    return f"shard-{number:04}"
