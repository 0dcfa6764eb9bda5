"""`encodings/` of a run: its store's texts, encoded, one shard per file, each with what it was made from."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path

from textsplice.errors import StorageError
from textsplice.files import atomic_write_bytes, atomic_write_text
from textsplice.parsing import read_object
from textsplice.runs.integrity import CheckedFiles, listed_hashes
from textsplice.runs.ownership import remove_listed

LIST = "encodings.json"
FORMAT = "textsplice.encodings/2"
REMEDY = "Make it again with `textsplice generate --cache-encodings`."


@dataclass(frozen=True, slots=True)
class EncodingFolder:
    """Shards by the first row they hold; `encodings.json` lists those we wrote, with their hashes."""

    path: Path

    def exists(self) -> bool:
        """Whether there are shards."""
        return bool(self._listed())

    def shard(self, first: int) -> Path:
        """The shard whose first row is `first`, checked; `StorageError` if it is not one that we wrote."""
        name = _name(first)
        listed = self._listed()
        if name not in listed:
            raise StorageError("is missing.", where=str(self.path / name), remedy=REMEDY)
        return CheckedFiles(self.path, listed, REMEDY).path(name)

    def check(self) -> int:
        """Reads every shard and compares its hash; how many there are."""
        return CheckedFiles(self.path, self._listed(), REMEDY).check_all()

    def write(self, first: int, content: bytes) -> None:
        """Writes a shard, and lists it."""
        name = _name(first)
        listed = self._listed()
        if name not in listed and (self.path / name).exists():
            raise StorageError(
                "is in the way: it is not listed as a file of ours.",
                where=str(self.path / name),
                remedy="Move it away.",
            )
        listed[name] = hashlib.sha256(content).hexdigest()
        data = {"format": FORMAT, "files": dict(sorted(listed.items()))}
        atomic_write_text(self.path / LIST, json.dumps(data, indent=1) + "\n")
        atomic_write_bytes(self.path / name, content)

    def remove(self) -> None:
        """Removes the shards we wrote."""
        if self.exists():
            remove_listed(self.path, [*self._listed(), LIST])
            if not any(self.path.iterdir()):
                self.path.rmdir()

    def _listed(self) -> dict[str, str]:
        path = self.path / LIST
        if not path.exists():
            return {}
        about = read_object(path, StorageError, remedy="Delete it.")
        listed = listed_hashes(about.get("files"), path, "Delete it.")
        return {name: str(digest) for name, digest in listed.items()}


def _name(first: int) -> str:
    return f"{first:08}.safetensors"
