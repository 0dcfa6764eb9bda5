"""`manifest.json` of a prepared folder: which stages are done, from what, and the hash of every file."""

from __future__ import annotations

import glob
import hashlib
import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import cast

from textsplice.errors import StorageError
from textsplice.files import atomic_write_text, file_hash, storage_error
from textsplice.runs.integrity import DIGEST, signed, unsigned
from textsplice.runs.ownership import PARTIAL, listed_path, remove_listed
from textsplice.runs.prepared_files import is_prepared_name

NAME = "manifest.json"
FORMAT = 1
MADE_BY = "textsplice prepare"
KEYS = {"format", "stages", "announced", "made_by", "digest"}
_KEY = re.compile("[0-9a-f]{20}")
_DIGEST = re.compile("[0-9a-f]{64}")

Stages = dict[str, dict[str, object]]


def key_of(*parts: object) -> str:
    """A short hash of settings and of the keys of what a stage reads."""
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode("utf-8")).hexdigest()[:20]


def is_manifest(path: Path) -> bool:
    """Whether a file is a manifest of ours, of any version; other programs have a manifest.json too."""
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return False
    match data:
        case {"format": int(), "stages": dict(stages)} if not data.keys() - KEYS:
            finished = cast("dict[str, object]", stages)
            return _is_sound(finished) and (bool(finished) or data.get("made_by") == MADE_BY)
        case _:
            return False


