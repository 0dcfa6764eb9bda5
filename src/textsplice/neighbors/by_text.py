"""An index by text: the rows of a store that share the most runs of two, three and four tokens with a text.

A run of masks counts as one mask, so that masked values of different lengths are alike. A text may have words
that no row has: a run with such a word is in no row. Runs are known by a hash. If two had the same one, the
order of rows could differ, but nothing is ever proved by this order.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from textsplice.errors import InputError
from textsplice.neighbors.persistence import are_offsets, read_index, within, write_index
from textsplice.neighbors.table_index import Allow, allowed_rows, check_count
from textsplice.ragged import Ragged

Number = TypeVar("Number", bound=np.generic)

ROWS_AT_ONCE = 20_000
MOST_BITS = 28


@dataclass(frozen=True, slots=True)
class TextIndex:
    """Postings: half of a run's hash, and a row that has the run.

    The first `bits` of the hash are the number of a bucket, whose postings
    `postings[buckets[b]:buckets[b + 1]]` ascend.
    """

    buckets: NDArray[np.int64]
    postings: NDArray[np.uint64]
    count: int  # rows that were indexed
    mask_id: int

    @property
    def bits(self) -> int:
        """How many bits of a hash say its bucket."""
        return (len(self.buckets) - 1).bit_length() - 1

    @classmethod
    def build(
        cls, tokens: Ragged, mask_id: int, advance: Callable[[int], None] = lambda _rows: None
    ) -> TextIndex:
        """Indexes rows of ids; `mask_id` is -1 if nothing is masked.

        Postings are counted, written where they belong, and sorted there: nothing else of their size is in
        memory. `advance` is told of rows that are done.
        """
        from textsplice.neighbors.text_kernel import LONGEST_RUN, count_postings, sort_buckets, write_postings

        most = (LONGEST_RUN - 1) * len(tokens.values)
        bits = min(max(most.bit_length() - 4, 1), MOST_BITS)
        buckets = np.zeros((1 << bits) + 1, dtype=np.int64)
        texts = (frozen(tokens.values), frozen(tokens.offsets))
        starts = range(0, len(tokens), ROWS_AT_ONCE)
        for first in starts:
            last = min(first + ROWS_AT_ONCE, len(tokens))
            count_postings(texts, first, last, mask_id, bits, buckets[1:])
        np.cumsum(buckets, out=buckets)
        postings = np.empty(int(buckets[-1]), dtype=np.uint64)
        places = buckets[:-1].copy()
        for first in starts:
            last = min(first + ROWS_AT_ONCE, len(tokens))
            write_postings(texts, first, last, mask_id, bits, places, postings)
            advance(last - first)
        sort_buckets(buckets, postings)
        return cls(frozen(buckets), frozen(postings), len(tokens), mask_id)

    def save(self, folder: Path) -> None:
        """Writes the index into a folder."""
        arrays: dict[str, NDArray[np.generic]] = {
            "buckets": self.buckets,
            "postings": self.postings,
            "about": np.array([self.count, self.mask_id], dtype=np.int64),
        }
        write_index(folder, arrays, [], [])

    @classmethod
    def load(cls, folder: Path, rows: int) -> TextIndex:
        """Memory-maps the saved index of so many rows; `StorageError` if it is damaged."""
        from textsplice.neighbors.text_kernel import highest_row

        saved = read_index(folder)
        about = saved.array("about", np.int64)
        saved.require("about", about.shape == (2,) and int(about[0]) == rows)
        index = cls(
            saved.array("buckets", np.int64),
            saved.array("postings", np.uint64),
            rows,
            int(about[1]),
        )
        # The compiled search checks nothing.
        sized = index.buckets.ndim == 1 and 1 <= index.bits <= MOST_BITS
        sized = sized and len(index.buckets) == (1 << index.bits) + 1
        saved.require("postings", index.postings.ndim == 1)
        saved.require("buckets", sized and are_offsets(index.buckets, 1 << index.bits, len(index.postings)))
        saved.require("postings", highest_row(index.postings) < rows)
        return index

    def __len__(self) -> int:
        return self.count

    def search_many(
        self,
        texts: Ragged,
        k: int,
        *,
        exclude_rows: NDArray[np.int32] | None = None,
        allow: Allow | None = None,
    ) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """The `k` rows that share most runs with each text, and how many; padded with row -1 and 0.

        Of rows that share as many, the lower ones come first. Rows that share nothing are never found.
        `exclude_rows` holds one row per text, -1 to exclude nothing.
        """
        from textsplice.neighbors.text_kernel import search_texts

        check_count(k)
        if exclude_rows is None:
            exclude_rows = np.full(len(texts), -1, dtype=np.int32)
        if exclude_rows.shape != (len(texts),):
            raise InputError(f"there are {len(texts)} texts, but {len(exclude_rows)} rows to exclude.")
        if not within(exclude_rows, -1, len(self)):
            raise InputError(f"a row to exclude is not one of the {len(self)} rows of the corpus.")
        filtered = allowed_rows(allow, len(self))
        found = np.full((len(texts), k), -1, dtype=np.int32)
        shared = np.zeros((len(texts), k), dtype=np.int32)
        search_texts(
            self.buckets,
            self.postings,
            self.bits,
            self.count,
            self.mask_id,
            (np.array(texts.values, dtype=np.int32), np.array(texts.offsets, dtype=np.int64)),
            np.array(exclude_rows, dtype=np.int32),
            np.zeros(0, dtype=np.bool_) if filtered is None else np.array(filtered),
            found,
            shared,
        )
        return found, shared

    def search(self, text: NDArray[np.int32], k: int, *, allow: Allow | None = None) -> NDArray[np.int32]:
        """The rows that share most runs with one text, best first."""
        rows, _ = self.search_many(Ragged.from_rows([text]), k, allow=allow)
        return rows[0][rows[0] >= 0]


def frozen(array: NDArray[Number]) -> NDArray[Number]:
    """The same array, read-only as a memory-mapped one is, so that kernels are compiled only once."""
    view = array.view()
    view.setflags(write=False)
    return view
