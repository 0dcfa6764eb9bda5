"""A part of a file that is too large for the minutes there are, with its rows as they are."""

from __future__ import annotations

import csv
import hashlib
import io
import json
from collections.abc import Iterable, Iterator
from pathlib import Path

from textsplice.corpus.lines import read_lines
from textsplice.corpus.rows import TAB, Row, delimiter_of, header_of, scan_rows, scan_tab_rows
from textsplice.errors import CorpusError, InputError
from textsplice.parsing import unreadable

CELLS, LINES = (".csv", ".tsv"), ".jsonl"
TEXT = "text"  # the column of the text, unless another is named


def sampled(source: str, text_column: str | None, limit: int) -> tuple[str, int, int]:
    """About `limit` rows of a CSV, TSV or JSONL file, all rows of a record or none; and how many of how many.

    Which ones depends on nothing but the records. The file is read, and refused, as it is without a limit.
    """
    path = Path(source)
    if path.suffix.lower() not in (*CELLS, LINES) or not path.is_file():
        raise InputError(
            f"a part of {source} can't be taken.",
            where="--limit",
            remedy="It is for a .csv, .tsv or .jsonl file. Make the corpus smaller, or leave --limit out.",
        )
    read = _lines if path.suffix.lower() == LINES else _cells
    try:
        total = sum(1 for _ in read(path, text_column or TEXT)) - 1
        head, *kept = (
            row
            for record, row in read(path, text_column or TEXT)
            if record is None or _place(record) * total < limit
        )
    except OSError as error:
        raise unreadable(error, path, CorpusError) from error
    return head + "".join(kept), len(kept), total


def _cells(path: Path, text_column: str) -> Iterator[tuple[str | None, str]]:
    """The header, and each row as its record, without the text, and as it is written."""
    is_tsv = path.suffix.lower() == ".tsv"
    delimiter = TAB if is_tsv else delimiter_of(path)
    rows = scan_tab_rows(path) if is_tsv else scan_rows(path, delimiter)
    header = header_of(first := next(rows, None), path)
    yield None, _written(first.cells if first else [], delimiter)
    apart = {place for place, name in enumerate(header) if name in (text_column, "id")}
    for row in map(_readable, rows):
        record = (cell for place, cell in enumerate(row.cells) if place not in apart)
        yield "\x1f".join(record), _written(row.cells, delimiter)


def _readable(row: Row) -> Row:
    if row.problem is not None:
        raise row.problem
    return row


def _lines(path: Path, text_column: str) -> Iterator[tuple[str | None, str]]:
    """The same of JSON lines, whose header is nothing."""
    yield None, ""
    for number, line in read_lines(path):
        if line.strip():
            yield (
                _record(line, text_column, f"{path}:{number}"),
                line if line.endswith("\n") else f"{line}\n",
            )


def _record(line: str, text_column: str, where: str) -> str:
    try:
        data: object = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise CorpusError(f"is not JSON: {error}.", where=where) from error
    if not isinstance(data, dict):
        return line
    kept = {key: value for key, value in data.items() if key not in (text_column, "id")}
    return json.dumps(kept, sort_keys=True)


def _written(cells: Iterable[str], delimiter: str) -> str:
    file = io.StringIO()
    csv.writer(file, delimiter=delimiter, lineterminator="\n").writerow(cells)
    return file.getvalue()


def _place(record: str) -> float:
    """A number from 0 up to 1 that a record always has."""
    digest = hashlib.sha256(record.encode("utf-8", "surrogatepass")).digest()
    return int.from_bytes(digest[:8]) / 2**64
