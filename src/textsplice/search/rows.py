"""Files of generations: one JSON object a line, readable however the writer ended."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, NamedTuple, cast

from textsplice.errors import InputError, StorageError
from textsplice.files import storage_error
from textsplice.search.generation import Generation


class Written(NamedTuple):
    """What a file already holds: its whole rows, their places `file:line`, and the bytes they take."""

    rows: list[Mapping[str, object]]
    places: list[str]
    size: int

    def cut(self, path: Path) -> None:
        """Cuts off what follows the last whole row."""
        try:
            if path.exists():
                os.truncate(path, self.size)
        except OSError as error:
            raise storage_error(error, path) from error


def read_generations(path: Path) -> Iterator[tuple[str, Generation]]:
    """The generations of a file, each with its place `file:line`."""
    try:
        with path.open("rb") as file:
            for number, line in enumerate(file, start=1):
                if line.strip():
                    where = f"{path}:{number}"
                    yield where, Generation.from_dict(_parse(line, where), where)
    except OSError as error:
        raise StorageError(f"{error.strerror or error}.", where=str(path)) from error


def already_written(path: Path) -> Written:
    """The whole rows of a file that a writer may have left in the middle of the last one."""
    rows: list[Mapping[str, object]] = []
    places: list[str] = []
    size = 0
    if not path.exists():
        return Written(rows, places, size)
    try:
        with path.open("rb") as file:
            for number, line in enumerate(file, start=1):
                if not line.endswith(b"\n"):
                    break
                if line.strip():
                    rows.append(_parse(line, f"{path}:{number}"))
                    places.append(f"{path}:{number}")
                size += len(line)
    except OSError as error:
        raise StorageError(f"{error.strerror or error}.", where=str(path)) from error
    return Written(rows, places, size)


def made_otherwise(row: Mapping[str, object], expected: Mapping[str, object]) -> str | None:
    """How a row was made otherwise than `expected` says (`Splicer.made`), as a clause; None if it was not."""
    for key, now in expected.items():
        before = row.get(key)
        if before == now:
            continue
        if key == "rules":
            return "under other rules"
        if isinstance(before, Mapping) and isinstance(now, Mapping):
            there, here = cast("Mapping[str, object]", before), cast("Mapping[str, object]", now)
            differing = [name for name in (*here, *there) if there.get(name) != here.get(name)]
            return f"{key}.{differing[0]} was {there.get(differing[0])!r}, not {here.get(differing[0])!r}"
        return f"{key} was {before!r}, not {now!r}" if before is not None else f"it does not say its {key}"
    return None


def open_rows(path: Path) -> IO[str]:
    """Opens a file to add rows at its end."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        return path.open("a", encoding="utf-8")
    except OSError as error:
        raise storage_error(error, path) from error


def row_text(generation: Generation) -> str:
    """A generation as one line of a file."""
    return json.dumps(generation.to_dict(), ensure_ascii=False) + "\n"


def write_row(file: IO[str], generation: Generation, path: Path | None) -> None:
    """Writes one row and hands it to the system, so that finished work is never lost."""
    try:
        file.write(row_text(generation))
        file.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        raise storage_error(error, path or Path("standard output")) from error


def _parse(line: bytes, where: str) -> Mapping[str, object]:
    try:
        row = json.loads(line)
    except ValueError as error:
        raise InputError(f"is not JSON: {error}.", where=where) from error
    if not isinstance(row, dict):
        raise InputError("is not a JSON object.", where=where)
    return cast("Mapping[str, object]", row)
