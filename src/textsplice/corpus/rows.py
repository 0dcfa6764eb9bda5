"""Rows of a CSV file with the number of the line each begins on."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from difflib import get_close_matches
from pathlib import Path
from typing import NamedTuple

from textsplice.corpus.lines import MAX_LINE_BYTES, read_lines
from textsplice.errors import CorpusError


class Row(NamedTuple):
    """The cells of a row; `line` is where it begins, which counts newlines inside quotes."""

    line: int
    cells: list[str]


def read_rows(path: Path) -> Iterator[Row]:
    """All rows, the header among them; blank lines are passed over."""
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
    """The names of the columns; an error if one is missing or stands twice."""
    first = next(read_rows(path), None)
    if first is None:
        raise CorpusError("the file is empty.", where=str(path))
    header = [name.strip() for name in first.cells]
    where = f"{path}:{first.line}"
    for number, name in enumerate(header, start=1):
        if not name:
            raise CorpusError(
                f"column {number} of the header has no name.",
                where=where,
                remedy="Name it or delete the column.",
            )
        if name in header[: number - 1]:
            raise CorpusError(f"the column {name!r} stands twice in the header.", where=where)
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
                remedy="A value with a comma in it must stand in quotes.",
            )
        yield row


def count_records(path: Path) -> int:
    """How many rows stand below the header."""
    return max(0, sum(1 for _ in read_rows(path)) - 1)


def text_column_of(columns: list[str], named: str | None, *, default: str, where: str) -> str | None:
    """The column of the text: the one a user named, else the usual one, if it is there."""
    if named is None:
        return default if default in columns else None
    if named in columns:
        return named
    nearest = get_close_matches(named, columns, n=1)
    raise CorpusError(
        f"there is no column {named!r} for the text"
        + (f"; did you mean {nearest[0]!r}?" if nearest else "."),
        where=where,
        remedy=f"The columns are {', '.join(columns)}.",
    )
