"""Which folders are ours, and what in them may be removed.

A folder is ours if it holds a file of ours that lists the others (`manifest.json`, `run.json`, …). Any other
folder that is not empty is refused. Only listed files are ever removed or replaced.

A process may be killed while it writes that first file. The beginning that it leaves (`files.atomic_path`
says what it is called) does not make the folder somebody else's, and the next process removes it.
"""

from __future__ import annotations

import fcntl
import os
import re
from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager, suppress
from pathlib import Path, PurePosixPath

from textsplice.errors import StorageError, TextspliceError
from textsplice.files import storage_error

# What `files.atomic_path` calls a file until it is whole.
PARTIAL = re.compile(r"\.(?P<name>.+)\.\d+\.partial")


def left_behind(folder: Path, name: str) -> list[Path]:
    """The beginnings of a file that killed processes left in a folder."""
    found = ((path, PARTIAL.fullmatch(path.name)) for path in folder.iterdir())
    return [
        path
        for path, partial in found
        if partial and partial["name"] == name and path.is_file() and not path.is_symlink()
    ]


def require_ours(folder: Path, *, ours: bool, what: str, first: str = "") -> None:
    """`StorageError` unless `folder` is ours, empty, or does not exist yet.

    `first` names the file that makes such a folder ours; its beginnings count as nothing.
    """
    try:
        if folder.exists() and not folder.is_dir():
            raise StorageError("is a file, not a folder.", where=str(folder), remedy="Name another folder.")
        if ours or not folder.exists() or not {*folder.iterdir()} - {*left_behind(folder, first)}:
            return
    except OSError as error:
        raise storage_error(error, folder) from error
    raise StorageError(
        f"is not empty and is not {what}; nothing in it was changed.",
        where=str(folder),
        remedy="Name a new or an empty folder.",
    )


def listed_path(folder: Path, name: str) -> Path:
    """The file that a list calls `name`; `StorageError` if that would lie outside the folder."""
    parts = PurePosixPath(name).parts
    inside = bool(parts) and not name.startswith("/") and ".." not in parts and "\\" not in name
    inside = inside and name.isprintable()  # no NUL, no half of a surrogate pair
    path = folder.joinpath(*parts) if inside else folder
    # A link inside the folder could lead out of it.
    links = [parent for parent in path.parents if parent.is_relative_to(folder) and parent != folder]
    if not inside or any(parent.is_symlink() for parent in links):
        raise StorageError(
            f"lists the file {name!r}, which is not inside the folder.",
            where=str(folder),
            remedy="The list was changed or damaged; nothing was removed.",
        )
    return path


def remove_listed(folder: Path, names: Iterable[str]) -> None:
    """Removes files of ours, and folders inside `folder` that are empty after that."""
    paths = [listed_path(folder, name) for name in names]
    try:
        for path in paths:
            path.unlink(missing_ok=True)
        remove_empty_parents(folder, paths)
    except OSError as error:
        raise storage_error(error, folder) from error


def remove_empty_parents(folder: Path, paths: Iterable[Path]) -> None:
    """Removes the folders between `folder` and the paths that hold nothing."""
    parents = {parent for path in paths for parent in path.parents if parent.is_relative_to(folder)}
    for parent in sorted(parents - {folder}, key=lambda path: len(path.parts), reverse=True):
        with suppress(OSError):  # not empty: something else is in it
            parent.rmdir()


@contextmanager
def removed_on_failure(folder: Path, remove: Callable[[], None], *, keep: bool) -> Generator[None]:
    """If the block fails or is interrupted, removes what it wrote, and the folder unless it is to be kept."""
    try:
        yield
    except BaseException:
        with suppress(OSError, TextspliceError):  # what went wrong first is told
            remove()
        if not keep:
            with suppress(OSError):  # something else is in it
                folder.rmdir()
        raise


@contextmanager
def locked(folder: Path, busy: TextspliceError, first: str = "") -> Generator[None]:
    """Holds the folder for one writer; raises `busy` if another one does. The lock ends with the process.

    What killed writers left behind of the file `first` is removed.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        handle = os.open(folder, os.O_RDONLY)
    except OSError as error:
        raise storage_error(error, folder) from error
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(handle)
        raise busy from None
    try:
        with suppress(OSError):  # harmless where it is
            for partial in left_behind(folder, first):
                partial.unlink(missing_ok=True)
        yield
    finally:
        os.close(handle)
