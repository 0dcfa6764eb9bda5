"""The compiled part of the search: overlaps of 64 tables at once, as numbers whose bits lie in planes.

Bit `b` of word `w` of plane `p` is bit `p` of the overlap of the query with slot `64·w + b`. Adding one
feature's bitmap to all overlaps is a ripple of and/xor over the planes, and comparing all overlaps with a
number is one and/or a plane.
"""

from __future__ import annotations

import numpy as np
from numba import njit

BLOCK = 128  # words of each plane that are worked on at a time, so that they stay in the first cache
ALL = np.uint64(0xFFFFFFFFFFFFFFFF)
NONE = np.uint64(0)
ONE = np.uint64(1)

# The place of a lone bit: a de Bruijn product has a different top six bits for each of them.
DE_BRUIJN = np.uint64(0x03F79D71B4CB0A89)
SHIFT = np.uint64(58)
PLACE = np.zeros(64, dtype=np.uint8)
for _bit in range(64):
    PLACE[((0x03F79D71B4CB0A89 << _bit) & 0xFFFFFFFFFFFFFFFF) >> 58] = _bit


@njit(cache=True, nogil=True)
def bit_length(number):
    """How many planes hold the numbers up to `number`."""
    length = 0
    while number >> length:
        length += 1
    return length


@njit(cache=True, nogil=True)
def score(field_overlap, field_total, value_overlap, value_total):
    """F1(fields) + F1(values) / 10, where a total is |A| + |B|.

    One division of integers, and division is correctly rounded: equal scores are equal floats.
    """
    fields = max(field_total, 1)
    values = max(value_total, 1)
    return (20 * field_overlap * values + 2 * value_overlap * fields) / (10 * fields * values)


@njit(cache=True, nogil=True)
def add_bitmaps(planes, bitmaps, ids):
    """Adds the bitmaps of the common ones among `ids` to the overlaps."""
    carry = np.empty(BLOCK, dtype=np.uint64)
    for begin in range(0, planes.shape[1], BLOCK):
        width = min(BLOCK, planes.shape[1] - begin)
        added = 0
        for feature in ids:
            if feature >= len(bitmaps):
                continue
            added += 1
            carry[:width] = bitmaps[feature, begin : begin + width]
            for p in range(bit_length(added)):
                plane = planes[p, begin : begin + width]
                for w in range(width):
                    both = plane[w] & carry[w]
                    plane[w] ^= carry[w]
                    carry[w] = both


@njit(cache=True, nogil=True)
def add_postings(planes, common, offsets, slots, ids):
    """Adds one to the overlap of every slot that has one of the rare ones among `ids`."""
    for feature in ids:
        if feature < common:
            continue
        rare = feature - common
        for i in range(offsets[rare], offsets[rare + 1]):
            word = slots[i] >> 6
            carry = ONE << np.uint64(slots[i] & 63)
            p = 0
            while carry:
                both = planes[p, word] & carry
                planes[p, word] ^= carry
                carry = both
                p += 1


@njit(cache=True, nogil=True)
def overlaps(sets, ids):
    """The planes of |query ∩ table| for every slot."""
    planes = np.zeros((bit_length(len(ids)), sets.bitmaps.shape[1]), dtype=np.uint64)
    add_bitmaps(planes, sets.bitmaps, ids)
    add_postings(planes, len(sets.bitmaps), sets.offsets, sets.slots, ids)
    return planes


@njit(cache=True, nogil=True)
def largest(planes):
    """The largest overlap of all slots."""
    found = 0
    alive = np.full(planes.shape[1], ALL)
    for p in range(len(planes) - 1, -1, -1):
        seen = NONE
        for w in range(len(alive)):
            seen |= alive[w] & planes[p, w]
        if seen:
            found |= 1 << p
            alive &= planes[p]
    return found


@njit(cache=True, nogil=True)
def keep_equal(matches, planes, begin, number):
    """Clears the slots whose overlap is not `number`."""
    for p in range(len(planes)):
        flip = NONE if (number >> p) & 1 else ALL
        plane = planes[p, begin : begin + len(matches)]
        for w in range(len(matches)):
            matches[w] &= plane[w] ^ flip


@njit(cache=True, nogil=True)
def keep_at_least(matches, reached, planes, begin, number):
    """Clears the slots whose overlap is less than `number`."""
    reached[:] = ALL
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
def overlap_at(planes, word, bit):
    """The overlap of one slot."""
    number = 0
    for p in range(len(planes)):
        number |= np.int64((planes[p, word] >> bit) & ONE) << p
    return number


