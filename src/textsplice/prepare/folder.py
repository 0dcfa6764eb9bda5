"""Reading a prepared folder: what training, search and `inspect` see of a corpus."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import cast

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from textsplice.arrow import column_ints, column_ragged, column_texts, read_columns
from textsplice.config import Config, load_config
from textsplice.corpus import Table
from textsplice.errors import StorageError
from textsplice.neighbors.store import Store
from textsplice.oracle import Splice
from textsplice.oracle.numbering import in_order
from textsplice.prepare.layout import Layout
from textsplice.prepare.manifest import Manifest
from textsplice.prepare.stages import read_records
from textsplice.ragged import Ragged
from textsplice.text import Vocabulary


@dataclass(frozen=True)
class PreparedSplit:
    """One split: examples, their tables, neighbours and derivations, row by row."""

    name: str
    ids: list[str]
    texts: list[str]
    tables: list[Table]
    table_tokens: Ragged
    table_segments: Ragged
    table_of: NDArray[np.int32]
    targets: Ragged
    unsaid: NDArray[np.int32]
    neighbors: NDArray[np.int32]
    splices: NDArray[np.int32]
    splice_offsets: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def costs(self) -> NDArray[np.int32]:
        """How many splices each derivation has."""
        return np.diff(self.splice_offsets).astype(np.int32)

    def neighbors_of(self, row: int) -> NDArray[np.int32]:
        """The store rows of an example's neighbours, best first."""
        found = self.neighbors[row]
        return found[found >= 0]

    def derivation(self, row: int) -> list[Splice]:
        """The least derivation of an example."""
        rows = self.splices[self.splice_offsets[row] : self.splice_offsets[row + 1]]
        return [Splice(*cast("list[int]", values)) for values in rows.tolist()]


@dataclass(frozen=True)
class Prepared:
    """A prepared folder."""

    layout: Layout
    config: Config
    manifest: Manifest

    @classmethod
    def open(cls, folder: Path | str) -> Prepared:
        """Opens a folder that `prepare` finished."""
        layout = Layout(Path(folder))
        if not layout.vocabulary.is_file() or not (layout.folder / "manifest.json").is_file():
            raise StorageError(
                "is not a finished prepared folder.",
                where=str(folder),
                remedy="Run `textsplice prepare CONFIG`.",
            )
        return cls(layout, load_config(layout.config), Manifest(layout.folder))

    @property
    def folder(self) -> Path:
        """The folder itself."""
        return self.layout.folder

    @property
    def key(self) -> str:
        """A hash of everything this folder was made from."""
        return self.manifest.key()

    @cached_property
    def vocabulary(self) -> Vocabulary:
        """Words and which of them may be generated."""
        return Vocabulary.load(self.layout.vocabulary)

    @cached_property
    def store(self) -> Store:
        """The training texts that may be spliced from."""
        return Store.load(self.layout.store)

    @property
    def splits(self) -> tuple[str, ...]:
        """The names of the splits."""
        return self.config.corpus.splits

    def split(self, name: str) -> PreparedSplit:
        """Reads one split."""
        if name not in self.splits:
            raise StorageError(
                f"has no split {name!r}; it has {', '.join(self.splits)}.", where=str(self.folder)
            )
        layout = self.layout
        texts = read_columns(layout.texts(name), ["id", "text"])
        encoded = read_columns(layout.encoded_texts(name))
        tables = read_columns(layout.encoded_tables(name))
        neighbors = column_ragged(_parts(layout.neighbors, name)["neighbors"])
        splices = column_ragged(_parts(layout.derivations, name)["splices"])
        return PreparedSplit(
            name=name,
            ids=column_texts(texts["id"]),
            texts=column_texts(texts["text"]),
            tables=read_records(layout.tables(name)),
            table_tokens=column_ragged(tables["tokens"]),
            table_segments=column_ragged(tables["segments"]),
            table_of=column_ints(encoded["table"]),
            targets=column_ragged(encoded["tokens"]),
            unsaid=column_ints(encoded["unsaid"]),
            neighbors=neighbors.values.reshape(len(neighbors), -1),
            splices=splices.values.reshape(-1, 5),
            splice_offsets=splices.offsets // 5,
        )

    def about(self) -> dict[str, object]:
        """The manifest as plain data."""
        return cast(
            "dict[str, object]", json.loads((self.folder / "manifest.json").read_text(encoding="utf-8"))
        )


def _parts(path_of: Callable[[str, int], Path], split: str) -> pa.Table:
    tables: list[pa.Table] = []
    while (path := path_of(split, len(tables))).is_file():
        tables.append(read_columns(path))
    return pa.concat_tables(tables)


def sources_of(
    split: PreparedSplit, row: int, store: Store, vocabulary: Vocabulary
) -> Sequence[NDArray[np.int32]]:
    """All sources of an example, each at its number: the table, the neighbors, every word."""
    return in_order(
        split.table_tokens[split.table_of[row]],
        (store.tokens[neighbor] for neighbor in split.neighbors_of(row)),
        np.arange(len(vocabulary), dtype=np.int32)[:, None],
    )
