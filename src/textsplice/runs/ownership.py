"""Which folders are ours, and what in them may be removed.

A folder is ours if it holds a file of ours that lists the others (`manifest.json`, `run.json`, …). Any other
folder that is not empty is refused. Only listed files are ever removed or replaced.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager, suppress
from pathlib import Path, PurePosixPath

from textsplice.errors import StorageError, TextspliceError
from textsplice.files import storage_error


def require_ours(folder: Path, *, ours: bool, what: str) -> None:
    """`StorageError` unless `folder` is ours, empty, or does not exist yet."""
    try:
        if folder.exists() and not folder.is_dir():
            raise StorageError("is a file, not a folder.", where=str(folder), remedy="Name another folder.")
        if ours or not folder.exists() or not any(folder.iterdir()):
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
def locked(folder: Path, busy: TextspliceError) -> Generator[None]:
    """Holds the folder for one writer; raises `busy` if another one does. The lock ends with the process."""
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
        yield
    finally:
        os.close(handle)
