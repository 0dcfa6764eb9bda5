"""One split of a prepared folder, and whether its numbers are sound."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np
from numpy.typing import NDArray

from textsplice.corpus import Table
from textsplice.errors import StorageError
from textsplice.neighbors.store import Store
from textsplice.oracle import Splice
from textsplice.oracle.numbering import TABLE, first_words, neighbor_counts, neighbor_ranks
from textsplice.ragged import Ragged
from textsplice.text import Vocabulary


@dataclass(frozen=True)
class PreparedSplit:
    """One split: examples, their tables, neighbors and derivations, row by row."""

    name: str
    ids: list[str]
    texts: list[str]
    tables: Sequence[Table]
    table_tokens: Ragged
    table_segments: Ragged
    table_of: NDArray[np.int32]
    targets: Ragged
    unsaid: NDArray[np.int32]
    neighbors: NDArray[np.int32]
    splices: NDArray[np.int32]
    splice_offsets: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def costs(self) -> NDArray[np.int32]:
        """How many splices each derivation has."""
        return np.diff(self.splice_offsets).astype(np.int32)

    def neighbors_of(self, row: int) -> NDArray[np.int32]:
        """The store rows of an example's neighbors, best first."""
        found = self.neighbors[row]
        return found[found >= 0]

    def derivation(self, row: int) -> list[Splice]:
        """The least derivation of an example."""
        rows = self.splices[self.splice_offsets[row] : self.splice_offsets[row + 1]]
        return [Splice(*cast("list[int]", values)) for values in rows.tolist()]


def require_sound(
    split: PreparedSplit, store: Store, vocabulary: Vocabulary, where: str, remedy: str
) -> None:
    """`StorageError` for a number that compiled code, which checks nothing, would follow astray."""
    rows, tables, words = len(split), len(split.tables), len(vocabulary)
    counted = {len(part) for part in (split.texts, split.table_of, split.targets, split.unsaid)}
    counted |= {len(split.neighbors), len(split.splice_offsets) - 1}
    sound = (
        counted == {rows}
        and {len(split.table_tokens), len(split.table_segments)} == {tables}
        and np.array_equal(split.table_tokens.offsets, split.table_segments.offsets)
        and _within(split.table_of, 0, tables)
        and _within(split.table_tokens.values, 0, words)
        and _within(split.table_segments.values, -1, len(split.table_segments.values))
        and _within(split.targets.values, 0, words)
        and _within(split.neighbors, -1, len(store))
        and _derivations_fit(split, store, words)
    )
    if not sound:
        raise StorageError(
            f"the split {split.name!r} is damaged: a number in it points nowhere.", where=where, remedy=remedy
        )


def _within(numbers: NDArray[np.int32], least: int, below: int) -> bool:
    return not numbers.size or bool(numbers.min() >= least and numbers.max() < below)


def _derivations_fit(split: PreparedSplit, store: Store, words: int) -> bool:
    """Whether each splice fits its source and its canvas, for all examples at once."""
    if split.splice_offsets[-1] != len(split.splices) or not len(split.splices):
        return bool(split.splice_offsets[-1] == len(split.splices))
    start, stop, source, begin, end = split.splices.astype(np.int64).T
    example = np.repeat(np.arange(len(split)), split.costs)
    counts = neighbor_counts(split.neighbors)[example]
    ranks = neighbor_ranks(source, counts)
    is_neighbor = ranks >= 0
    rows = split.neighbors[example, np.where(is_neighbor, ranks, 0)] if split.neighbors.shape[1] else ranks
    lengths = np.where(is_neighbor, store.tokens.lengths[rows] if len(store) else 0, 1)
    lengths = np.where(source == TABLE, split.table_tokens.lengths[split.table_of[example]], lengths)
    grown = end - begin - (stop - start)
    total = np.cumsum(grown)
    before = np.concatenate(([0], total[:-1]))  # of the canvas, over all examples end to end
    first = split.splice_offsets[:-1][example]
    canvas = before - before[first]
    return bool(
        ((source >= 0) & (source < first_words(counts) + words)).all()
        and ((begin >= 0) & (begin < end) & (end <= lengths)).all()
        and ((start >= 0) & (start <= stop) & (stop <= canvas)).all()
    )
