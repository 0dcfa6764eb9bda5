"""Generations as a spreadsheet, for people who only want the texts: one row each, without provenance.

The columns are `id`, `text`, `status`, `reason`, `unchecked` and the fields of the records. A field with the
name of one of the first five is called `table.NAME`.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO

from textsplice.search.generation import Generation
from textsplice.search.rows import write_text
from textsplice.visible import visible_lines

DELIMITERS: Mapping[str, str] = {".csv": ",", ".tsv": "\t"}
"""The endings of files that are written so."""
COLUMNS = ("id", "text", "status", "reason", "unchecked")
SEPARATOR = "|"
FORMULA = ("=", "+", "-", "@", "＝", "＋", "－", "＠")


def is_spreadsheet(path: Path | None) -> bool:
    """Whether the name of a file asks for CSV or TSV."""
    return path is not None and path.suffix.lower() in DELIMITERS


class Spreadsheet:
    """Writes generations to a file of cells; the header comes with the first."""

    def __init__(self, file: IO[str], path: Path, fields: Sequence[str]) -> None:
        self._file, self._path, self._fields = file, path, tuple(fields)
        self._delimiter = DELIMITERS[path.suffix.lower()]
        self._is_new = True

    def write(self, generation: Generation) -> None:
        """Writes one row and flushes it."""
        if self._is_new:
            named = [f"table.{name}" if name in COLUMNS else name for name in self._fields]
            self._write([*COLUMNS, *named])
            self._is_new = False
        values = dict(generation.table.fields)
        unchecked = "; ".join(f"{name}: {value}" for name, value in generation.unchecked)
        own = [generation.id, generation.text, generation.status, generation.reason or ""]
        self._write([*own, unchecked, *(joined(values.get(name, ())) for name in self._fields)])

    def _write(self, cells: Sequence[str]) -> None:
        write_text(self._file, visible_lines(row_of_cells(cells, self._delimiter)), self._path)


def joined(values: Sequence[str]) -> str:
    """The values of a field in one cell, as `corpus.lists` reads them back."""
    if len(values) > 1 and any(SEPARATOR in value for value in values):
        return json.dumps(list(values), ensure_ascii=False)
    return SEPARATOR.join(values)


def row_of_cells(cells: Sequence[str], delimiter: str = ",") -> str:
    """One row. A cell that a spreadsheet would take for a formula gets a `'` before it."""
    file = io.StringIO()
    csv.writer(file, delimiter=delimiter, lineterminator="\n").writerow(map(plain_cell, cells))
    return file.getvalue()


def unquoted(cell: str) -> str:
    """The text of a cell that `plain_cell` wrote, but for its line ends."""
    return cell[1:] if cell.startswith("'") and plain_cell(cell[1:]) == cell else cell


def plain_cell(text: str) -> str:
    """A cell that no spreadsheet program takes for a formula."""
    # The csv module leaves a lone carriage return without quotes, where it would begin a row.
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    # Spreadsheets look past white space and take full-width signs for the others.
    bare = text.lstrip()
    return f"'{text}" if bare.startswith(FORMULA) or text.startswith(("\t", "\n")) else text
