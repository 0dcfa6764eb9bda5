"""The training texts a policy may splice from, with the index that finds them."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import cast

import numpy as np
from numpy.typing import NDArray

from textsplice.corpus.table import Table
from textsplice.errors import StorageError
from textsplice.files import atomic_write_text
from textsplice.neighbors.features import Features, features
from textsplice.neighbors.index import Hits, Index
from textsplice.ragged import Ragged
from textsplice.text import Tokenizer, tokenize

FORMAT = 1


@dataclass(frozen=True)
class Store:
    """Row `r` is the text `texts[r]` of the table `tables[table_of[r]]`, known to others as `ids[r]`."""

    ids: list[str]
    texts: list[str]
    tokens: Ragged  # masked, BEGIN … END
    table_of: NDArray[np.int32]
    tables: list[Table]
    offered: NDArray[np.bool_]  # which rows may be neighbours at all
    index: Index
    tokenizer: Tokenizer
    fold: frozenset[str]

    @classmethod
    def build(
        cls,
        *,
        ids: list[str],
        texts: list[str],
        tokens: Ragged,
        table_of: NDArray[np.int32],
        tables: list[Table],
        offered: NDArray[np.bool_],
        typicality: NDArray[np.float64],
        tokenizer: Tokenizer,
        fold: frozenset[str],
    ) -> Store:
        """Indexes the tables."""
        described = (_features(table, tokenizer, fold) for table in tables)
        index = Index.build(described, table_of, typicality)
        return cls(ids, texts, tokens, table_of, tables, offered, index, tokenizer, fold)

    def __len__(self) -> int:
        return len(self.ids)

    def features(self, table: Table) -> Features:
        """What the score sees of a table."""
        return _features(table, self.tokenizer, self.fold)

    def search(
        self,
        table: Table,
        k: int,
        *,
        exclude_table: bool = False,
        allow: NDArray[np.bool_] | Callable[[int], bool] | None = None,
    ) -> Hits:
        """The k nearest texts; `allow` filters inside the search, so k come back if there are k."""
        group = self.table_rows.get(table) if exclude_table else None
        return self.index.search(
            self.features(table), k, exclude_group=group, allow=self._also_offered(allow)
        )

    def _also_offered(
        self, allow: NDArray[np.bool_] | Callable[[int], bool] | None
    ) -> NDArray[np.bool_] | Callable[[int], bool]:
        if allow is None:
            return self.offered
        if callable(allow):
            return lambda row: bool(self.offered[row]) and allow(row)
        return self.offered & allow

    @cached_property
    def row_of(self) -> dict[str, int]:
        """Row by id."""
        return {name: row for row, name in enumerate(self.ids)}

    @cached_property
    def table_rows(self) -> dict[Table, int]:
        """Number of each distinct table."""
        return {table: row for row, table in enumerate(self.tables)}

    def save(self, folder: Path) -> None:
        """Writes the store; `store.json` comes last, so a folder that has it is whole."""
        from textsplice.arrow import int_column, ragged_column, text_column, write_columns

        write_columns(
            folder / "texts.parquet",
            {
                "id": text_column(self.ids),
                "text": text_column(self.texts),
                "table": int_column(self.table_of),
                "offered": int_column(self.offered.astype(np.int32)),
                "tokens": ragged_column(self.tokens),
            },
        )
        records = (json.dumps(table.to_record(), ensure_ascii=False) for table in self.tables)
        write_columns(folder / "tables.parquet", {"record": text_column(records)})
        self.index.save(folder / "index")
        about = {"format": FORMAT, "tokenizer": self.tokenizer, "fold": sorted(self.fold)}
        atomic_write_text(folder / "store.json", json.dumps(about, indent=1) + "\n")

    @classmethod
    def load(cls, folder: Path) -> Store:
        """Opens a saved store; the index is mapped into memory, not read."""
        from textsplice.arrow import column_ints, column_ragged, column_texts, read_columns

        try:
            about = cast("dict[str, object]", json.loads((folder / "store.json").read_text(encoding="utf-8")))
        except (OSError, ValueError) as error:
            raise StorageError(f"holds no store: {error}.", where=str(folder)) from error
        if about.get("format") != FORMAT:
            raise StorageError(
                f"is a store of format {about.get('format')!r}; this version reads {FORMAT}.",
                where=str(folder),
                remedy="Run `textsplice prepare` again.",
            )
        rows = read_columns(folder / "texts.parquet")
        records = column_texts(read_columns(folder / "tables.parquet")["record"])
        return cls(
            ids=column_texts(rows["id"]),
            texts=column_texts(rows["text"]),
            tokens=column_ragged(rows["tokens"]),
            table_of=column_ints(rows["table"]),
            tables=[Table.from_record(json.loads(record)) for record in records],
            offered=column_ints(rows["offered"]).astype(np.bool_),
            index=Index.load(folder / "index"),
            tokenizer=cast(Tokenizer, about["tokenizer"]),
            fold=frozenset(cast("list[str]", about["fold"])),
        )


def typicality(texts: Ragged) -> NDArray[np.float64]:
    """The mean relative frequency of each text's words: the tie-break between equally near tables."""
    if not len(texts):
        return np.zeros(0)
    counts = np.bincount(texts.values).astype(np.float64)
    frequency = (counts / counts.sum())[texts.values]
    # Row by row, so that equal texts have equal sums. No row is empty: BEGIN and END stand in all.
    return np.add.reduceat(frequency, texts.offsets[:-1]) / texts.lengths


def _features(table: Table, tokenizer: Tokenizer, fold: frozenset[str]) -> Features:
    return features(table, tokenize=lambda text: tokenize(text, tokenizer), fold=fold)
