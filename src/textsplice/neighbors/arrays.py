"""The arrays of an index, arranged so that 64 tables are scored at once.

Every distinct table has a *slot*. Slots are sorted by their table's number of fields. Tables with the same
number are a *size class*; each class begins at a multiple of 64, and the unused slots before it have no rows.
A feature that many tables have is a bitmap over slots; any other is a list of slots.
"""

from __future__ import annotations

from array import array
from collections import defaultdict
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

WORD = 64
# A feature that at least one in COMMON tables has is a bitmap, at most four times as large as a list.
COMMON = 128


class FeatureSets(NamedTuple):
    """Which slots have which feature; features are numbered from the most to the least common."""

    bitmaps: NDArray[np.uint64]  # (common, words)
    offsets: NDArray[np.int64]  # (rare + 1,)
    slots: NDArray[np.int32]  # rare feature i has slots[offsets[i]:offsets[i + 1]]


class IndexArrays(NamedTuple):
    """Everything that the kernels read."""

    fields: FeatureSets
    values: FeatureSets
    class_sizes: NDArray[np.int32]  # (classes,)      number of fields of the tables of a class
    class_words: NDArray[np.int64]  # (classes + 1,)  first word of a class
    value_sizes: NDArray[np.int32]  # (slots,)        number of value words of a slot's table
    row_offsets: NDArray[np.int64]  # (slots + 1,)
    rows: NDArray[np.int32]  # (rows,)         slot s has rows[row_offsets[s]:row_offsets[s + 1]]
    commonness: NDArray[np.float64]  # (rows,)         by row number, not by position in `rows`
    group_slots: NDArray[np.int32]  # (groups,)       the slot of a distinct table


class Queries(NamedTuple):
    """Features of many queries: the ids of known features, and the sizes of the whole sets."""

    field_ids: NDArray[np.int32]  # query q has field_ids[field_offsets[q]:field_offsets[q + 1]]
    field_offsets: NDArray[np.int64]
    field_sizes: NDArray[np.int32]
    value_ids: NDArray[np.int32]
    value_offsets: NDArray[np.int64]
    value_sizes: NDArray[np.int32]
    excluded_rows: NDArray[np.int32]  # -1: none
    excluded_slots: NDArray[np.int32]


class EncodedSets:
    """Sets of strings as flat arrays of ids, collected one set at a time without keeping the sets."""

    def __init__(self) -> None:
        self._ids: defaultdict[str, int] = defaultdict()
        self._ids.default_factory = self._ids.__len__
        self._members = array("i")
        self._sizes = array("i")

    def append(self, names: frozenset[str]) -> None:
        """Adds the next set."""
        ids = self._ids
        self._members.extend([ids[name] for name in names])
        self._sizes.append(len(names))

    @property
    def sizes(self) -> NDArray[np.int32]:
        """The size of each set."""
        return np.array(self._sizes, dtype=np.int32)

    def arrange(self, slots: NDArray[np.int32], words: int) -> tuple[list[str], FeatureSets]:
        """The names from the most to the least common, and the slots that have each."""
        members = np.array(self._members, dtype=np.int32)
        counts = np.bincount(members, minlength=len(self._ids))
        # Ids follow the iteration order of sets of strings, which differs between runs.
        frequency = dict(zip(self._ids, counts.tolist(), strict=True))
        names = sorted(frequency, key=lambda name: (-frequency[name], name))
        order = np.fromiter((self._ids[name] for name in names), np.int64, len(names))
        rank = np.empty(len(names), dtype=np.int64)
        rank[order] = np.arange(len(names))
        # By feature, then by slot: sorting one combined key is many times faster than sorting by two.
        keys = rank[members] * (words * WORD) + np.repeat(slots, self.sizes)
        keys.sort()
        sorted_slots = (keys % max(words * WORD, 1)).astype(np.int32)
        return names, _feature_sets(sorted_slots, counts[order], len(slots), words)


def _feature_sets(
    slots: NDArray[np.int32], counts: NDArray[np.int64], tables: int, words: int
) -> FeatureSets:
    """Splits features into common and rare, given the slots of each, end to end."""
    offsets = np.concatenate(([0], np.cumsum(counts, dtype=np.int64)))
    common = int(np.count_nonzero(counts * COMMON >= tables))
    bitmaps = np.empty((common, words), dtype=np.uint64)
    for feature in range(common):
        bitmaps[feature] = _bitmap(slots[offsets[feature] : offsets[feature + 1]], words)
    first = offsets[common]
    return FeatureSets(bitmaps, offsets[common:] - first, slots[first:].copy())


def _bitmap(slots: NDArray[np.int32], words: int) -> NDArray[np.uint64]:
    bits = np.zeros(words * WORD, dtype=np.bool_)
    bits[slots] = True
    return np.packbits(bits, bitorder="little").view("<u8")


def assign_slots(
    field_sizes: NDArray[np.int32],
) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int64]]:
    """The slot of each table, and the sizes and first words of the size classes."""
    sizes, counts = np.unique(field_sizes, return_counts=True)
    class_words = np.concatenate(([0], np.cumsum(-(-counts // WORD), dtype=np.int64)))
    order = np.argsort(field_sizes, kind="stable")
    places = np.arange(len(order)) - np.repeat(np.cumsum(counts) - counts, counts)
    slots = np.empty(len(order), dtype=np.int32)
    slots[order] = np.repeat(class_words[:-1] * WORD, counts) + places
    return slots, sizes.astype(np.int32), class_words


def order_rows(
    row_slots: NDArray[np.int32], commonness: NDArray[np.float64], slots: int
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """The rows of each slot: higher commonness first, then lower row number."""
    rows = np.lexsort((-commonness, row_slots)).astype(np.int32)
    offsets = np.concatenate(([0], np.cumsum(np.bincount(row_slots, minlength=slots))))
    return offsets.astype(np.int64), rows
