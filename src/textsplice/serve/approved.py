"""The file of approved texts: JSON lines that `textsplice add` takes.

Each line is written in one piece and reaches the disk before the answer is sent. A process that was killed
in the middle of a line leaves the beginning of one, which the next one cuts off. A line that is taken back
goes alone: a copy with all others, byte for byte, takes the place of the file; nothing else is changed.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import tempfile
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

    def remove(self, key: str) -> int | None:
        """Takes back the last line with this key; how many texts there are then, None if there is none.

        All others stay as they are. Until the file is replaced it is as it was, whatever happens.
        """
        if not self.path.exists():
            return None
        with self._opened() as file:
            count = self._mended(file)
            file.seek(0)
            lines = list(file)
            found = [at for at, line in enumerate(lines) if line.strip() and key_of(line) == key]
            if not found:
                return None
            size = sum(map(len, lines))
            del lines[found[-1]]
            self._replace(file, lines, size)
        return count - 1

    def last(self) -> tuple[int, list[dict[str, object]], list[str]]:
        """How many texts there are, the last of them, and the keys by which they can be taken back."""
        if not self.path.exists():
            return 0, [], []
        with self._opened() as file:
            self._mended(file)
            file.seek(0)
            lines = [line for line in file if line.strip()]
        shown = lines[-LAST:]
        rows = [cast("dict[str, object]", json.loads(line)) for line in shown]
        return len(lines), rows, [key_of(line) for line in shown]

    @contextmanager
    def _opened(self) -> Generator[IO[bytes]]:
        """The file, which no other process writes to meanwhile."""
        try:
            new = not self.path.exists()
            self.path.parent.mkdir(parents=True, exist_ok=True)
            if not new and not self.path.is_file():
                raise StorageError("is not a file.", where=str(self.path), remedy=_OTHER)
            with self._locked() as file:
                yield file
            if new:
                _sync_folder(self.path.parent)
        except OSError as error:
            raise storage_error(error, self.path) from error

    def _locked(self) -> IO[bytes]:
        """The file that has the path once it is locked; who waited may hold one that was replaced."""
        while True:
            descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
            file = os.fdopen(descriptor, "r+b")
            try:
                fcntl.flock(file, fcntl.LOCK_EX)
                if self.path.exists() and os.path.samestat(os.fstat(descriptor), self.path.stat()):
                    return file
            except BaseException:
                file.close()
                raise
            file.close()

    def _replace(self, file: IO[bytes], lines: list[bytes], size: int) -> None:
        """Puts a file with these lines in the place of the locked one, which had `size` bytes."""
        path = self.path.resolve()  # of a link, what it leads to
        descriptor, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
        try:
            with os.fdopen(descriptor, "wb") as copy:
                copy.writelines(lines)
                copy.flush()
                os.fchmod(copy.fileno(), os.fstat(file.fileno()).st_mode & 0o7777)
                os.fsync(copy.fileno())
            if os.fstat(file.fileno()).st_size != size:  # by somebody who does not lock it
                what = "was changed by another program meanwhile."
                raise StorageError(what, where=str(self.path), remedy="Try again.")
            Path(name).replace(path)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise
        _sync_folder(path.parent)

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


def key_of(line: bytes) -> str:
    """What names a line: the same bytes, the same key."""
    return hashlib.sha256(line.rstrip(b"\r\n")).hexdigest()


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
