"""Reads filled sheets: the marks of each rater, and who did not finish."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, cast

from textsplice.corpus.missing import missing_file
from textsplice.errors import InputError
from textsplice.evaluate.ratings.items import CRITERIA, HIGHEST, LOWEST
from textsplice.parsing import read_object, unreadable


class Rating(NamedTuple):
    """One mark."""

    rater: int
    example: int
    system: str
    criterion: str
    mark: int


@dataclass(frozen=True, slots=True)
class Ratings:
    """All marks of the raters who finished, and why the others are left out.

    `empty` are files without a row, which don't say which rater they belong to.
    """

    marks: tuple[Rating, ...]
    raters: tuple[int, ...]
    excluded: dict[int, str]
    empty: tuple[str, ...] = ()

    @property
    def systems(self) -> list[str]:
        """The systems, by name."""
        return sorted({mark.system for mark in self.marks})


class _Item(NamedTuple):
    rater: int
    example: int
    system: str


def read_ratings(key: Path, files: Sequence[Path]) -> Ratings:
    """Reads filled CSV files. A rater who left out a mark is excluded entirely; empty files are skipped."""
    items = _read_key(key)
    expected: dict[int, int] = {}
    for item in items.values():
        expected[item.rater] = expected.get(item.rater, 0) + 1
    marks: dict[int, list[Rating]] = {}
    excluded: dict[int, str] = {}
    empty: list[str] = []
    for path in files:
        sheet = _read_sheet(path, items)
        if sheet is None:
            empty.append(str(path))
            continue
        rater, found, blank = sheet
        if rater in marks or rater in excluded:
            raise InputError(f"rater {rater + 1} has two files.", where=str(path))
        wanted = expected[rater] * len(CRITERIA)
        if blank or len(found) < wanted:
            excluded[rater] = f"{len(found):,} of {wanted:,} marks were given"
        else:
            marks[rater] = found
    if not marks:
        raise InputError("no rater finished, so there is nothing to analyze.")
    together = tuple(mark for rater in sorted(marks) for mark in marks[rater])
    return Ratings(together, tuple(sorted(marks)), excluded, tuple(empty))


def _read_key(path: Path) -> dict[str, _Item]:
    if not path.is_file():
        raise missing_file(path, remedy="`ratings make` writes it next to the sheets.")
    found: dict[str, _Item] = {}
    items = read_object(path, InputError).get("items")
    for row in cast("list[object]", items) if isinstance(items, list) else [None]:
        match row:
            case {"item": str(item), "rater": int(rater), "example": int(example), "system": str(system)}:
                found[item] = _Item(rater, example, system)
            case _:
                raise InputError("is not a key written by `ratings make`.", where=str(path))
    return found


def _read_sheet(path: Path, items: dict[str, _Item]) -> tuple[int, list[Rating], int] | None:
    """The rater, the marks, and how many are blank; None if there is no row."""
    if not path.is_file():
        raise missing_file(path)
    # Spreadsheet programs save in various encodings. Items and marks are ASCII, and texts are not read back.
    try:
        text = path.read_bytes().decode("utf-8-sig", errors="replace")
    except OSError as error:
        raise unreadable(error, path, InputError) from error
    if not text.strip():
        return None
    rows = csv.DictReader(io.StringIO(text, newline=""))
    try:
        return _read_marks(rows, items, path)
    except csv.Error as error:
        raise InputError(f"is not CSV: {error}.", where=f"{path}:{rows.line_num}") from error


def _read_marks(
    rows: csv.DictReader[str], items: dict[str, _Item], path: Path
) -> tuple[int, list[Rating], int] | None:
    header = rows.fieldnames or []
    for column in ("item", *CRITERIA):
        if column not in header:
            raise InputError(f"there is no column {column!r}.", where=f"{path}:1")
    raters: set[int] = set()
    seen: set[str] = set()
    found: list[Rating] = []
    blank = 0
    for row in rows:
        where = f"{path}:{rows.line_num}"
        name = (row["item"] or "").strip()
        if name not in items:
            raise InputError(f"the item {name!r} is not in the key.", where=where)
        if name in seen:
            raise InputError(f"the item {name!r} appears twice.", where=where)
        seen.add(name)
        item = items[name]
        raters.add(item.rater)
        for criterion in CRITERIA:
            mark = _mark(row[criterion], criterion, where)
            if mark is None:
                blank += 1
            else:
                found.append(Rating(item.rater, item.example, item.system, criterion, mark))
    if not seen:
        return None
    if len(raters) != 1:
        raise InputError("a file must hold the items of one rater.", where=str(path))
    return raters.pop(), found, blank


def _mark(text: str | None, criterion: str, where: str) -> int | None:
    stripped = (text or "").strip()
    if not stripped:
        return None
    if stripped not in {str(mark) for mark in range(LOWEST, HIGHEST + 1)}:
        raise InputError(f"{criterion} is {stripped!r}, not a mark from {LOWEST} to {HIGHEST}.", where=where)
    return int(stripped)
