"""The exact index: the training rows whose tables score highest against a table, known or never seen."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from textsplice.errors import InputError
from textsplice.neighbors.features import Features
from textsplice.neighbors.layout import WORD, EncodedSets, Layout, Queries, assign_slots, order_rows
from textsplice.neighbors.persistence import load_layout, save_layout

Allow = NDArray[np.bool_] | Callable[[int], bool]

CHUNK = 64  # queries a thread takes at a time


class Hits(NamedTuple):
    """Rows of the corpus and their scores, best first."""

    rows: NDArray[np.int32]
    scores: NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Index:
    """Top rows by F1(fields) + 0.1 · F1(values); ties: more typical text first, then lower row number."""

    layout: Layout
    fields: dict[str, int]
    values: dict[str, int]

    @classmethod
    def build(
        cls,
        groups: Iterable[Features],
        row_group: NDArray[np.int32],
        typicality: NDArray[np.float64],
    ) -> Index:
        """Indexes distinct tables, for rows of text: each row's table and how typical its text is."""
        fields, values = EncodedSets(), EncodedSets()
        for group in groups:
            fields.append(group.fields)
            values.append(group.values)
        group_slots, class_sizes, class_words = assign_slots(fields.sizes)
        words = int(class_words[-1])
        value_sizes = np.zeros(words * WORD, dtype=np.int32)
        value_sizes[group_slots] = values.sizes
        row_offsets, rows = order_rows(group_slots[row_group], typicality, words * WORD)
        field_names, field_sets = fields.arrange(group_slots, words)
        value_names, value_sets = values.arrange(group_slots, words)
        layout = Layout(
            field_sets,
            value_sets,
            class_sizes,
            class_words,
            value_sizes,
            row_offsets,
            rows,
            np.array(typicality, dtype=np.float64),
            group_slots,
        )
        return cls(_read_only(layout), _numbered(field_names), _numbered(value_names))

    def save(self, folder: Path) -> None:
        """Writes the index into a folder."""
        save_layout(folder, self.layout, list(self.fields), list(self.values))

    @classmethod
    def load(cls, folder: Path) -> Index:
        """Opens a saved index; its arrays stay on disk until they are read."""
        layout, fields, values = load_layout(folder)
        return cls(layout, _numbered(fields), _numbered(values))

    def __len__(self) -> int:
        return len(self.layout.rows)

    def search(
        self,
        query: Features,
        k: int,
        *,
        exclude_row: int | None = None,
        exclude_group: int | None = None,
        allow: Allow | None = None,
    ) -> Hits:
        """The best `k` rows that are allowed, or all of them if there are fewer."""
        rows, scores = self.search_many(
            [query],
            k,
            exclude_rows=None if exclude_row is None else np.array([exclude_row], dtype=np.int32),
            exclude_groups=(None if exclude_group is None else np.array([exclude_group], dtype=np.int32)),
            allow=allow,
        )
        found = rows[0] >= 0
        return Hits(rows[0][found], scores[0][found])

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
        """The best `k` rows for every query, -1 (and score 0) where there are no more.

        `exclude_rows` and `exclude_groups` hold one number a query, -1 to exclude nothing. A predicate
        is asked once for every row of the corpus; for many calls, pass its answers as an array.
        """
        from textsplice.neighbors.kernels import search_all  # compiles: only when it is needed

        if k < 1:
            raise InputError(f"{k} neighbors were asked for.", remedy="Ask for at least one.")
        count = len(queries)
        rows = np.full((count, k), -1, dtype=np.int32)
        scores = np.zeros((count, k), dtype=np.float64)
        encoded = self._encode(queries, exclude_rows, exclude_groups)
        allowed = self._allowed(allow)

        def answer(first: int) -> None:
            last = min(first + CHUNK, count)
            search_all(self.layout, encoded, allowed, first, last, rows, scores)

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
        slots[groups >= 0] = self.layout.group_slots[groups[groups >= 0]]
        return slots

    def _allowed(self, allow: Allow | None) -> NDArray[np.bool_]:
        if allow is None:
            return np.zeros(0, dtype=np.bool_)  # the kernels' word for "all of them"
        if callable(allow):
            return np.fromiter((bool(allow(row)) for row in range(len(self))), np.bool_, len(self))
        if allow.dtype != np.bool_ or allow.shape != (len(self),):
            raise InputError(
                f"the allowed rows are {allow.dtype}{list(allow.shape)}, not bool[{len(self)}].",
                remedy="Give one truth value for each row of the corpus, or a function of a row.",
            )
        # Copied, so that the kernels are not compiled anew for one that is read-only or has gaps.
        return np.array(allow)


def _known(names: frozenset[str], numbers: dict[str, int]) -> list[int]:
    return [numbers[name] for name in names if name in numbers]


def _numbered(names: list[str]) -> dict[str, int]:
    return {name: number for number, name in enumerate(names)}


def _packed(rows: list[list[int]]) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    flat = [number for row in rows for number in row]
    offsets = list(accumulate(map(len, rows), initial=0))
    return np.array(flat, dtype=np.int32), np.array(offsets, dtype=np.int64)


def _read_only(layout: Layout) -> Layout:
    """Freezes the arrays, as those of a loaded index are: the kernels are then compiled for one kind."""
    for part in (*layout.fields, *layout.values, *layout[2:]):
        part.setflags(write=False)
    return layout
