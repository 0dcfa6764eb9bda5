"""An index by text: the rows of a store that share the most runs of two, three and four tokens with a text.

A run of masks counts as one mask, so that masked values of different lengths are alike. A text may have words
that no row has: a run with such a word is in no row. Runs are known by a hash of 64 bits. If two had the same
one, the order of rows could differ, but nothing is ever proved by this order.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from textsplice.errors import InputError, StorageError
from textsplice.neighbors.persistence import REMEDY, are_offsets, read_index, within, write_index
from textsplice.neighbors.table_index import Allow, allowed_rows, check_count
from textsplice.ragged import Ragged


@dataclass(frozen=True, slots=True)
class TextIndex:
    """Run `keys[i]` is in `rows[offsets[i]:offsets[i + 1]]`, which ascend."""

    keys: NDArray[np.uint64]  # ascending
    offsets: NDArray[np.int64]
    rows: NDArray[np.int32]
    digest: NDArray[np.uint8]  # of the tokens that were indexed
    count: int  # rows that were indexed
    mask_id: int

    @classmethod
    def build(cls, tokens: Ragged, mask_id: int) -> TextIndex:
        """Indexes rows of ids; `mask_id` is -1 if nothing is masked."""
        from textsplice.neighbors.text_kernel import runs_of

        runs, owners = runs_of((tokens.values, tokens.offsets), mask_id)
        order = np.argsort(runs, kind="stable")  # so that the rows of a run ascend
        runs, owners = runs[order], owners[order]
        is_first = np.ones(len(runs), dtype=np.bool_)
        is_first[1:] = runs[1:] != runs[:-1]
        keys = runs[is_first]
        offsets = np.append(np.flatnonzero(is_first), len(runs)).astype(np.int64)
        index = cls(keys, offsets, owners, _digest(tokens), len(tokens), mask_id)
        for part in (index.keys, index.offsets, index.rows, index.digest):
            part.setflags(write=False)  # as a loaded index's are, so that the search is compiled only once
        return index

    def save(self, folder: Path) -> None:
        """Writes the index into a folder."""
        arrays: dict[str, NDArray[np.generic]] = {
            "keys": self.keys,
            "offsets": self.offsets,
            "rows": self.rows,
            "digest": self.digest,
            "about": np.array([self.count, self.mask_id], dtype=np.int64),
        }
        write_index(folder, arrays, [], [])

    @classmethod
    def load(cls, folder: Path, tokens: Ragged) -> TextIndex:
        """Memory-maps the saved index of these rows; `StorageError` if it is damaged or one of other rows."""
        saved = read_index(folder)
        about = saved.array("about", np.int64)
        saved.require("about", about.shape == (2,))
        count, mask_id = about.tolist()
        index = cls(
            saved.array("keys", np.uint64),
            saved.array("offsets", np.int64),
            saved.array("rows", np.int32),
            saved.array("digest", np.uint8),
            count,
            mask_id,
        )
        if not np.array_equal(index.digest, _digest(tokens)):
            raise StorageError("this is an index of other texts.", where=str(folder), remedy=REMEDY)
        # The compiled search checks nothing.
        saved.require("about", count == len(tokens))
        saved.require("keys", index.keys.ndim == 1 and bool((index.keys[1:] > index.keys[:-1]).all()))
        saved.require("offsets", are_offsets(index.offsets, len(index.keys), len(index.rows)))
        saved.require("rows", within(index.rows, 0, count))
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
            self.keys,
            self.offsets,
            self.rows,
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


def _digest(tokens: Ragged) -> NDArray[np.uint8]:
    digest = hashlib.sha256(tokens.offsets.astype("<i8").tobytes())
    digest.update(tokens.values.astype("<i4").tobytes())
    return np.frombuffer(digest.digest(), dtype=np.uint8)
