"""Files of generations: one JSON object per line, readable even if the writer was interrupted."""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, NamedTuple, cast

from textsplice.errors import InputError, StorageError
from textsplice.files import storage_error
from textsplice.parsing import parse_object
from textsplice.search.generation import FORMATS, Generation

ROW_STARTS = tuple(f'{{"format": "{name}"'.encode() for name in FORMATS)


class Written(NamedTuple):
    """What a file already holds: its complete rows, their places `file:line`, and their size in bytes."""

    rows: list[Mapping[str, object]]
    places: list[str]
    size: int

    def cut(self, path: Path) -> None:
        """Cuts off what follows the last complete row."""
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
    """The whole rows of a file whose writer may have stopped in the middle of the last one.

    What follows them must be the beginning of a row, since it is going to be cut off.
    """
    rows: list[Mapping[str, object]] = []
    places: list[str] = []
    size = 0
    if not path.exists():
        return Written(rows, places, size)
    try:
        with path.open("rb") as file:
            for number, line in enumerate(file, start=1):
                if not line.endswith(b"\n"):
                    _require_row_start(line, path)
                    break
                if line.strip():
                    rows.append(_parse(line, f"{path}:{number}"))
                    places.append(f"{path}:{number}")
                size += len(line)
    except OSError as error:
        raise StorageError(f"{error.strerror or error}.", where=str(path)) from error
    return Written(rows, places, size)


def made_otherwise(row: Mapping[str, object], expected: Mapping[str, object]) -> str | None:
    """How a row differs from `expected` (`Splicer.made`) in how it was made, as a clause; None if equal."""
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
    """Opens a file to add rows at its end, for one writer at a time."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        file = path.open("a", encoding="utf-8")
    except OSError as error:
        raise storage_error(error, path) from error
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        file.close()
        raise StorageError(
            "another process is writing to this file.", where=str(path), remedy="Name another file."
        ) from None
    except OSError:  # a pipe or a device, which can't be locked
        pass
    return file


def row_text(generation: Generation) -> str:
    """A generation as one line of a file."""
    return json.dumps(generation.to_dict(), ensure_ascii=False) + "\n"


def write_row(file: IO[str], generation: Generation, path: Path | None) -> None:
    """Writes one row and flushes it, so that finished rows are kept."""
    try:
        file.write(row_text(generation))
        file.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        raise storage_error(error, path or Path("standard output")) from error


def _require_row_start(line: bytes, path: Path) -> None:
    if not any(start.startswith(line[: len(start)]) for start in ROW_STARTS):
        remedy = "Name another file; this one was not changed."
        raise InputError("is not a file of generations.", where=str(path), remedy=remedy)


def _parse(line: bytes, where: str) -> Mapping[str, object]:
    return parse_object(line, InputError, where)
