"""Whether a file is still what was written: its hash, looked at when the file is opened."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from textsplice.errors import StorageError
from textsplice.files import file_hash
from textsplice.runs.ownership import listed_path

Hashes = Mapping[str, str | Sequence[str]]


class CheckedFiles:
    """The files of a folder with their hashes; each is checked once, when it is first asked for.

    A file that is being replaced has two hashes, the old and the new one: after a crash either may be there.
    """

    def __init__(self, folder: Path, hashes: Hashes, remedy: str) -> None:
        self.folder = folder
        self.remedy = remedy
        self._hashes = hashes
        self._checked: set[str] = set()

    def path(self, name: str) -> Path:
        """The file, if its content is what was written; one without a hash is not checked."""
        path = listed_path(self.folder, name)
        expected = self._hashes.get(name)
        if name in self._checked or expected is None:
            return path
        if not path.is_file():
            raise StorageError("is missing.", where=str(path), remedy=self.remedy)
        try:
            found = file_hash(path)
        except OSError as error:
            raise StorageError(f"can't be read: {error.strerror}.", where=str(path)) from error
        if found not in ([expected] if isinstance(expected, str) else expected):
            raise StorageError(
                "is damaged or was changed: its content is not what textsplice wrote.",
                where=str(path),
                remedy=self.remedy,
            )
        self._checked.add(name)
        return path

    def folder_path(self, name: str) -> Path:
        """A folder inside this one, after all its listed files have been checked."""
        for each in self._hashes:
            if each.startswith(f"{name}/"):
                self.path(each)
        return listed_path(self.folder, name)
