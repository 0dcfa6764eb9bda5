"""Which three words stand in a row somewhere in the texts of a store: exact, in little memory.

A pair of words is known by its number among the pairs that stand in some text, a trigram by that number and
its third word. Both numbers fit into 64 bits whatever the vocabulary, so no two trigrams are taken for one.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from textsplice.text.tokens import BEGIN, END

_HALF = 32  # bits of the second of two numbers
_UNKNOWN = -1  # a word or pair that stands in no text
AT_ONCE = 1 << 20  # words


@dataclass(frozen=True, slots=True)
class Trigrams:
    """The trigrams of texts from begin to end; `pairs` and `triples` ascend."""

    numbers: Mapping[str, int]
    pairs: NDArray[np.int64]
    triples: NDArray[np.int64]

    @classmethod
    def of(cls, texts: Iterable[Sequence[str]]) -> Trigrams:
        """The trigrams of all texts, which are given without begin and end."""
        numbers = {BEGIN: 0, END: 1}
        flat = array("i")
        for words in texts:
            flat.append(0)
            flat.extend(numbers.setdefault(word, len(numbers)) for word in words)
            flat.append(1)
        ids = np.frombuffer(flat, dtype=np.int32) if flat else np.zeros(0, dtype=np.int32)
        pairs = _distinct(_packed(first, second) for first, second, _ in _windows(ids))
        packed = (
            _packed(np.searchsorted(pairs, _packed(first, second)), third)
            for first, second, third in _windows(ids)
        )
        return cls(numbers, pairs, _distinct(packed))

    def __len__(self) -> int:
        return len(self.triples)

    def around(self, words: Sequence[str]) -> list[bool]:
        """For each word of a text, whether it stands in some text between the same two words.

        Begin comes before the first word, end after the last.
        """
        if not words:
            return []
        given = (self.numbers.get(word, _UNKNOWN) for word in (BEGIN, *words, END))
        ids = np.fromiter(given, dtype=np.int64, count=len(words) + 2)
        pairs = _found(self.pairs, _packed(ids[:-2], ids[1:-1]))
        triples = _found(self.triples, _packed(pairs, ids[2:]))
        found: list[bool] = (triples != _UNKNOWN).tolist()
        return found


def _windows(ids: NDArray[np.int32]) -> Iterator[tuple[NDArray[np.int64], ...]]:
    """All that stands in a row three by three, as three columns; only a part of it is in memory at a time."""
    for start in range(0, len(ids) - 2, AT_ONCE):
        part = ids[start : start + AT_ONCE + 2].astype(np.int64)
        inside = part[1:-1] > 1  # a begin or end in the middle is where two texts meet
        yield part[:-2][inside], part[1:-1][inside], part[2:][inside]


def _distinct(parts: Iterable[NDArray[np.int64]]) -> NDArray[np.int64]:
    """The distinct numbers of all parts, which ascend."""
    return np.unique(np.concatenate([np.zeros(0, dtype=np.int64), *map(np.unique, parts)]))


def _packed(one: NDArray[np.int64], other: NDArray[np.int64]) -> NDArray[np.int64]:
    """Two numbers as one; it is negative, so never found, if one of them is unknown."""
    return (one << _HALF) | other


def _found(known: NDArray[np.int64], wanted: NDArray[np.int64]) -> NDArray[np.int64]:
    """The place of each number among those that are known; -1 where it is not one of them."""
    if not len(known):
        return np.full(len(wanted), _UNKNOWN, dtype=np.int64)
    places = np.minimum(np.searchsorted(known, wanted), len(known) - 1)
    return np.where(known[places] == wanted, places, _UNKNOWN)
