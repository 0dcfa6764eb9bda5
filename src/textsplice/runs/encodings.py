"""`encodings/` of a run: its store's texts, encoded, one shard per file, each with what it was made from."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from textsplice.errors import StorageError
from textsplice.files import atomic_write_bytes, atomic_write_text
from textsplice.runs.ownership import remove_listed

LIST = "encodings.json"
FORMAT = "textsplice.encodings/1"


@dataclass(frozen=True, slots=True)
class EncodingFolder:
    """Shards by the first row they hold; `encodings.json` lists those we wrote."""

    path: Path

    def exists(self) -> bool:
        """Whether there may be shards."""
        return self.path.is_dir()

    def shard(self, first: int) -> Path:
        """The shard whose first row is `first`."""
        return self.path / f"{first:08}.safetensors"

    def write(self, first: int, content: bytes) -> None:
        """Writes a shard, and lists it."""
        path = self.shard(first)
        listed = self._listed()
        if path.name not in listed:
            data = {"format": FORMAT, "files": sorted([*listed, path.name])}
            atomic_write_text(self.path / LIST, json.dumps(data, indent=1) + "\n")
        atomic_write_bytes(path, content)

    def remove(self) -> None:
        """Removes the shards we wrote."""
        if self.exists():
            remove_listed(self.path, [*self._listed(), LIST])
            if not any(self.path.iterdir()):
                self.path.rmdir()

    def _listed(self) -> list[str]:
        path = self.path / LIST
        if not path.is_file():
            return []
        try:
            data = cast("dict[str, object]", json.loads(path.read_text(encoding="utf-8")))
            return [str(name) for name in cast("list[object]", data["files"])]
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise StorageError(f"can't be read: {error}.", where=str(path)) from error
