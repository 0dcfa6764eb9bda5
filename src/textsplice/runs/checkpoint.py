"""A checkpoint on disk: a folder that is whole or absent, whatever happens to the writer."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, cast

from textsplice.errors import StorageError
from textsplice.files import atomic_write_text, storage_error
from textsplice.runs.integrity import CheckedFiles, listed_hashes
from textsplice.runs.ownership import remove_listed

if TYPE_CHECKING:
    from torch import Tensor

WEIGHTS = "model.safetensors"
MOMENTS = "optimizer.safetensors"
STATE = "state.json"
FILES = (WEIGHTS, MOMENTS, STATE)
REMEDY = "Start again with --fresh, or restore a whole checkpoint."


@dataclass(frozen=True, slots=True)
class CheckpointFolder:
    """Weights, the optimizer's moments, and the state: numbers as JSON, with the hashes of the others."""

    path: Path

    def save(
        self, weights: Mapping[str, Tensor], moments: Mapping[str, Tensor], state: Mapping[str, object]
    ) -> None:
        """Replaces the checkpoint; at any time this one or the one before it can be loaded."""
        from safetensors.torch import save

        partial, previous = self._beside("partial"), self._beside("previous")
        contents = {WEIGHTS: save(dict(weights)), MOMENTS: save(dict(moments))}
        hashes = {name: hashlib.sha256(content).hexdigest() for name, content in contents.items()}
        contents[STATE] = _state_text(state, hashes).encode("utf-8")
        try:
            self.require_ours()
            for leftover in (partial, previous) if self.path.exists() else (partial,):
                _remove(leftover)
            partial.mkdir(parents=True)
            for name, content in contents.items():
                with (partial / name).open("wb") as file:
                    file.write(content)
                    file.flush()
                    os.fsync(file.fileno())
            if self.path.exists():
                self.path.rename(previous)
            partial.rename(self.path)
            _remove(previous)
        except OSError as error:
            raise storage_error(error, self.path) from error

    def require_ours(self) -> None:
        """`StorageError` if something else lies in the folder: a checkpoint is replaced as a whole."""
        for folder in (self.path, self._beside("partial"), self._beside("previous")):
            for path in folder.iterdir() if folder.is_dir() else ():
                if path.name not in FILES:
                    what = "is in the way: it was not written by training."
                    raise StorageError(what, where=str(path), remedy="Move it away.")

    def find(self) -> CheckpointFolder | None:
        """This checkpoint, or the one before it if the writer died between two renames, or None."""
        for folder in (self.path, self._beside("previous")):
            if (folder / STATE).is_file():
                return CheckpointFolder(folder)
        return None

    def read_state(self) -> tuple[dict[str, object], str]:
        """What was saved as the state, and where it is, for errors about it."""
        state, where = self._read()
        state.pop("files", None)
        return state, where

    def write_state(self, state: Mapping[str, object]) -> None:
        """Replaces the state alone: something became known after the checkpoint was written."""
        hashes = cast("Mapping[str, str]", self._read()[0].get("files", {}))
        atomic_write_text(self.path / STATE, _state_text(state, hashes))

    def read_tensors(self) -> tuple[dict[str, Tensor], dict[str, Tensor]]:
        """The weights and the moments."""
        from textsplice.runs.tensors import read_tensors

        files = self._checked()
        return read_tensors(files.path(WEIGHTS), REMEDY), read_tensors(files.path(MOMENTS), REMEDY)

    def check(self) -> int:
        """Reads weights and moments and compares their hashes; how many files there are."""
        count = self._checked().check_all()
        if count < len((WEIGHTS, MOMENTS)):
            raise StorageError("lists not all its files.", where=str(self.path / STATE), remedy=REMEDY)
        return count

    def _checked(self) -> CheckedFiles:
        listed = listed_hashes(self._read()[0].get("files", {}), self.path / STATE, REMEDY)
        return CheckedFiles(self.path, listed, REMEDY)

    def remove(self) -> None:
        """Removes the checkpoint and what a killed writer left beside it."""
        for folder in (self.path, self._beside("partial"), self._beside("previous")):
            _remove(folder)

    def _read(self) -> tuple[dict[str, object], str]:
        path = self.path / STATE
        try:
            state = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError, RecursionError):
            state = None
        if not isinstance(state, dict):
            raise StorageError("is not the state of a training run.", where=str(path), remedy=REMEDY)
        found = cast("dict[str, object]", state)
        digest = found.pop("digest", None)
        if digest is not None and digest != _digest(found):
            raise StorageError("is damaged or was changed.", where=str(path), remedy=REMEDY)
        return found, str(path)

    def _beside(self, what: str) -> Path:
        return self.path.with_name(f".{self.path.name}.{what}")


def _state_text(state: Mapping[str, object], hashes: Mapping[str, str]) -> str:
    whole = cast("dict[str, object]", json.loads(json.dumps({**state, "files": dict(hashes)})))
    return json.dumps({**whole, "digest": _digest(whole)}, indent=2) + "\n"


def _digest(state: Mapping[str, object]) -> str:
    return hashlib.sha256(json.dumps(state, sort_keys=True).encode("utf-8")).hexdigest()


def _remove(folder: Path) -> None:
    if folder.is_dir() and not folder.is_symlink():
        remove_listed(folder, FILES)
        with suppress(OSError):  # something that is not ours is in it
            folder.rmdir()
