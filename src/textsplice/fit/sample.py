"""A part of a file that is too large for the minutes there are, with its rows as they are."""

from __future__ import annotations

import csv
import hashlib
import io
import json
from collections.abc import Iterable, Iterator
from pathlib import Path

from textsplice.errors import CorpusError, InputError
from textsplice.parsing import unreadable

DELIMITERS = {".csv": ",", ".tsv": "\t"}
LINES = ".jsonl"
TEXT = "text"  # the column of the text, unless another is named


def sampled(source: str, text_column: str | None, limit: int) -> tuple[str, int, int]:
    """About `limit` rows of a CSV, TSV or JSONL file, all rows of a record or none; and how many of how many.

    Which ones depends on nothing but the records.
    """
    path = Path(source)
    if path.suffix.lower() not in (*DELIMITERS, LINES) or not path.is_file():
        raise InputError(
            f"a part of {source} can't be taken.",
            where="--limit",
            remedy="It is for a .csv, .tsv or .jsonl file. Make the corpus smaller, or leave --limit out.",
        )
    column = text_column or TEXT
    try:
        total = sum(1 for _ in _rows(path, column))
        kept = [row for record, row in _rows(path, column) if _place(record) * total < limit]
    except (OSError, UnicodeDecodeError, csv.Error, ValueError) as error:
        if isinstance(error, OSError):
            raise unreadable(error, path, CorpusError) from error
        raise CorpusError(f"can't be read: {error}.", where=str(path)) from error
    head = _header(path)
    return head + "".join(kept), len(kept), total


def _rows(path: Path, text_column: str) -> Iterator[tuple[str, str]]:
    """Each row as its record, without the text, and as it is written."""
    if path.suffix.lower() == LINES:
        with path.open(encoding="utf-8-sig") as file:
            for line in file:
                if line.strip():
                    yield _record(line, text_column), line if line.endswith("\n") else f"{line}\n"
        return
    delimiter = DELIMITERS[path.suffix.lower()]
    with path.open(encoding="utf-8-sig", newline="") as file:
        rows = csv.reader(file, delimiter=delimiter)
        header = next(rows, [])
        texts = {place for place, name in enumerate(header) if name.strip() in (text_column, "id")}
        for cells in rows:
            record = [cell for place, cell in enumerate(cells) if place not in texts]
            yield "\x1f".join(record), _written(cells, delimiter)


def _record(line: str, text_column: str) -> str:
    data: object = json.loads(line)
    if not isinstance(data, dict):
        return line
    kept = {key: value for key, value in data.items() if key not in (text_column, "id")}
    return json.dumps(kept, sort_keys=True)


def _header(path: Path) -> str:
    if path.suffix.lower() == LINES:
        return ""
    delimiter = DELIMITERS[path.suffix.lower()]
    with path.open(encoding="utf-8-sig", newline="") as file:
        return _written(next(csv.reader(file, delimiter=delimiter), []), delimiter)


def _written(cells: Iterable[str], delimiter: str) -> str:
    file = io.StringIO()
    csv.writer(file, delimiter=delimiter, lineterminator="\n").writerow(cells)
    return file.getvalue()


def _place(record: str) -> float:
    """A number from 0 up to 1 that a record always has."""
    digest = hashlib.sha256(record.encode("utf-8", "surrogatepass")).digest()
    return int.from_bytes(digest[:8]) / 2**64
