"""An index by text in shards of consecutive rows: built one at a time, asked all at once, merged exactly."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import count
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from textsplice.neighbors.by_text import TextIndex
from textsplice.neighbors.persistence import read_index, write_index
from textsplice.neighbors.table_index import Allow, allowed_rows, check_count
from textsplice.ragged import Ragged

ROWS_A_SHARD = 500_000


@dataclass(frozen=True, slots=True)
class TextShards:
    """The rows that share most with a text, as `TextIndex` finds them; `starts` are the shards' first rows.

    Only if two runs of tokens have the same hash can it differ from one index of all rows.
    """

    shards: tuple[TextIndex, ...]
    starts: tuple[int, ...]

    @classmethod
    def build(cls, tokens: Ragged, mask_id: int, size: int = ROWS_A_SHARD) -> TextShards:
        """Indexes rows, so many a shard."""
        starts = tuple(range(0, max(len(tokens), 1), size))
        shards = (TextIndex.build(_rows(tokens, start, size), mask_id) for start in starts)
        return cls(tuple(shards), starts)

    @staticmethod
    def write(
        folder: Path,
        tokens: Ragged,
        mask_id: int,
        advance: Callable[[int], None],
        size: int = ROWS_A_SHARD,
    ) -> None:
        """The same on disk; one shard is in memory at a time."""
        starts = range(0, max(len(tokens), 1), size)
        for number, start in enumerate(starts):
            TextIndex.build(_rows(tokens, start, size), mask_id, advance).save(folder / _name(number))
        write_index(folder, {"starts": np.array([*starts, len(tokens)], dtype=np.int64)}, [], [])

    @classmethod
    def is_saved(cls, folder: Path) -> bool:
        """Whether the index in a folder is one in shards."""
        return (folder / _name(0)).is_dir()

    @classmethod
    def load(cls, folder: Path, rows: int) -> TextShards:
        """Memory-maps all shards; `StorageError` if they are not those of so many rows."""
        saved = read_index(folder)
        starts = saved.array("starts", np.int64)
        sound = starts.ndim == 1 and len(starts) > 1 and starts[0] == 0 and starts[-1] == rows
        saved.require("starts", bool(sound and (np.diff(starts) >= 0).all()))
        sizes: list[int] = np.diff(starts).tolist()
        shards = [TextIndex.load(folder / _name(n), size) for n, size in zip(count(), sizes, strict=False)]
        return cls(tuple(shards), tuple(starts[:-1].tolist()))

    def __len__(self) -> int:
        return sum(map(len, self.shards))

    def search_many(
        self,
        texts: Ragged,
        k: int,
        *,
        exclude_rows: NDArray[np.int32] | None = None,
        allow: Allow | None = None,
    ) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """See `TextIndex`."""
        check_count(k)
        allowed = allowed_rows(allow, len(self))
        rows: list[NDArray[np.int32]] = []
        shared: list[NDArray[np.int32]] = []
        for start, shard in zip(self.starts, self.shards, strict=True):
            stop = start + len(shard)
            excluded = None
            if exclude_rows is not None:
                inside = (exclude_rows >= start) & (exclude_rows < stop)
                excluded = np.where(inside, exclude_rows - start, -1).astype(np.int32)
            found, common = shard.search_many(
                texts, k, exclude_rows=excluded, allow=None if allowed is None else allowed[start:stop]
            )
            rows.append(np.where(found >= 0, found + np.int32(start), -1).astype(np.int32))
            shared.append(common)
        all_rows, all_shared = np.concatenate(rows, 1), np.concatenate(shared, 1)
        order = np.lexsort((all_rows, -all_shared, all_rows < 0), axis=-1)[:, :k]
        return np.take_along_axis(all_rows, order, 1), np.take_along_axis(all_shared, order, 1)

    def search(self, text: NDArray[np.int32], k: int, *, allow: Allow | None = None) -> NDArray[np.int32]:
        """The rows that share most runs with one text, best first."""
        rows, _ = self.search_many(Ragged.from_rows([text]), k, allow=allow)
        return rows[0][rows[0] >= 0]


def _rows(tokens: Ragged, start: int, size: int) -> Ragged:
    offsets = tokens.offsets[start : start + size + 1]
    return Ragged(tokens.values[offsets[0] : offsets[-1]], offsets - offsets[0])


def _name(number: int) -> str:
    return f"shard-{number:04}"
