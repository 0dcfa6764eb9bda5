"""Which parts of a prepared folder are done, and from what they were made."""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import cast

from textsplice.errors import StorageError
from textsplice.files import atomic_write_text, file_hash

FORMAT = 1


def key_of(*parts: object) -> str:
    """A short hash of settings and of the keys of what a stage reads."""
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode("utf-8")).hexdigest()[:20]


class Manifest:
    """The record of finished stages; a stage is fresh if its key and its files are what was written."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.path = folder / "manifest.json"
        self.stages: dict[str, dict[str, object]] = {}
        if self.path.exists():
            self.stages = _read(self.path)

    def is_fresh(self, stage: str, key: str) -> bool:
        """Whether the stage was made with this key and its files are unharmed."""
        entry = self.stages.get(stage)
        if entry is None or entry["key"] != key:
            return False
        files = cast("dict[str, str]", entry["files"])
        return all((self.folder / f).is_file() and file_hash(self.folder / f) == h for f, h in files.items())

    def record(self, stage: str, key: str, files: Sequence[Path]) -> None:
        """Notes a finished stage."""
        hashes = {f.relative_to(self.folder).as_posix(): file_hash(f) for f in sorted(files)}
        self.stages[stage] = {"key": key, "files": hashes}
        self._write()

    def keep_only(self, stages: Sequence[str]) -> None:
        """Forgets stages, and deletes files, that an earlier configuration left behind."""
        self.stages = {name: self.stages[name] for name in stages}
        kept = {f for entry in self.stages.values() for f in cast("dict[str, str]", entry["files"])}
        for path in sorted(self.folder.rglob("*"), reverse=True):
            name = path.relative_to(self.folder).as_posix()
            if path.is_file() and name not in kept and path != self.path:
                path.unlink()
            elif path.is_dir() and not any(path.iterdir()):
                path.rmdir()
        self._write()

    def key(self) -> str:
        """One key for the whole folder."""
        return key_of({name: entry["key"] for name, entry in self.stages.items()})

    def _write(self) -> None:
        data = {"format": FORMAT, "stages": dict(sorted(self.stages.items()))}
        text = json.dumps(data, indent=1) + "\n"
        if not self.path.exists() or self.path.read_text(encoding="utf-8") != text:
            atomic_write_text(self.path, text)


def _read(path: Path) -> dict[str, dict[str, object]]:
    try:
        data = cast("dict[str, object]", json.loads(path.read_text(encoding="utf-8")))
    except ValueError as error:
        raise StorageError(f"is not a manifest: {error}.", where=str(path)) from error
    if data.get("format") != FORMAT:
        raise StorageError(
            f"is of format {data.get('format')!r}; this version reads {FORMAT}.",
            where=str(path),
            remedy="Delete the folder and run `textsplice prepare` again.",
        )
    return cast("dict[str, dict[str, object]]", data["stages"])


@contextmanager
def locked(folder: Path) -> Generator[None]:
    """Keeps a second `prepare` out of the folder; the lock ends with the process, however it ends."""
    folder.mkdir(parents=True, exist_ok=True)
    handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(handle)
        raise StorageError(
            "another process is preparing this folder.", where=str(folder), remedy="Wait for it to end."
        ) from None
    try:
        for left_over in folder.rglob(".*.partial"):
            left_over.unlink()
        yield
    finally:
        os.close(handle)
