"""Finished parts of bulk work, kept in a folder of ours until all are there.

`parts.json` makes the folder ours. `finished.jsonl` has a line for each part, which is written before the
part itself, so that every file is listed, whatever happens. A part counts if its file has the hash that its
line says. Nothing else is ever removed.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Generator, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from textsplice.errors import StorageError
from textsplice.files import atomic_path, atomic_write_text, storage_error
from textsplice.parsing import read_object
from textsplice.runs.ownership import locked, remove_listed, require_ours

FORMAT = "textsplice.parts/1"
ABOUT, FINISHED = "parts.json", "finished.jsonl"
REMEDY = "Delete the folder: its parts are made again."
_KEY = re.compile("[0-9a-f]{64}")


class Parts:
    """The results of parts by their keys."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._listed: dict[str, tuple[str, int]] = {}
        self._whole: set[str] = set()
        self.made = 0  # since it was opened

    @classmethod
    @contextmanager
    def opened(cls, folder: Path, *, keep: bool = False) -> Generator[Parts]:
        """Holds the folder for one process; if the block ends well, it is removed unless it is to be kept."""
        require_ours(folder, ours=(folder / ABOUT).is_file(), what="a folder of parts of ours", first=ABOUT)
        new = not folder.exists()
        busy = StorageError(
            "another process is doing this work.", where=str(folder), remedy="Wait until it ends."
        )
        with locked(folder, busy, ABOUT):
            parts = cls(folder)
            parts._start()
            try:
                yield parts
            except BaseException:
                if new and not parts._listed:
                    with suppress(StorageError):
                        parts.remove()
                raise
            if not keep:
                parts.remove()

    def __contains__(self, key: object, /) -> bool:
        if key in self._whole:
            return True
        if not isinstance(key, str) or key not in self._listed or self._read(key) is None:
            return False
        self._whole.add(key)
        return True

    def put(self, key: str, result: bytes) -> None:
        """Keeps a result."""
        digest = hashlib.sha256(result).hexdigest()
        line = json.dumps({"key": key, "sha256": digest, "bytes": len(result)}) + "\n"
        try:
            with (self.folder / FINISHED).open("a", encoding="utf-8") as file:
                file.write(line)
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise storage_error(error, self.folder) from error
        self._listed[key] = (digest, len(result))
        with atomic_path(self._path(key)) as temporary:
            temporary.write_bytes(result)
        self._whole.add(key)
        self.made += 1

    def get(self, key: str) -> bytes:
        """A result; `StorageError` if it is not there, or damaged."""
        found = self._read(key) if key in self._listed else None
        if found is None:
            raise StorageError("is missing or damaged.", where=str(self._path(key)), remedy=REMEDY)
        return found

    def results(self, keys: Iterable[str]) -> Iterator[bytes]:
        """Results one after the other."""
        return map(self.get, keys)

    def remove(self) -> None:
        """Removes what was listed, and the folder if nothing else is in it."""
        remove_listed(self.folder, [*(self._path(key).name for key in self._listed), FINISHED, ABOUT])
        with suppress(OSError):
            self.folder.rmdir()

    def _start(self) -> None:
        about = self.folder / ABOUT
        if about.exists():
            if read_object(about, StorageError, remedy=REMEDY).get("format") != FORMAT:
                raise StorageError("is of another version.", where=str(about), remedy=REMEDY)
            self._listed = dict(self._lines())
        else:
            atomic_write_text(about, json.dumps({"format": FORMAT}) + "\n")
        for key in self._listed:
            for partial in self.folder.glob(f".{self._path(key).name}.*.partial"):
                partial.unlink(missing_ok=True)

    def _lines(self) -> Iterator[tuple[str, tuple[str, int]]]:
        """What is listed; a line that was cut short says nothing, and the next one stands on its own."""
        path = self.folder / FINISHED
        try:
            text = path.read_text(encoding="utf-8", errors="replace") if path.exists() else ""
            if text and not text.endswith("\n"):
                with path.open("a", encoding="utf-8") as file:
                    file.write("\n")
        except OSError as error:
            raise storage_error(error, path) from error
        for line in text.splitlines():
            with suppress(ValueError, RecursionError):
                match json.loads(line):
                    case {"key": str(key), "sha256": str(digest), "bytes": int(size)} if _KEY.fullmatch(key):
                        yield key, (digest, size)
                    case _:
                        pass

    def _read(self, key: str) -> bytes | None:
        digest, size = self._listed[key]
        path = self._path(key)
        try:
            if path.is_symlink() or not path.is_file() or path.stat().st_size != size:
                return None
            found = path.read_bytes()
        except OSError:
            return None
        return found if hashlib.sha256(found).hexdigest() == digest else None

    def _path(self, key: str) -> Path:
        return self.folder / f"{key}.part"