@njit(cache=True, nogil=True)
def precedes(score_a, typicality_a, row_a, score_b, typicality_b, row_b):
    """Whether row a stands before row b: higher score, then more typical text, then lower number."""
    if score_a != score_b:
        return score_a > score_b
    if typicality_a != typicality_b:
        return typicality_a > typicality_b
    return row_a < row_b


@njit(cache=True, nogil=True)
def insert(rows, scores, found, row, value, typicality):
    """Puts a row where it belongs among the `found` best; returns how many there are now, -1 if no place."""
    k = len(rows)
    if found == k and not precedes(
        value, typicality[row], row, scores[k - 1], typicality[rows[k - 1]], rows[k - 1]
    ):
        return -1
    place = min(found, k - 1)
    while place > 0 and precedes(
        value,
        typicality[row],
        row,
        scores[place - 1],
        typicality[rows[place - 1]],
        rows[place - 1],
    ):
        rows[place] = rows[place - 1]
        scores[place] = scores[place - 1]
        place -= 1
    rows[place] = row
    scores[place] = value
    return min(found + 1, k)


@njit(cache=True, nogil=True)
def rank_cells(layout, fields, known, values, value_bound):
    """All (size class, field overlap) pairs, those that can score highest first, with that score."""
    count = 0
    for size in layout.class_sizes:
        count += min(known, size) + 1
    classes = np.empty(count, dtype=np.int32)
    shared = np.empty(count, dtype=np.int32)
    bounds = np.empty(count, dtype=np.float64)
    cell = 0
    for c in range(len(layout.class_sizes)):
        size = layout.class_sizes[c]
        for overlap in range(min(known, size) + 1):
            classes[cell] = c
            shared[cell] = overlap
            # The values that a table shares are among its values: |B| is at least their number.
            bounds[cell] = score(overlap, fields + size, value_bound, values + value_bound)
            cell += 1
    order = np.argsort(-bounds)
    return classes[order], shared[order], bounds[order]


@njit(cache=True, nogil=True)
def search_one(
    layout, field_ids, fields, value_ids, values, excluded_row, excluded_slot, allowed, rows, scores
):
    """Fills `rows` and `scores` with the best allowed rows; the rest of `rows` stays as it was."""
    field_planes = overlaps(layout.fields, field_ids)
    value_planes = overlaps(layout.values, value_ids)
    value_bound = largest(value_planes)
    classes, shared, bounds = rank_cells(layout, fields, len(field_ids), values, value_bound)
    width = 0
    for c in range(len(layout.class_sizes)):
        width = max(width, layout.class_words[c + 1] - layout.class_words[c])
    buffer = np.empty(width, dtype=np.uint64)
    reached = np.empty(width, dtype=np.uint64)
    k = len(rows)
    found = 0
    for cell in range(len(classes)):
        needed = 0
        total = fields + layout.class_sizes[classes[cell]]
        if found == k:
            if bounds[cell] < scores[k - 1]:
                break
            while score(shared[cell], total, needed, values + needed) < scores[k - 1]:
                needed += 1
        begin = layout.class_words[classes[cell]]
        matches = buffer[: layout.class_words[classes[cell] + 1] - begin]
        matches[:] = ALL
        keep_equal(matches, field_planes, begin, shared[cell])
        if needed:
            keep_at_least(matches, reached[: len(matches)], value_planes, begin, needed)
        for w in range(len(matches)):
            left = matches[w]
            while left:
                lowest = left & (~left + ONE)
                left ^= lowest
                bit = np.uint64(PLACE[(lowest * DE_BRUIJN) >> SHIFT])
                slot = (begin + w) * 64 + np.int64(bit)
                if slot == excluded_slot:
                    continue
                value_overlap = overlap_at(value_planes, begin + w, bit)
                value = score(shared[cell], total, value_overlap, values + layout.value_sizes[slot])
                for i in range(layout.row_offsets[slot], layout.row_offsets[slot + 1]):
                    row = layout.rows[i]
                    if row == excluded_row or (len(allowed) and not allowed[row]):
                        continue
                    now = insert(rows, scores, found, row, value, layout.typicality)
                    if now < 0:  # the rows of a slot stand in order: the others have no place either
                        break
                    found = now


@njit(cache=True, nogil=True)
def search_all(layout, queries, excluded_rows, excluded_slots, allowed, first, last, rows, scores):
    """Answers the queries `first … last - 1`."""
    for q in range(first, last):
        search_one(
            layout,
            queries.field_ids[queries.field_offsets[q] : queries.field_offsets[q + 1]],
            queries.field_sizes[q],
            queries.value_ids[queries.value_offsets[q] : queries.value_offsets[q + 1]],
            queries.value_sizes[q],
            excluded_rows[q],
            excluded_slots[q],
            allowed,
            rows[q],
            scores[q],
        )
