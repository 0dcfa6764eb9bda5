"""Rows of a CSV file, each with the number of its first line."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from textsplice.corpus.lines import MAX_LINE_BYTES, read_lines
from textsplice.errors import CorpusError


class Row(NamedTuple):
    """The cells of a row, and the number of its first line; newlines inside quotes count as lines."""

    line: int
    cells: list[str]


def read_rows(path: Path) -> Iterator[Row]:
    """All rows including the header; blank lines are skipped."""
    # The csv module's own limit of 131,072 characters is less than one long text.
    csv.field_size_limit(max(csv.field_size_limit(), MAX_LINE_BYTES))
    reader = csv.reader((text for _, text in read_lines(path)), strict=True)
    line = 1
    try:
        for cells in reader:
            if cells:
                yield Row(line, cells)
            line = reader.line_num + 1
    except csv.Error as error:
        unclosed = "unexpected end of data" in str(error)
        what = "a quote that opens in this row is never closed." if unclosed else f"{error}."
        raise CorpusError(what, where=f"{path}:{line}") from error


def read_header(path: Path) -> list[str]:
    """The names of the columns; an error if one is missing or appears twice."""
    first = next(read_rows(path), None)
    if first is None:
        raise CorpusError("the file is empty.", where=str(path))
    header = [name.strip() for name in first.cells]
    where = f"{path}:{first.line}"
    seen: set[str] = set()
    for number, name in enumerate(header, start=1):
        if not name:
            raise CorpusError(
                f"column {number} of the header has no name.",
                where=where,
                remedy="Name it or delete the column.",
            )
        if name in seen:
            raise CorpusError(f"the column {name!r} appears twice in the header.", where=where)
        seen.add(name)
    if len(header) == 1:
        for separator, called in ((";", "semicolons"), ("\t", "tabs")):
            if separator in header[0]:
                raise CorpusError(
                    f"the columns are separated by {called}.",
                    where=where,
                    remedy="Separate them by commas.",
                )
    return header


def read_records(path: Path, header: list[str]) -> Iterator[Row]:
    """The rows below the header, each as wide as the header."""
    rows = read_rows(path)
    next(rows, None)
    for row in rows:
        if len(row.cells) != len(header):
            raise CorpusError(
                f"the row has {len(row.cells)} cells, the header {len(header)}.",
                where=f"{path}:{row.line}",
                remedy="Put a value that has a comma in quotes.",
            )
        yield row


def count_records(path: Path) -> int:
    """How many rows there are below the header."""
    return max(0, sum(1 for _ in read_rows(path)) - 1)
