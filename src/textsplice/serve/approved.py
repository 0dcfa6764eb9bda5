"""The file of approved texts: JSON lines that `textsplice add` takes.

Each line is written in one piece and reaches the disk before the answer is sent. A process that was killed
in the middle of a line leaves the beginning of one, which the next one cuts off; nothing else is changed.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, cast

from textsplice.errors import StorageError
from textsplice.files import storage_error
from textsplice.visible import escaped_json

START = b'{"table": '  # of every line
LAST = 100  # rows that are shown
_OTHER = "Name another file with --approved; this one was not changed."


class ApprovedFile:
    """Texts that people approved, in the order in which they did."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def check(self) -> int:
        """How many texts there are; `StorageError` if the file is there and is none of ours."""
        if not self.path.exists():
            return 0
        with self._opened() as file:
            return self._mended(file)

    def add(self, row: Mapping[str, object]) -> int:
        """Adds one text with its record; how many there are now. It is on the disk when this returns."""
        line = escaped_json(json.dumps(row, ensure_ascii=False)).encode() + b"\n"
        if not line.startswith(START):
            raise ValueError("a row begins with its table")
        with self._opened() as file:
            count = self._mended(file)
            end = file.seek(0, os.SEEK_END)
            try:
                file.write(line)
                file.flush()
                os.fsync(file.fileno())
            except OSError:
                file.truncate(end)
                raise
        return count + 1

    def last(self) -> tuple[int, list[dict[str, object]]]:
        """How many texts there are, and the last of them."""
        if not self.path.exists():
            return 0, []
        with self._opened() as file:
            self._mended(file)
            file.seek(0)
            lines = [line for line in file if line.strip()]
        return len(lines), [cast("dict[str, object]", json.loads(line)) for line in lines[-LAST:]]

    @contextmanager
    def _opened(self) -> Generator[IO[bytes]]:
        """The file, which no other process writes to meanwhile."""
        try:
            new = not self.path.exists()
            self.path.parent.mkdir(parents=True, exist_ok=True)
            if not new and not self.path.is_file():
                raise StorageError("is not a file.", where=str(self.path), remedy=_OTHER)
            descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
            with os.fdopen(descriptor, "r+b") as file:
                fcntl.flock(file, fcntl.LOCK_EX)
                yield file
            if new:
                _sync_folder(self.path.parent)
        except OSError as error:
            raise storage_error(error, self.path) from error

    def _mended(self, file: IO[bytes]) -> int:
        """How many rows there are; what is left of one that was never finished is cut off."""
        file.seek(0)
        count = end = 0
        for line in file:
            whole = line.endswith(b"\n")
            if _is_row(line):
                count += 1
            elif line.strip() and (whole or not _is_start(line)):
                where = f"{self.path}:{count + 1}"
                raise StorageError("is not a row of approved texts.", where=where, remedy=_OTHER)
            elif not whole:
                file.truncate(end)
                break
            end += len(line)
            if not whole:
                file.seek(0, os.SEEK_END)
                file.write(b"\n")
                file.flush()
                break
        return count


def _is_row(line: bytes) -> bool:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError):
        return False
    if not isinstance(row, dict):
        return False
    known = cast("dict[str, object]", row)
    return isinstance(known.get("table"), dict) and isinstance(known.get("text"), str)


def _is_start(line: bytes) -> bool:
    """Whether it may be the beginning of a line of ours."""
    return line.startswith(START) or START.startswith(line)


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
