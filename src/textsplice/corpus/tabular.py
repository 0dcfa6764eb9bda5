"""Files of cells: one column per field, one for the text, and perhaps an `id`."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from functools import cached_property
from typing import NamedTuple

from textsplice.corpus.e2e import E2EReader, is_e2e
from textsplice.corpus.lists import (
    ListColumns,
    find_lists,
    parse_lists,
    require_columns,
    unescaped,
    values_of,
)
from textsplice.corpus.reader import Reader
from textsplice.corpus.rows import (
    COMMA,
    TAB,
    Row,
    delimiter_of,
    fitted,
    header_of,
    scan_rows,
    scan_tab_rows,
)
from textsplice.corpus.table import Example, Table
from textsplice.errors import CorpusError


class _Layout(NamedTuple):
    """What each column is: its place, and for a field its name and what separates its values."""

    text_at: int | None
    id_at: int | None
    fields: list[tuple[int, str, str | None]]


class CellsReader(Reader):
    """Reads one table per row; an empty cell is an empty field, and a cell of a list has several values."""

    @cached_property
    def header(self) -> list[str]:
        """The names of the columns; an error if one is missing or appears twice."""
        return self.read_header()

    @abstractmethod
    def read_header(self) -> list[str]:
        """The same, read from the file."""

    @abstractmethod
    def records(self) -> Iterator[Row]:
        """The rows below the header, each as wide as the header or with a problem."""

    @property
    def where(self) -> str:
        """Where the header is, for errors."""
        return f"{self.path}:1"

    def columns(self) -> list[str]:
        return self.header

    def count(self) -> int:
        return sum(1 for _ in self.records())

    def find_lists(self) -> ListColumns:
        rows = (row.cells for row in self.records() if row.problem is None)
        return find_lists(self.header, rows, [self._text_column() or "", "id"])

    def check_lists(self, columns: ListColumns) -> None:
        require_columns(columns, self.header, self.where)

    def _text_column(self) -> str | None:
        return self.options.text_column_among(self.header, usual="text", where=self.where)

    def _layout(self) -> _Layout:
        header, text_column = self.header, self._text_column()
        text_at = None if text_column is None else header.index(text_column)
        id_at = header.index("id") if "id" in header else None
        lists = parse_lists(self.options.lists)
        fields = [(at, name, lists.get(name)) for at, name in enumerate(header) if at not in (text_at, id_at)]
        if not fields:
            raise CorpusError(
                "the table has no field.",
                where=self.where,
                remedy=f"The header {','.join(header)!r} needs a column for each field.",
            )
        return _Layout(text_at, id_at, fields)

    def examples(self) -> Iterator[Example]:
        text_at, id_at, fields = self._layout()
        for number, row in enumerate(self.records(), start=1):
            if row.problem is not None:
                self.refuse(row.problem)
                continue
            cells = row.cells
            table = Table(tuple((name, values_of(cells[at], separator)) for at, name, separator in fields))
            given_id = "" if id_at is None else cells[id_at].strip()
            text = "" if text_at is None else unescaped(cells[text_at])
            yield Example(given_id or self.id_of(number), table, text if text.strip() else None)


class CsvReader(CellsReader):
    """Reads CSV, plain or gzipped; cells are separated by commas or, if the header has none, by semicolons
    or tabs. A file of E2E's columns is recognized and read as such."""

    @cached_property
    def delimiter(self) -> str:
        """What separates the cells."""
        return delimiter_of(self.path)

    def read_header(self) -> list[str]:
        return header_of(next(self._rows(), None), self.path)

    def records(self) -> Iterator[Row]:
        rows = self._rows()
        next(rows, None)
        header = self.header
        return (fitted(row, header, f"{self.path}:{row.line}", self.delimiter) for row in rows)

    def examples(self) -> Iterator[Example]:
        return super().examples() if self._e2e is None else self._e2e.examples()

    def find_lists(self) -> ListColumns:
        return super().find_lists() if self._e2e is None else {}

    @property
    def _e2e(self) -> E2EReader | None:
        if self.delimiter != COMMA or not is_e2e(self.header, self.options.text_column):
            return None
        reader = E2EReader(self.path, self.split, self.options)
        reader.skipped = self.skipped
        return reader

    def _rows(self) -> Iterator[Row]:
        return scan_rows(self.path, self.delimiter)


class TsvReader(CsvReader):
    """Reads TSV, plain or gzipped."""

    @cached_property
    def delimiter(self) -> str:
        return TAB

    def _rows(self) -> Iterator[Row]:
        return scan_tab_rows(self.path)
