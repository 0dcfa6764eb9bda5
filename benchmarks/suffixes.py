"""The baseline of `trace.py`: a text covered by the longest stretches that stand in some row, from the left.

A suffix array of all rows finds the longest match at any place. Taking the longest each time needs the fewest
pieces of any cover, but it only appends: it knows no text with something replaced in the middle.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from textsplice.ragged import Ragged

Ids = NDArray[np.int32]


class SuffixArray:
    """All suffixes of the rows of a corpus, in order."""

    def __init__(self, rows: Ragged) -> None:
        self.tokens = np.ascontiguousarray(rows.values)
        self.order = sorted_suffixes(self.tokens)

    def pieces(self, text: Ids, values: Ragged) -> int:
        """How many stretches of rows or values cover a text; a token that stands nowhere is one piece."""
        return count_pieces(text, self.tokens, self.order, values.values, values.offsets)


def sorted_suffixes(tokens: Ids) -> NDArray[np.int64]:
    """The starts of the suffixes in order, by prefixes of doubled length."""
    rank = np.unique(tokens, return_inverse=True)[1].astype(np.int64)
    size = 1
    while True:
        second = np.zeros(len(tokens), dtype=np.int64)
        second[:-size] = rank[size:] + 1
        key = rank * (len(tokens) + 1) + second
        order = np.argsort(key, kind="stable")
        is_new = np.diff(key[order], prepend=-1) != 0
        rank[order] = np.cumsum(is_new) - 1
        if is_new.all():
            return order
        size *= 2


@njit(cache=True)
def count_pieces(
    text: Ids, tokens: Ids, order: NDArray[np.int64], values: Ids, offsets: NDArray[np.int64]
) -> int:
    """Takes the longest match at each place."""
    place = pieces = 0
    while place < len(text):
        longest = longest_match(text[place:], tokens, order)
        for v in range(len(offsets) - 1):
            for start in range(offsets[v], offsets[v + 1]):
                size = 0
                while start + size < offsets[v + 1] and place + size < len(text):
                    if values[start + size] != text[place + size]:
                        break
                    size += 1
                longest = max(longest, size)
        place += max(longest, 1)
        pieces += 1
    return pieces


@njit(cache=True)
def longest_match(text: Ids, tokens: Ids, order: NDArray[np.int64]) -> int:
    """How many tokens of a text's beginning stand somewhere; one bisection per token."""
    low, high = 0, len(order)
    for size in range(len(text)):
        first, last = low, high
        while first < last:
            middle = (first + last) // 2
            at = order[middle] + size
            if at < len(tokens) and tokens[at] >= text[size]:
                last = middle
            else:
                first = middle + 1
        begin, last = first, high
        while first < last:
            middle = (first + last) // 2
            if tokens[order[middle] + size] > text[size]:
                last = middle
            else:
                first = middle + 1
        if begin == first:
            return size
        low, high = begin, first
    return len(text)
