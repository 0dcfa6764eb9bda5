"""The tables of a store, which stay records in Arrow's memory until they are asked for."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import overload

import pyarrow as pa

from textsplice.arrow import Texts, text_column, undamaged
from textsplice.corpus.splits import table_digest
from textsplice.corpus.table import Table

AT_ONCE = 4096


class Tables(Sequence[Table]):
    """Tables as they are in a file; a million of them would take gigabytes as Python's objects."""

    def __init__(self, records: pa.ChunkedArray, path: Path) -> None:
        self.records, self._path = Texts(records), path

    def plus(self, more: Sequence[Table]) -> Tables:
        """With more tables after these."""
        return Tables(pa.chunked_array([self.records.column, records_of(more)]), self._path)

    def __len__(self) -> int:
        return len(self.records)

    @overload
    def __getitem__(self, index: int) -> Table: ...
    @overload
    def __getitem__(self, index: slice) -> list[Table]: ...
    def __getitem__(self, index: int | slice) -> Table | list[Table]:
        with undamaged(self._path):
            if isinstance(index, slice):
                return [_table(record) for record in self.records[index]]
            return _table(self.records[int(index)])

    def __iter__(self) -> Iterator[Table]:
        for first in range(0, len(self), AT_ONCE):
            yield from self[first : first + AT_ONCE]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and list(self) == list(other)

    __hash__ = None  # pyright: ignore[reportAssignmentType]


class TableNumbers(Mapping[Table, int]):
    """The number of each of some tables, known by a hash of what it says."""

    def __init__(self, tables: Sequence[Table]) -> None:
        self._tables = tables
        self._numbers = {table_digest(table): number for number, table in enumerate(tables)}

    def __getitem__(self, table: Table) -> int:
        return self._numbers[table_digest(table)]

    def __iter__(self) -> Iterator[Table]:
        return iter(self._tables)

    def __len__(self) -> int:
        return len(self._numbers)


def records_of(tables: Sequence[Table]) -> pa.Array:
    """Tables as a column of a file; what is still a record stays as it is."""
    if isinstance(tables, Tables):
        return tables.records.column
    return text_column(json.dumps(table.to_record(), ensure_ascii=False) for table in tables)


def _table(record: str) -> Table:
    return Table.from_record(json.loads(record))
