"""Folders of results (experiments, rating sheets, quickstart): rewritten only if nobody changed them."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import cast

from textsplice.errors import ConfigError, StorageError
from textsplice.files import atomic_write_bytes, atomic_write_text, file_hash
from textsplice.runs.ownership import listed_path

LIST = "textsplice.json"
FORMAT = "textsplice.outputs/1"


class OutputFolder:
    """A folder whose `textsplice.json` lists the files we wrote there, each with its hash.

    Other files may lie beside them. A file is written over only if it is listed and still has that hash.
    """

    def __init__(self, path: Path, *, force: bool = False) -> None:
        self.path = path
        self.force = force
        self._files = _read_list(path / LIST)

    def require_free(self, *names: str) -> None:
        """`ConfigError` if one of these files exists and is not ours to overwrite; before long work."""
        for name in names:
            path = listed_path(self.path, name)
            if self.force or not path.exists():
                continue
            if name not in self._files:
                raise ConfigError(
                    "already exists and was not written by this command.",
                    where=str(path),
                    remedy="Move it away, or name another folder with --out.",
                )
            if file_hash(path) not in self._files[name]:
                raise ConfigError(
                    "was changed after this command wrote it.",
                    where=str(path),
                    remedy="Move it away, or name another folder with --out.",
                )

    def write(self, name: str, data: str | bytes) -> Path:
        """Writes one file and lists it."""
        path = listed_path(self.path, name)
        content = data.encode("utf-8") if isinstance(data, str) else data
        digest = hashlib.sha256(content).hexdigest()
        if not (path.is_file() and file_hash(path) == digest):
            self.require_free(name)
        # Both hashes are listed while the file is replaced: if the command is killed, it is ours either way.
        self._record(name, [*self._files.get(name, []), digest])
        atomic_write_bytes(path, content)
        self._record(name, [digest])
        return path

    def record(self, name: str) -> None:
        """Lists a file that was written another way, as it is now."""
        self._record(name, [file_hash(listed_path(self.path, name))])

    def _record(self, name: str, digests: list[str]) -> None:
        if self._files.get(name) != digests:
            self._files[name] = digests
            data = {"format": FORMAT, "files": dict(sorted(self._files.items()))}
            atomic_write_text(self.path / LIST, json.dumps(data, indent=1) + "\n")


def _read_list(path: Path) -> dict[str, list[str]]:
    if not path.exists():
        return {}
    try:
        data = cast("dict[str, object]", json.loads(path.read_text(encoding="utf-8")))
        if data.get("format") == FORMAT:
            return cast("dict[str, list[str]]", data["files"])
    except (OSError, ValueError, KeyError, AttributeError) as error:
        raise StorageError(f"can't be read: {error}.", where=str(path)) from error
    raise StorageError(
        "is not a list of files that textsplice wrote.", where=str(path), remedy="Name another folder."
    )
