"""The compiled exact index for the score `fields-and-values`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from textsplice.neighbors.arrays import WORD, EncodedSets, IndexArrays, Queries, assign_slots, order_rows
from textsplice.neighbors.features import Features
from textsplice.neighbors.persistence import load_arrays, save_arrays
from textsplice.neighbors.table_index import Allow, TableIndex, check_count

CHUNK = 64  # queries per task of a thread


@dataclass(frozen=True, slots=True)
class Index(TableIndex):
    """The best rows by F1(fields) + 0.1 · F1(values)."""

    arrays: IndexArrays
    fields: dict[str, int]
    values: dict[str, int]

    @classmethod
    def build(
        cls,
        groups: Iterable[Features],
        row_group: NDArray[np.int32],
        commonness: NDArray[np.float64],
    ) -> Index:
        """Indexes distinct tables (groups), given the group and the commonness of every row."""
        fields, values = EncodedSets(), EncodedSets()
        for group in groups:
            fields.append(group.fields)
            values.append(group.values)
        group_slots, class_sizes, class_words = assign_slots(fields.sizes)
        words = int(class_words[-1])
        value_sizes = np.zeros(words * WORD, dtype=np.int32)
        value_sizes[group_slots] = values.sizes
        row_offsets, rows = order_rows(group_slots[row_group], commonness, words * WORD)
        field_names, field_sets = fields.arrange(group_slots, words)
        value_names, value_sets = values.arrange(group_slots, words)
        arrays = IndexArrays(
            field_sets,
            value_sets,
            class_sizes,
            class_words,
            value_sizes,
            row_offsets,
            rows,
            np.array(commonness, dtype=np.float64),
            group_slots,
        )
        return cls(_read_only(arrays), _numbered(field_names), _numbered(value_names))

    @property
    def row_commonness(self) -> NDArray[np.float64]:
        """The commonness of each row, as the index was given it."""
        return self.arrays.commonness

    def save(self, folder: Path) -> None:
        """Writes the index into a folder."""
        save_arrays(folder, self.arrays, list(self.fields), list(self.values))

    @classmethod
    def load(cls, folder: Path) -> Index:
        """Opens a saved index; its arrays are memory-mapped."""
        arrays, fields, values = load_arrays(folder)
        return cls(arrays, _numbered(fields), _numbered(values))

    def __len__(self) -> int:
        return len(self.arrays.rows)

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
        """See `TableIndex`. The result does not depend on `threads`."""
        from textsplice.neighbors.kernel import search_all  # compiles: only when it is needed

        check_count(k)
        count = len(queries)
        rows = np.full((count, k), -1, dtype=np.int32)
        scores = np.zeros((count, k), dtype=np.float64)
        encoded = self._encode(queries, exclude_rows, exclude_groups)
        filtered = self.allowed_rows(allow)
        # For the kernels, an empty array allows every row. A copy is writable and contiguous, so they are
        # compiled only once.
        allowed = np.zeros(0, dtype=np.bool_) if filtered is None else np.array(filtered)

        def answer(first: int) -> None:
            last = min(first + CHUNK, count)
            search_all(self.arrays, encoded, allowed, first, last, rows, scores)

        if threads == 1:
            for first in range(0, count, CHUNK):
                answer(first)
        else:
            with ThreadPoolExecutor(threads) as pool:
                list(pool.map(answer, range(0, count, CHUNK)))
        return rows, scores

    def _encode(
        self,
        queries: Sequence[Features],
        exclude_rows: NDArray[np.int32] | None,
        exclude_groups: NDArray[np.int32] | None,
    ) -> Queries:
        nothing = np.full(len(queries), -1, dtype=np.int32)
        return Queries(
            *_packed([_known(query.fields, self.fields) for query in queries]),
            np.array([len(query.fields) for query in queries], dtype=np.int32),
            *_packed([_known(query.values, self.values) for query in queries]),
            np.array([len(query.values) for query in queries], dtype=np.int32),
            nothing if exclude_rows is None else np.array(exclude_rows, dtype=np.int32),
            nothing if exclude_groups is None else self._slots(exclude_groups),
        )

    def _slots(self, groups: NDArray[np.int32]) -> NDArray[np.int32]:
        slots = np.full(len(groups), -1, dtype=np.int32)
        slots[groups >= 0] = self.arrays.group_slots[groups[groups >= 0]]
        return slots


def _known(names: frozenset[str], numbers: dict[str, int]) -> list[int]:
    return [numbers[name] for name in names if name in numbers]


def _numbered(names: list[str]) -> dict[str, int]:
    return {name: number for number, name in enumerate(names)}


def _packed(rows: list[list[int]]) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    flat = [number for row in rows for number in row]
    offsets = list(accumulate(map(len, rows), initial=0))
    return np.array(flat, dtype=np.int32), np.array(offsets, dtype=np.int64)


def _read_only(arrays: IndexArrays) -> IndexArrays:
    """Makes the arrays read-only, as a loaded index's are, so that the kernels are compiled only once."""
    for part in (*arrays.fields, *arrays.values, *arrays[2:]):
        part.setflags(write=False)
    return arrays
