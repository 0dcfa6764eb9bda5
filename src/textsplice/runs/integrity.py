"""Whether a file is still what was written: its hash, looked at when the file is opened.

Folders of the first versions have no hashes, so numbers that compiled code follows are looked at as well.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import cast

import numpy as np
from numpy.typing import NDArray

from textsplice.errors import StorageError
from textsplice.files import file_hash
from textsplice.parsing import short_repr
from textsplice.runs.ownership import listed_path
from textsplice.runs.remembered import Remembered

Hashes = Mapping[str, str | Sequence[str]]
DIGEST = "digest"


class CheckedFiles:
    """The files of a folder with their hashes; each is checked once, when it is first asked for.

    A file that is being replaced has two hashes, the old and the new one: after a crash either may be there.
    What was read before, and has the same size and times, is not read again.
    """

    def __init__(self, folder: Path, hashes: Hashes, remedy: str) -> None:
        self.folder = folder
        self.remedy = remedy
        self._hashes = hashes
        self._checked: set[str] = set()
        self._remembered = Remembered(folder)

    def path(self, name: str) -> Path:
        """The file, if its content is what was written; one without a hash is not checked."""
        self._check([name])
        return listed_path(self.folder, name)

    def folder_path(self, name: str) -> Path:
        """A folder inside this one, after all its listed files have been checked."""
        self._check([each for each in self._hashes if each.startswith(f"{name}/")])
        return listed_path(self.folder, name)

    def check_all(self) -> int:
        """Reads every listed file whatever is remembered of it, and says how many there are."""
        self._check(list(self._hashes), remembered=False)
        return len(self._hashes)

    def _check(self, names: Sequence[str], *, remembered: bool = True) -> None:
        read: dict[str, str] = {}
        for name in names:
            path = listed_path(self.folder, name)
            expected = self._hashes.get(name)
            if expected is None or (remembered and name in self._checked):
                continue
            possible = [expected] if isinstance(expected, str) else expected
            if not (remembered and any(self._remembered.is_unchanged(path, name, each) for each in possible)):
                read[name] = self._read(path, possible)
            self._checked.add(name)
        if read:
            self._remembered.add(read)

    def _read(self, path: Path, possible: Sequence[str]) -> str:
        if not path.is_file():
            raise StorageError("is missing.", where=str(path), remedy=self.remedy)
        try:
            found = file_hash(path)
        except OSError as error:
            raise StorageError(f"can't be read: {error.strerror}.", where=str(path)) from error
        if found not in possible:
            raise StorageError(
                "is damaged or was changed: its content is not what textsplice wrote.",
                where=str(path),
                remedy=self.remedy,
            )
        return found


def listed_hashes(value: object, path: Path, remedy: str) -> dict[str, str | list[str]]:
    """The hashes that a file lists by name; `StorageError` if these are not names and hashes."""
    if not isinstance(value, Mapping):
        raise StorageError("lists no files.", where=str(path), remedy=remedy)
    found = cast("Mapping[str, object]", value)
    for name, digest in found.items():
        several = cast("list[object]", digest) if isinstance(digest, list) else [digest]
        if not several or not all(isinstance(each, str) for each in several):
            raise StorageError(f"lists {short_repr(name)} without a hash.", where=str(path), remedy=remedy)
    return cast("dict[str, str | list[str]]", dict(found))


def require_words(ids: NDArray[np.int32], words: int, path: Path, remedy: str) -> None:
    """`StorageError` if one of the ids in a file is not that of a word."""
    if len(ids) and not (ids.min() >= 0 and ids.max() < words):
        raise StorageError("has a number that is no word of the vocabulary.", where=str(path), remedy=remedy)


def signed(data: Mapping[str, object]) -> dict[str, object]:
    """What a file says that lists the hashes of others, with a hash of that."""
    unsigned = {key: value for key, value in data.items() if key != DIGEST}
    return {**unsigned, DIGEST: _digest(unsigned)}


def unsigned(data: Mapping[str, object], path: Path, remedy: str) -> dict[str, object]:
    """The same without its hash; `StorageError` if that is not its hash. Older files have none."""
    found = {key: value for key, value in data.items() if key != DIGEST}
    if DIGEST in data and data[DIGEST] != _digest(found):
        raise StorageError("is damaged or was changed.", where=str(path), remedy=remedy)
    return found


def _digest(data: Mapping[str, object]) -> str:
    return hashlib.sha256(json.dumps(data, sort_keys=True).encode("utf-8")).hexdigest()
