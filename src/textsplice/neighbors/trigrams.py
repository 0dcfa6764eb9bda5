"""Which three words stand in a row somewhere in the texts of a store: exact, in little memory.

A pair of words is known by its number among the pairs that stand in some text, a trigram by that number and
its third word. Both numbers fit into 64 bits whatever the vocabulary, so no two trigrams are taken for one.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from textsplice.neighbors.persistence import read_index, within, write_index
from textsplice.text.tokens import BEGIN, END

_HALF = 32  # bits of the second of two numbers
_LAST = (1 << _HALF) - 1  # the second of them
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
        none = np.zeros(0, dtype=np.int64)
        return cls({BEGIN: 0, END: 1}, none, none).plus(texts)

    def plus(self, texts: Iterable[Sequence[str]]) -> Trigrams:
        """These and the trigrams of more texts; words keep their numbers."""
        numbers = dict(self.numbers)
        flat = array("i")
        for words in texts:
            flat.append(0)
            flat.extend(numbers.setdefault(word, len(numbers)) for word in words)
            flat.append(1)
        ids = np.frombuffer(flat, dtype=np.int32) if flat else np.zeros(0, dtype=np.int32)
        new = (_packed(first, second) for first, second, _ in _windows(ids))
        pairs = _distinct(chain([self.pairs], new))
        places = np.searchsorted(pairs, self.pairs)
        known = _packed(places[self.triples >> _HALF], self.triples & _LAST)
        packed = (
            _packed(np.searchsorted(pairs, _packed(first, second)), third)
            for first, second, third in _windows(ids)
        )
        return Trigrams(numbers, pairs, _distinct(chain([known], packed)))

    def save(self, folder: Path) -> None:
        """Writes them into a folder of their own."""
        write_index(folder, {"pairs": self.pairs, "triples": self.triples}, list(self.numbers), [])

    @classmethod
    def load(cls, folder: Path) -> Trigrams:
        """Those that `save` wrote, memory-mapped; `StorageError` if they are damaged."""
        saved = read_index(folder)
        pairs, triples = (saved.array(name, np.int64) for name in ("pairs", "triples"))
        saved.require("pairs", _ascend(pairs))
        saved.require("triples", _ascend(triples) and within(triples >> _HALF, 0, len(pairs)))
        return cls({word: number for number, word in enumerate(saved.fields)}, pairs, triples)

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


def _ascend(numbers: NDArray[np.int64]) -> bool:
    return within(numbers, 0) and bool((np.diff(numbers) > 0).all())


def _packed(one: NDArray[np.int64], other: NDArray[np.int64]) -> NDArray[np.int64]:
    """Two numbers as one; it is negative, so never found, if one of them is unknown."""
    return (one << _HALF) | other


def _found(known: NDArray[np.int64], wanted: NDArray[np.int64]) -> NDArray[np.int64]:
    """The place of each number among those that are known; -1 where it is not one of them."""
    if not len(known):
        return np.full(len(wanted), _UNKNOWN, dtype=np.int64)
    places = np.minimum(np.searchsorted(known, wanted), len(known) - 1)
    return np.where(known[places] == wanted, places, _UNKNOWN)
