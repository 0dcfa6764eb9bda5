"""The numbering of sources: what `Splice.neighbor` means when texts are made from a table.

Source 0 is the linearized table. With n neighbors, sources 1 to n are the neighbors, best first. After them
every vocabulary word is a source of its own, in the order of word ids. No other file computes these numbers.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar, Literal, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

SourceKind = Literal["table", "neighbor", "vocabulary"]
Integers = NDArray[np.int32] | NDArray[np.int64]
Text = TypeVar("Text")

TABLE = 0
FIRST_NEIGHBOR = 1


@dataclass(frozen=True, slots=True)
class Numbering:
    """The source numbers of an example with this many neighbors."""

    neighbors: int
    TABLE: ClassVar[int] = TABLE

    @property
    def first_word(self) -> int:
        """The source of word id 0."""
        return FIRST_NEIGHBOR + self.neighbors

    @overload
    def neighbor(self, rank: int) -> int: ...
    @overload
    def neighbor(self, rank: Integers) -> NDArray[np.int64]: ...
    def neighbor(self, rank: int | Integers) -> int | NDArray[np.int64]:
        """The source of a neighbor; the best one has rank 0."""
        if isinstance(rank, np.ndarray):
            return rank.astype(np.int64) + FIRST_NEIGHBOR
        return rank + FIRST_NEIGHBOR

    @overload
    def word(self, id: int) -> int: ...
    @overload
    def word(self, id: Integers) -> NDArray[np.int64]: ...
    def word(self, id: int | Integers) -> int | NDArray[np.int64]:  # noqa: A002 - a word's id
        """The source of a vocabulary word."""
        if isinstance(id, np.ndarray):
            return id.astype(np.int64) + self.first_word
        return id + self.first_word

    def kind(self, source: int) -> SourceKind:
        """What kind of text a source is."""
        if source == TABLE:
            return "table"
        return "vocabulary" if self.is_word(source) else "neighbor"

    def is_neighbor(self, source: int) -> bool:
        """Whether a source is a neighbor."""
        return FIRST_NEIGHBOR <= source < self.first_word

    def is_word(self, source: int) -> bool:
        """Whether a source is a vocabulary word."""
        return source >= self.first_word

    def rank(self, source: int) -> int:
        """The rank of a source that is a neighbor, from 0."""
        return source - FIRST_NEIGHBOR

    def word_id(self, source: int) -> int:
        """The word id of a source that is a vocabulary word."""
        return source - self.first_word


def in_order(table: Text, neighbors: Iterable[Text], words: Iterable[Text]) -> list[Text]:
    """All sources of an example in a list, each at its number."""
    return [table, *neighbors, *words]


# For many examples at once. The arguments are broadcast, as NumPy does.


def neighbor_counts(neighbors: Integers) -> NDArray[np.int64]:
    """How many neighbors each example has, given a row of store rows per example, padded with -1."""
    return (neighbors >= 0).sum(axis=1)


def first_words(counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """The source of word id 0 in examples with these numbers of neighbors."""
    return FIRST_NEIGHBOR + counts


def word_ids(sources: Integers, counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """The word id of each source, -1 if it is not a vocabulary word."""
    return np.maximum(sources - first_words(counts), -1)


def neighbor_ranks(sources: Integers, counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """The rank of each source, -1 if it is not a neighbor."""
    return np.where(sources < first_words(counts), sources.astype(np.int64) - FIRST_NEIGHBOR, -1)
