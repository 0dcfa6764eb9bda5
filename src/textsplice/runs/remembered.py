"""Files that were read and found to be sound, by their size and times, so that they need not be read again.

It is kept in the user's cache folder, one file for each folder of ours. If it is damaged or missing, content
is read. The time of the last change of a file (ctime) can't be set by a program, so a file that was changed
and given its old size and date is noticed. A disk that lost a bit is not, nor is somebody who changes a file
and forges this memory too: `--check` does not ask it.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import cast

MOST_FOLDERS = 256
# A file may change again within one tick of the clock that its times are taken from.
SETTLED = 2.0

Stamp = list[int | str]


class Remembered:
    """What is known of the files of one folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._stamps: dict[str, Stamp] | None = None

    def is_unchanged(self, path: Path, name: str, digest: str) -> bool:
        """Whether the file had this hash when it was last read, and has not changed since."""
        try:
            return self._known().get(name) == _stamp(path, digest)
        except OSError:
            return False

    def add(self, found: Mapping[str, str]) -> None:
        """Remembers files that were just read, by their names and hashes."""
        known = self._known()
        try:
            for name, digest in found.items():
                stamp = _stamp(self.folder / name, digest)
                if max(cast("list[int]", stamp[1:3])) / 1e9 < time.time() - SETTLED:
                    known[name] = stamp
            self._write(known)
        except OSError:  # no home, a full disk, a folder that is read only: content is read the next time too
            return

    def _known(self) -> dict[str, Stamp]:
        if self._stamps is None:
            try:
                path = self._path()
                read = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else None
            except (OSError, ValueError, RecursionError, RuntimeError):
                read = None
            self._stamps = cast("dict[str, Stamp]", read) if isinstance(read, dict) else {}
        return self._stamps

    def _path(self) -> Path:
        name = hashlib.sha256(os.fsencode(self.folder.resolve())).hexdigest()
        return cache_folder() / f"{name}.json"

    def _write(self, stamps: Mapping[str, Stamp]) -> None:
        try:
            path = self._path()
        except RuntimeError:  # there is no home
            return
        if not path.exists():
            _make_room(path.parent)
        temporary = path.with_name(f".{path.name}.{os.getpid()}.partial")
        try:
            temporary.write_text(json.dumps(stamps), encoding="utf-8")
            temporary.replace(path)
        finally:
            with suppress(OSError):
                temporary.unlink(missing_ok=True)


def cache_folder(name: str = "checked") -> Path:
    """Where it is kept: in `$XDG_CACHE_HOME`, else in `~/.cache`; `RuntimeError` if there is no home."""
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "textsplice" / name


def _make_room(folder: Path) -> None:
    """Removes the oldest files, so that one more is not too many."""
    folder.mkdir(parents=True, exist_ok=True)
    ours = sorted(folder.glob("?" * 64 + ".json"), key=lambda path: path.stat().st_mtime)
    for path in ours[: max(len(ours) - MOST_FOLDERS + 1, 0)]:
        path.unlink(missing_ok=True)


def _stamp(path: Path, digest: str) -> Stamp:
    found = path.stat()
    return [found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino, found.st_dev, digest]
