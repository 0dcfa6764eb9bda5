"""Cases (a table with its neighbors), and the keys that a policy chooses among.

The keys of a case are columns in this order, for all policies:

    the tokens of the table · the tokens of neighbor 1 · … · of neighbor n · the generable words

so that the column of a key gives its source and its position in that source. Tokens that no splice may begin
with (a field's name, a mask) keep their column and have probability 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from textsplice.oracle.numbering import Numbering
from textsplice.text.vocabulary import MASK_ID, PAD_ID


@dataclass(frozen=True)
class Case:
    """One table with its neighbors, as ids of the whole vocabulary (the policy maps rare ones itself).

    A table without values is read as one padding token, which can't be copied: the decoder must attend to
    something.

    `mask_fields[n][t]` is the field that token t of neighbor n hides, as the id of the field's name in a
    table; -1 if it is no mask or its field is not known. It is empty where nobody asks for fields.
    """

    table: NDArray[np.int32]
    segments: NDArray[np.int32]
    neighbors: Sequence[NDArray[np.int32]] = ()
    mask_fields: Sequence[NDArray[np.int32]] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "table", or_one(self.table, PAD_ID))
        object.__setattr__(self, "segments", or_one(self.segments, -1))

    @cached_property
    def value_fields(self) -> NDArray[np.int32]:
        """The field of each token of the table, as the id of its name, which stands before its values."""
        names = np.where(self.segments < 0, np.arange(len(self.table)), 0)
        return self.table[np.maximum.accumulate(names)]


@dataclass(frozen=True)
class Keys:
    """The columns of one case's scores."""

    case: Case
    words: NDArray[np.int64]

    @property
    def numbering(self) -> Numbering:
        """The numbers of the case's sources."""
        return Numbering(len(self.case.neighbors))

    @cached_property
    def offsets(self) -> NDArray[np.int64]:
        """First column of the table, of each neighbor, of the words; last: the number of columns."""
        lengths = [len(self.case.table), *map(len, self.case.neighbors), len(self.words)]
        return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)

    @cached_property
    def source(self) -> NDArray[np.int64]:
        """The source of each column."""
        texts = self.numbering.first_word
        text = np.repeat(np.arange(texts), np.diff(self.offsets)[:-1])
        return np.concatenate([text, self.numbering.word(self.words)])

    @cached_property
    def begin(self) -> NDArray[np.int64]:
        """The position of each column in its source."""
        place = np.arange(self.offsets[-1]) - np.repeat(self.offsets[:-1], np.diff(self.offsets))
        place[self.offsets[-2] :] = 0
        return place

    @cached_property
    def word(self) -> NDArray[np.int64]:
        """The id of the token that each column stands for."""
        return np.concatenate([self.case.table, *self.case.neighbors, self.words]).astype(np.int64)

    @cached_property
    def allowed(self) -> NDArray[np.bool_]:
        """Whether a span may begin, or end, at this column: no field names, no masks."""
        allowed = self.word != MASK_ID
        allowed[: len(self.case.segments)] &= self.case.segments >= 0
        return allowed

    @cached_property
    def limit(self) -> NDArray[np.int64]:
        """For each column, one past the last column of its text, of the table's value, or of the word."""
        limit = np.repeat(self.offsets[1:], np.diff(self.offsets))
        limit[self.offsets[-2] :] = np.arange(self.offsets[-2], self.offsets[-1]) + 1
        limit[: len(self.case.segments)] = segment_limits(self.case.segments)
        return limit

    def __len__(self) -> int:
        return int(self.offsets[-1])

    def places(self, columns: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The sources of some columns and their positions there, without looking at all columns."""
        text = np.searchsorted(self.offsets, columns, side="right") - 1
        position = columns - self.offsets[text]
        is_word = columns >= self.offsets[-2]
        word = self.numbering.word(self.words[np.where(is_word, position, 0)])
        return np.where(is_word, word, text), np.where(is_word, 0, position)

    def column(self, source: int, begin: int) -> int:
        """The column of a position in a source; -1 for a word that can't be generated."""
        if not self.numbering.is_word(source):
            return int(self.offsets[source]) + begin
        found = np.flatnonzero(self.words == self.numbering.word_id(source))
        return int(self.offsets[-2]) + int(found[0]) if len(found) else -1


def or_one(row: NDArray[np.int32], value: int) -> NDArray[np.int32]:
    """The row, or one value if it is empty."""
    return row if len(row) else np.full(1, value, dtype=np.int32)


def segment_limits(segments: NDArray[np.int32]) -> NDArray[np.int64]:
    """For each token of a table, where its segment ends."""
    boundaries = np.append(np.flatnonzero(np.diff(segments)) + 1, len(segments))
    return boundaries[np.searchsorted(boundaries, np.arange(len(segments)), side="right")]


def numbers_of(words: NDArray[np.int64], ids: NDArray[np.int64]) -> NDArray[np.int64]:
    """The index of each id among `words`, -1 if it is not there."""
    if not len(words):
        return np.full(len(ids), -1, dtype=np.int64)
    order = np.argsort(words)
    found = order[np.minimum(np.searchsorted(words[order], ids), len(words) - 1)]
    return np.where(words[found] == ids, found, -1)
