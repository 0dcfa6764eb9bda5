"""Rows of a file of cells, CSV or TSV, each with the number of its first line."""

from __future__ import annotations

import csv
from collections import deque
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from textsplice.corpus.lines import MAX_LINE_BYTES, Line, scan_lines
from textsplice.errors import CorpusError

COMMA, TAB = ",", "\t"
# Spreadsheet programs write these where the comma is a decimal mark.
OTHER_DELIMITERS = (";", TAB)
_WIDTH = {
    COMMA: "Put a value that has a comma in quotes.",
    ";": "Put a value that has a semicolon in quotes.",
    TAB: "Put a value that has a tab in quotes.",
}


class Row(NamedTuple):
    """The cells of a row, and the number of its first line; newlines inside quotes count as lines.

    A row with a problem has no cells that could be used.
    """

    line: int
    cells: list[str]
    problem: CorpusError | None = None

    @property
    def is_blank(self) -> bool:
        """Whether nothing is in it: an empty line, or the `,,,` that spreadsheets leave behind."""
        return self.problem is None and not any(cell.strip() for cell in self.cells)


def scan_rows(path: Path, delimiter: str = COMMA) -> Iterator[Row]:
    """All rows including the header; blank ones are skipped. After one with a problem, the next is read."""
    # The csv module's own limit of 131,072 characters is less than one long text.
    csv.field_size_limit(max(csv.field_size_limit(), MAX_LINE_BYTES))
    lines = _Lines(path)
    reader = csv.reader(lines, delimiter=delimiter, strict=True)
    while True:
        line = lines.number + 1
        try:
            row = Row(line, next(reader))
        except StopIteration:
            return
        except csv.Error as error:
            row = Row(line, [], _unreadable(error, path, line, lines.number))
            if "unexpected end of data" in str(error):
                lines = _Lines(path, after=line)
                reader = csv.reader(lines, delimiter=delimiter, strict=True)
        if (problem := lines.problem()) is not None:
            row = Row(line, [], problem)
        if not row.is_blank:
            yield row


def scan_tab_rows(path: Path) -> Iterator[Row]:
    """The same for TSV, where a quote means something only around a whole cell.

    So `"Quiet," say guests.` is a text as it is, and a cell in quotes may hold tabs and newlines.
    """
    lines = _Lines(path)
    while (text := next(lines, None)) is not None:
        line = lines.number
        cells: list[str] = []
        closed = True
        pieces = _pieces(text)
        while pieces and closed:
            cell, closed = _whole_cell(pieces, lines)
            cells.append(_unquoted(cell))
        row = Row(line, cells, lines.problem())
        if not closed:
            row = Row(line, [], _never_closed(path, line))
            lines = _Lines(path, after=line)
        if not row.is_blank:
            yield row


class _Lines(Iterator[str]):
    """The texts of lines, for a parser that asks for as many as a row has; keeps the first problem."""

    def __init__(self, path: Path, after: int = 0) -> None:
        self._lines = islice(scan_lines(path), after, None)
        self._problem: CorpusError | None = None
        self.number = after
        """Of the line that was given last."""

    def __next__(self) -> str:
        line: Line = next(self._lines)
        self.number = line.number
        self._problem = self._problem or line.problem
        return line.text.replace("\0", "")

    def problem(self) -> CorpusError | None:
        """The first problem since this was last asked."""
        found, self._problem = self._problem, None
        return found


def _pieces(text: str) -> deque[str]:
    return deque(text.rstrip("\r\n").split(TAB))


def _whole_cell(pieces: deque[str], lines: Iterator[str]) -> tuple[str, bool]:
    """The next cell, and whether the quote that it may begin with is closed.

    If it is not closed in its piece, the cell goes on behind the tab, and on the next line.
    """
    first = pieces.popleft()
    if not first.startswith('"') or first.count('"') % 2 == 0:
        return first, True
    parts, size = [first], len(first)
    while size < MAX_LINE_BYTES:
        if pieces:
            parts.append(TAB)
        elif (text := next(lines, None)) is not None:
            parts.append("\n")
            pieces.extend(_pieces(text))
        else:
            break
        parts.append(piece := pieces.popleft())
        size += len(piece) + 1
        if piece.count('"') % 2:
            return "".join(parts), True
    return first, False


def _unquoted(cell: str) -> str:
    inside = cell[1:-1]
    is_quoted = len(cell) > 1 and cell[0] == cell[-1] == '"' and '"' not in inside.replace('""', "")
    return inside.replace('""', '"') if is_quoted else cell


def _unreadable(error: csv.Error, path: Path, line: int, last: int) -> CorpusError:
    """What the csv module says of a row, for people; `last` is the last line that it read for the row."""
    said, where = str(error), f"{path}:{line}"
    if "unexpected end of data" in said:
        return _never_closed(path, line)
    if "new-line character" in said:
        return CorpusError(
            "a carriage return stands where a line should end.",
            where=where,
            remedy="Save the file with the line ends of Unix or Windows.",
        )
    if "field larger" in said:
        return CorpusError(f"a cell is longer than {MAX_LINE_BYTES >> 20} MiB.", where=where)
    reaches = f"; so read, the row has lines {line:,} to {last:,}" if last > line else ""
    return CorpusError(
        f"there is text after the quote that closes a cell{reaches}.",
        where=where,
        remedy='Write a quote inside a cell twice: "".',
    )


def _never_closed(path: Path, line: int) -> CorpusError:
    return CorpusError(
        "a quote that opens in this row is never closed.",
        where=f"{path}:{line}",
        remedy="Close it, or write a quote inside a cell twice.",
    )


def delimiter_of(path: Path) -> str:
    """What separates the cells of a CSV file: commas, unless the header has none and has others."""
    first = next(scan_rows(path), None)
    if first is None or len(first.cells) != 1:
        return COMMA
    return next((other for other in OTHER_DELIMITERS if other in first.cells[0]), COMMA)


def header_of(first: Row | None, path: Path, where: str | None = None) -> list[str]:
    """The names of the columns; an error if one is missing or appears twice."""
    if first is None:
        raise CorpusError("the file is empty.", where=str(path))
    if first.problem is not None:
        raise first.problem
    header = [name.strip() for name in first.cells]
    while not header[-1]:  # there is a name, since the row is not blank
        header.pop()
    where = where or f"{path}:{first.line}"
    seen: set[str] = set()
    for number, name in enumerate(header, start=1):
        if not name:
            raise CorpusError(
                f"column {number} of the header has no name.",
                where=where,
                remedy="Name it or delete the column.",
            )
        if name in seen:
            raise CorpusError(
                f"the column {name!r} appears twice in the header.", where=where, remedy="Rename one of them."
            )
        seen.add(name)
    return header


def fitted(row: Row, header: list[str], where: str, delimiter: str = COMMA) -> Row:
    """A row as wide as the header; empty cells beyond it are left out, and others are a problem."""
    width = len(header)
    if row.cells == header:
        what = CorpusError("the row repeats the header.", where=where, remedy="Delete it.")
        return row._replace(problem=row.problem or what)
    if row.problem is not None or len(row.cells) == width:
        return row
    if len(row.cells) > width and not any(cell.strip() for cell in row.cells[width:]):
        return row._replace(cells=row.cells[:width])
    problem = CorpusError(
        f"the row has {len(row.cells)} cells, the header {width}.", where=where, remedy=_WIDTH[delimiter]
    )
    return row._replace(problem=problem)
