"""The texts that the examples of a batch splice from, each once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from textsplice.oracle.numbering import TABLE, first_words, neighbor_counts
from textsplice.policy.cases import or_one
from textsplice.policy.examples import Grouped, TrainingSplit
from textsplice.policy.packing import gather_rows
from textsplice.ragged import Ragged
from textsplice.text.vocabulary import PAD_ID


@dataclass(frozen=True)
class BatchTexts:
    """All distinct neighbors, then the table of each case.

    Source `s` of case `c` is row `rows[first[c] + s]` of `texts` if it is below `first_words[c]`; from
    there on sources are words.
    """

    texts: Ragged
    neighbors: int
    rows: NDArray[np.int64]
    first: NDArray[np.int64]
    neighbor_counts: NDArray[np.int64]

    @property
    def first_words(self) -> NDArray[np.int64]:
        """The source of word 0 in each case."""
        return first_words(self.neighbor_counts)

    @classmethod
    def of(cls, split: TrainingSplit, store_tokens: Ragged, grouped: Grouped) -> BatchTexts:
        """The texts of grouped examples."""
        there = grouped.neighbors >= 0
        distinct, index = np.unique(grouped.neighbors[there], return_inverse=True)
        cases = len(grouped.tables)
        own_neighbors = neighbor_counts(grouped.neighbors)
        counts = first_words(own_neighbors)
        first = np.cumsum(counts) - counts
        rows = np.empty(int(counts.sum()), dtype=np.int64)
        is_table = np.zeros(len(rows), dtype=np.bool_)
        is_table[first + TABLE] = True
        rows[is_table] = len(distinct) + np.arange(cases)
        rows[~is_table] = index
        neighbor_values, neighbor_lengths = gather_rows(store_tokens, distinct)
        tables = Ragged.from_rows(
            or_one(split.table_tokens[table], PAD_ID) for table in grouped.tables.tolist()
        )
        offsets = np.zeros(len(distinct) + cases + 1, dtype=np.int64)
        np.cumsum(np.concatenate([neighbor_lengths, tables.lengths]), out=offsets[1:])
        texts = Ragged(np.concatenate([neighbor_values, tables.values]), offsets)
        return cls(texts, len(distinct), rows, first, own_neighbors)

    def of_case(self, case: int) -> NDArray[np.int64]:
        """The rows of a case's texts: its table, then its neighbors."""
        return self.rows[self.first[case] : self.first[case] + self.first_words[case]]

    def tables(self) -> Ragged:
        """The table of each case."""
        return Ragged(self.texts.values, self.texts.offsets[self.neighbors :])
