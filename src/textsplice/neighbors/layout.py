"""The arrays of an index: how tables lie in memory and on disk so that 64 of them are scored at once.

Every distinct table has a *slot*. Slots are sorted by the number of fields of their table; each such *size
class* begins at a multiple of 64, and the slots between classes have no rows. A feature that many tables
have is a bitmap over slots, any other a list of slots.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

WORD = 64
COMMON = 64  # A feature of at least one in COMMON tables is a bitmap: at most twice the size of its list.


class FeatureSets(NamedTuple):
    """Which slots have which feature; features count from the most to the least common."""

    bitmaps: NDArray[np.uint64]  # (common, words)
    offsets: NDArray[np.int64]  # (rare + 1,)
    slots: NDArray[np.int32]  # of rare feature i: slots[offsets[i]:offsets[i + 1]]


class Layout(NamedTuple):
    """All that the kernels read."""

    fields: FeatureSets
    values: FeatureSets
    class_sizes: NDArray[np.int32]  # (classes,)      how many fields the tables of a class have
    class_words: NDArray[np.int64]  # (classes + 1,)  first word of a class
    value_sizes: NDArray[np.int32]  # (slots,)        how many value words a slot's table has
    row_offsets: NDArray[np.int64]  # (slots + 1,)
    rows: NDArray[np.int32]  # (rows,)         of slot s: rows[row_offsets[s]:row_offsets[s + 1]]
    typicality: NDArray[np.float64]  # (rows,)         of a row, not of a place in `rows`
    group_slots: NDArray[np.int32]  # (groups,)       the slot of a distinct table


class EncodedSets:
    """Sets of strings as flat arrays of ids, collected one set at a time: no set is kept."""

    def __init__(self) -> None:
        self._ids: dict[str, int] = {}
        self._members = array("i")
        self._sizes = array("i")

    def append(self, names: Iterable[str]) -> None:
        """Adds the next set."""
        before = len(self._members)
        ids = self._ids
        self._members.extend([ids.setdefault(name, len(ids)) for name in names])
        self._sizes.append(len(self._members) - before)

    @property
    def sizes(self) -> NDArray[np.int32]:
        """How many members each set has."""
        return np.array(self._sizes, dtype=np.int32)

    def arrange(self, slots: NDArray[np.int32], words: int) -> tuple[list[str], FeatureSets]:
        """The names from the most to the least common, and which of the sets' `slots` have them."""
        members = np.array(self._members, dtype=np.int32)
        counts = np.bincount(members, minlength=len(self._ids))
        # Ids were given in the order in which sets of strings iterate, which changes from run to run.
        names = sorted(self._ids, key=lambda name: (-counts[self._ids[name]], name))
        rank = np.empty(len(names), dtype=np.int32)
        rank[np.fromiter((self._ids[name] for name in names), np.int64, len(names))] = np.arange(
            len(names), dtype=np.int32
        )
        counts = np.sort(counts)[::-1]
        members = rank[members]
        at = np.repeat(slots, self.sizes)
        common = int(np.count_nonzero(counts * COMMON >= len(slots)))

        bits = np.zeros((common, words * WORD), dtype=np.bool_)
        is_common = members < common
        bits[members[is_common], at[is_common]] = True
        bitmaps = np.packbits(bits, axis=1, bitorder="little").view("<u8").astype(np.uint64)

        members, at = members[~is_common], at[~is_common]
        at = at[np.lexsort((at, members))]
        offsets = np.concatenate(([0], np.cumsum(counts[common:], dtype=np.int64)))
        return names, FeatureSets(bitmaps, offsets, at)


def assign_slots(
    field_sizes: NDArray[np.int32],
) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int64]]:
    """The slot of every table, and the sizes and first words of the size classes."""
    sizes, counts = np.unique(field_sizes, return_counts=True)
    class_words = np.concatenate(([0], np.cumsum(-(-counts // WORD), dtype=np.int64)))
    order = np.argsort(field_sizes, kind="stable")
    places = np.arange(len(order)) - np.repeat(np.cumsum(counts) - counts, counts)
    slots = np.empty(len(order), dtype=np.int32)
    slots[order] = np.repeat(class_words[:-1] * WORD, counts) + places
    return slots, sizes.astype(np.int32), class_words


def order_rows(
    row_slots: NDArray[np.int32], typicality: NDArray[np.float64], slots: int
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """The rows of each slot, the most typical text first, then the lower row number."""
    rows = np.lexsort((-typicality, row_slots)).astype(np.int32)
    offsets = np.concatenate(([0], np.cumsum(np.bincount(row_slots, minlength=slots))))
    return offsets.astype(np.int64), rows
