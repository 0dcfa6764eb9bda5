"""The compiled search: the overlaps of 64 tables at once, as numbers stored in bit planes.

An *overlap* is the number of features that a table shares with the query. Bit `b` of word `w` of plane `p`
is bit `p` of the overlap of slot `64·w + b`. Adding a feature's bitmap to all overlaps is a ripple-carry
addition over the planes (and/xor). Comparing all overlaps with a number takes one and/or per plane.

A *cell* holds the tables of one size class that share the same number of fields with the query, so they have
the same F1(fields). Cells are searched by falling upper bound of their scores, until the bound is below the
k-th best score found. Within a cell, only tables that share enough values to reach that score are scored.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from textsplice.neighbors.arrays import FeatureSets, IndexArrays, Queries

Planes = NDArray[np.uint64]  # (bits, words)

BLOCK = 256  # words of a plane that are processed at a time, to stay in the L1 cache
ALL = np.uint64(0xFFFFFFFFFFFFFFFF)
NONE = np.uint64(0)
ONE = np.uint64(1)

# The index of a single bit: its product with a de Bruijn number has unique top six bits.
DE_BRUIJN = np.uint64(0x03F79D71B4CB0A89)
TOP_SIX = np.uint64(58)
with np.errstate(over="ignore"):
    PLACE = np.argsort((DE_BRUIJN << np.arange(64, dtype=np.uint64)) >> TOP_SIX)


class Query(NamedTuple):
    """One query: the ids of known features, the sizes of the whole sets, and what to exclude."""

    field_ids: NDArray[np.int32]
    field_size: int
    value_ids: NDArray[np.int32]
    value_size: int
    excluded_row: int
    excluded_slot: int


class Cells(NamedTuple):
    """Cells as size classes and numbers of shared fields, by falling upper bound of their scores."""

    classes: NDArray[np.int64]
    shared: NDArray[np.int64]
    bounds: NDArray[np.float64]


@njit(cache=True, nogil=True)
def bit_length(number: int) -> int:
    """The number of planes that hold numbers up to `number`."""
    length = 0
    while number >> length:
        length += 1
    return length


@njit(cache=True, nogil=True)
def score(field_overlap: int, field_total: int, value_overlap: int, value_total: int) -> float:
    """F1(fields) + F1(values) / 10, where a total is |A| + |B|.

    It is one division of integers, which is correctly rounded. So equal scores are equal floats, and an upper
    bound computed in this way is never too low.
    """
    fields = max(field_total, 1)
    values = max(value_total, 1)
    return (20 * field_overlap * values + 2 * value_overlap * fields) / (10 * fields * values)


@njit(cache=True, nogil=True)
def add_bitmaps(planes: Planes, bitmaps: NDArray[np.uint64], ids: NDArray[np.int32]) -> None:
    """Adds the bitmaps of the common features among `ids` to the overlaps."""
    common = ids[ids < len(bitmaps)]
    carry = np.empty(BLOCK, dtype=np.uint64)
    nothing = np.zeros(BLOCK, dtype=np.uint64)
    for begin in range(0, planes.shape[1], BLOCK):
        end = min(begin + BLOCK, planes.shape[1])
        # A full adder takes two bitmaps at a time, which halves the carries through the higher planes.
        for i in range(0, len(common), 2):
            one = bitmaps[common[i], begin:end]
            two = bitmaps[common[i + 1], begin:end] if i + 1 < len(common) else nothing
            plane = planes[0, begin:end]
            for w in range(end - begin):
                either = one[w] ^ two[w]
                carry[w] = (one[w] & two[w]) | (either & plane[w])
                plane[w] ^= either
            for p in range(1, bit_length(min(i + 2, len(common)))):
                plane = planes[p, begin:end]
                for w in range(end - begin):
                    both = plane[w] & carry[w]
                    plane[w] ^= carry[w]
                    carry[w] = both


@njit(cache=True, nogil=True)
def add_postings(planes: Planes, sets: FeatureSets, ids: NDArray[np.int32]) -> None:
    """Adds one to the overlap of every slot for each rare feature among `ids` that it has."""
    common = len(sets.bitmaps)
    for feature in ids:
        if feature < common:
            continue
        for slot in sets.slots[sets.offsets[feature - common] : sets.offsets[feature - common + 1]]:
            word = slot >> 6
            carry = ONE << np.uint64(slot & 63)
            p = 0
            while carry:
                both = planes[p, word] & carry
                planes[p, word] ^= carry
                carry = both
                p += 1


@njit(cache=True, nogil=True)
def overlaps(sets: FeatureSets, ids: NDArray[np.int32]) -> Planes:
    """The overlap of every slot: how many of the features it has."""
    planes = np.zeros((bit_length(len(ids)), sets.bitmaps.shape[1]), dtype=np.uint64)
    add_bitmaps(planes, sets.bitmaps, ids)
    add_postings(planes, sets, ids)
    return planes


@njit(cache=True, nogil=True)
def largest(planes: Planes) -> int:
    """The largest overlap of all slots."""
    found = 0
    alive = np.full(planes.shape[1], ALL)
    for p in range(len(planes) - 1, -1, -1):
        seen = NONE
        for w in range(len(alive)):
            seen |= alive[w] & planes[p, w]
        if seen:
            found |= 1 << p
            for w in range(len(alive)):
                alive[w] &= planes[p, w]
    return found


@njit(cache=True, nogil=True)
def keep_equal(matches: NDArray[np.uint64], planes: Planes, begin: int, number: int) -> None:
    """Clears the slots whose overlap is not `number`."""
    for p in range(len(planes)):
        flip = NONE if (number >> p) & 1 else ALL
        plane = planes[p, begin : begin + len(matches)]
        for w in range(len(matches)):
            matches[w] &= plane[w] ^ flip


@njit(cache=True, nogil=True)
def keep_at_least(matches: NDArray[np.uint64], planes: Planes, begin: int, number: int) -> None:
    """Clears the slots whose overlap is less than `number`."""
    reached = np.full(len(matches), ALL)
    for p in range(len(planes)):
        plane = planes[p, begin : begin + len(matches)]
        if (number >> p) & 1:
            for w in range(len(matches)):
                reached[w] &= plane[w]
        else:
            for w in range(len(matches)):
                reached[w] |= plane[w]
    for w in range(len(matches)):
        matches[w] &= reached[w]


@njit(cache=True, nogil=True)
def overlap_at(planes: Planes, slot: int) -> int:
    """The overlap of one slot."""
    number = 0
    for p in range(len(planes)):
        if (planes[p, slot >> 6] >> np.uint64(slot & 63)) & ONE:
            number |= 1 << p
    return number


@njit(cache=True, nogil=True)
def rank_cells(arrays: IndexArrays, query: Query, value_bound: int) -> Cells:
    """All cells, if no table shares more than `value_bound` values with the query."""
    known = len(query.field_ids)
    count = 0
    for size in arrays.class_sizes:
        count += min(known, size) + 1
    classes = np.empty(count, dtype=np.int64)
    shared = np.empty(count, dtype=np.int64)
    bounds = np.empty(count, dtype=np.float64)
    cell = 0
    for c, size in enumerate(arrays.class_sizes):
        for overlap in range(min(known, size) + 1):
            classes[cell] = c
            shared[cell] = overlap
            bounds[cell] = best_score(query, size, overlap, value_bound)
            cell += 1
    order = np.argsort(-bounds)
    return Cells(classes[order], shared[order], bounds[order])


@njit(cache=True, nogil=True)
def best_score(query: Query, size: int, overlap: int, value_overlap: int) -> float:
    """An upper bound: the score of a table of `size` fields whose values are all shared with the query."""
    # A table has at least as many values as it shares.
    return score(overlap, query.field_size + size, value_overlap, query.value_size + value_overlap)


@njit(cache=True, nogil=True)
def precedes(value: float, row: int, other_value: float, other: int, commonness: NDArray[np.float64]) -> bool:
    """Whether a row ranks before another: by higher score, then higher commonness, then lower number."""
    if value != other_value:
        return value > other_value
    if commonness[row] != commonness[other]:
        return commonness[row] > commonness[other]
    return row < other


@njit(cache=True, nogil=True)
def insert_rows(
    arrays: IndexArrays,
    query: Query,
    allowed: NDArray[np.bool_],
    slot: int,
    value: float,
    rows: NDArray[np.int32],
    scores: NDArray[np.float64],
    found: int,
) -> int:
    """Inserts the rows of a slot among the `found` best; returns the new number of found rows."""
    for row in arrays.rows[arrays.row_offsets[slot] : arrays.row_offsets[slot + 1]]:
        if row == query.excluded_row or (len(allowed) and not allowed[row]):
            continue
        place = found
        while place > 0 and precedes(value, row, scores[place - 1], rows[place - 1], arrays.commonness):
            if place < len(rows):
                rows[place] = rows[place - 1]
                scores[place] = scores[place - 1]
            place -= 1
        if place == len(rows):  # the rows of a slot are in order: no later one fits either
            break
        rows[place] = row
        scores[place] = value
        found = min(found + 1, len(rows))
    return found


@njit(cache=True, nogil=True)
def search_one(
    arrays: IndexArrays,
    query: Query,
    allowed: NDArray[np.bool_],
    rows: NDArray[np.int32],
    scores: NDArray[np.float64],
) -> None:
    """Fills `rows` and `scores` with the best allowed rows; the remaining entries are unchanged."""
    field_planes = overlaps(arrays.fields, query.field_ids)
    value_planes = overlaps(arrays.values, query.value_ids)
    cells = rank_cells(arrays, query, largest(value_planes))
    found = 0
    for cell in range(len(cells.classes)):
        size_class = int(cells.classes[cell])
        size = int(arrays.class_sizes[size_class])
        shared = int(cells.shared[cell])
        enough = 0
        if found == len(rows):
            if cells.bounds[cell] < scores[-1]:
                break
            while best_score(query, size, shared, enough) < scores[-1]:
                enough += 1
        begin = int(arrays.class_words[size_class])
        matches = np.full(arrays.class_words[size_class + 1] - begin, ALL)
        keep_equal(matches, field_planes, begin, shared)
        if enough:
            keep_at_least(matches, value_planes, begin, enough)
        for w in range(len(matches)):
            while matches[w]:
                lowest = matches[w] & (~matches[w] + ONE)
                matches[w] ^= lowest
                slot = (begin + w) * 64 + int(PLACE[(lowest * DE_BRUIJN) >> TOP_SIX])
                if slot != query.excluded_slot:
                    value = score(
                        shared,
                        query.field_size + size,
                        overlap_at(value_planes, slot),
                        query.value_size + int(arrays.value_sizes[slot]),
                    )
                    found = insert_rows(arrays, query, allowed, slot, value, rows, scores, found)


@njit(cache=True, nogil=True)
def search_all(
    arrays: IndexArrays,
    queries: Queries,
    allowed: NDArray[np.bool_],
    first: int,
    last: int,
    rows: NDArray[np.int32],
    scores: NDArray[np.float64],
) -> None:
    """Answers the queries `first` to `last - 1`, each in its row of `rows` and `scores`."""
    for q in range(first, last):
        query = Query(
            queries.field_ids[queries.field_offsets[q] : queries.field_offsets[q + 1]],
            queries.field_sizes[q],
            queries.value_ids[queries.value_offsets[q] : queries.value_offsets[q + 1]],
            queries.value_sizes[q],
            queries.excluded_rows[q],
            queries.excluded_slots[q],
        )
        search_one(arrays, query, allowed, rows[q], scores[q])