class Manifest:
    """The record of finished stages. A stage is fresh if its key and its files are as recorded.

    Files are announced before they are written, so that even those of a killed `prepare` are known as ours.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.path = folder / NAME
        self.stages: Stages = {}
        self.announced: list[str] = []
        self.is_signed = True
        if self.path.exists():
            self.stages, self.announced, self.is_signed = _read(self.path)

    @property
    def hashes(self) -> dict[str, str]:
        """The hash of every file of every stage, by its name inside the folder."""
        return {name: digest for entry in self.stages.values() for name, digest in _files(entry).items()}

    def start(self) -> None:
        """Writes the manifest, which makes the folder ours, and clears up after a killed `prepare`."""
        self._write()
        for name in {*self.hashes, *self.announced}:
            path = listed_path(self.folder, name)
            # Of a folder that was announced as a whole, everything in it is ours.
            inside = path.rglob(".*.partial") if path.is_dir() else ()
            beside = path.parent.glob(f".{glob.escape(path.name)}.*.partial")
            for partial in [*inside, *beside]:
                if PARTIAL.fullmatch(partial.name):
                    partial.unlink(missing_ok=True)

    def abandon_if_empty(self) -> None:
        """Removes the manifest and what was announced, if no stage was finished."""
        if not self.stages:
            self._remove([*self.announced, NAME])

    def _remove(self, names: Sequence[str]) -> None:
        """Removes listed files; refuses a list with a name that `prepare` never writes."""
        for name in names:
            if not is_prepared_name(name):
                raise StorageError(
                    f"lists the file {name!r}, which `textsplice prepare` does not write.",
                    where=str(self.path),
                    remedy="It was changed or damaged; nothing was removed.",
                )
        files = [path for name in names for path in _files_at(listed_path(self.folder, name))]
        remove_listed(self.folder, [path.relative_to(self.folder).as_posix() for path in files])

    def announce(self, *paths: Path) -> None:
        """Says which files (or whole folders) a stage is about to write; refuses those that are not ours."""
        ours = {*self.hashes, *self.announced}
        for path in paths:
            name = path.relative_to(self.folder).as_posix()
            there = [file for file in path.rglob("*") if not file.is_dir()] if path.is_dir() else [path]
            inside = any(name == known or name.startswith(f"{known}/") for known in self.announced)
            for file in there:
                if file.exists() and not inside and file.relative_to(self.folder).as_posix() not in ours:
                    raise StorageError(
                        "is in the way: it was not written by `textsplice prepare`.",
                        where=str(file),
                        remedy="Move it away, or prepare into another folder.",
                    )
        new = [path.relative_to(self.folder).as_posix() for path in paths]
        self.announced = list(dict.fromkeys([*self.announced, *new]))
        self._write()

    def is_fresh(self, stage: str, key: str) -> bool:
        """Whether the stage was made with this key and its files are undamaged."""
        entry = self.stages.get(stage)
        if entry is None or entry.get("key") != key:
            return False
        paths = {listed_path(self.folder, name): digest for name, digest in _files(entry).items()}
        return all(path.is_file() and file_hash(path) == digest for path, digest in paths.items())

    def record(self, stage: str, key: str, files: Sequence[Path]) -> None:
        """Records a finished stage."""
        try:
            hashes = {file.relative_to(self.folder).as_posix(): file_hash(file) for file in sorted(files)}
        except OSError as error:
            raise storage_error(error, self.folder) from error
        self.stages[stage] = {"key": key, "files": hashes}
        done = {*hashes, *(parent for name in hashes for parent in _parents(name))}
        self.announced = [name for name in self.announced if name not in done]
        self._write()

    def keep_only(self, stages: Sequence[str]) -> None:
        """Removes what an earlier configuration left behind: files of other stages, and nothing else."""
        kept = {name: self.stages[name] for name in stages}
        needed = {file for entry in kept.values() for file in _files(entry)}
        self._remove([name for name in self.hashes if name not in needed])
        self.stages, self.announced = kept, []
        self._write()

    def key(self) -> str:
        """One key for the whole folder."""
        return key_of({name: entry["key"] for name, entry in self.stages.items()})

    def _write(self) -> None:
        data: dict[str, object] = {"format": FORMAT, "stages": dict(sorted(self.stages.items()))}
        if self.announced or not self.stages:  # not finished
            data |= {"announced": self.announced, "made_by": MADE_BY}
        # One of an older version, without a hash of itself, stays as it is until it says something else.
        texts = [json.dumps(each, indent=1) + "\n" for each in (signed(data), data)]
        if not self.path.exists() or self.path.read_text(encoding="utf-8") not in texts:
            atomic_write_text(self.path, texts[0])


def _files_at(path: Path) -> list[Path]:
    """The file itself, or the files in a folder that was announced as a whole."""
    return [file for file in path.rglob("*") if not file.is_dir()] if path.is_dir() else [path]


def _files(entry: dict[str, object]) -> dict[str, str]:
    return cast("dict[str, str]", entry["files"])


def _parents(name: str) -> list[str]:
    parts = name.split("/")
    return ["/".join(parts[:count]) for count in range(1, len(parts))]


def _read(path: Path) -> tuple[Stages, list[str], bool]:
    remedy = "Delete the folder and run `textsplice prepare` again."
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        what = f"can't be read as a manifest: {error}."
        raise StorageError(what, where=str(path), remedy=remedy) from error
    is_signed = isinstance(data, dict) and DIGEST in data
    if isinstance(data, dict):
        data = unsigned(cast("dict[str, object]", data), path, remedy)
    match data:
        case {"format": int(version), "stages": dict()} if version != FORMAT:
            what = f"is of format {version}; this version reads {FORMAT}."
        case {"format": int(), "stages": dict(stages)} if _is_sound(cast("dict[str, object]", stages)):
            announced = cast("dict[str, object]", data).get("announced", [])
            names = cast("list[object]", announced) if isinstance(announced, list) else [announced]
            if all(isinstance(name, str) for name in names):
                return cast("Stages", stages), cast("list[str]", names), is_signed
            what = "is not a manifest of a prepared folder."
        case _:
            what = "is not a manifest of a prepared folder."
    raise StorageError(what, where=str(path), remedy=remedy)


def _is_sound(stages: dict[str, object]) -> bool:
    for entry in stages.values():
        match entry:
            case {"key": str(key), "files": dict(files)} if _KEY.fullmatch(key):
                digests = cast("dict[str, object]", files).values()
                if not all(isinstance(digest, str) and _DIGEST.fullmatch(digest) for digest in digests):
                    return False
            case _:
                return False
    return True
