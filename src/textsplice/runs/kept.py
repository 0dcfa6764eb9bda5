"""What was worked out of texts, kept in the user's cache folder, so that it need not be worked out again.

An entry is a folder that is named by a hash of all it was made from, so it is never out of date. It is
written whole or not at all, by any number of processes at once. `kept.json` lists the hash of every file;
an entry that is damaged is as good as none. The entries that were used last are kept.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from tempfile import mkdtemp

from textsplice.errors import StorageError
from textsplice.files import file_hash, storage_error
from textsplice.parsing import read_object
from textsplice.runs.integrity import CheckedFiles, listed_hashes, signed, unsigned
from textsplice.runs.ownership import locked, remove_listed
from textsplice.runs.remembered import cache_folder

FORMAT = "textsplice.kept/1"
LIST = "kept.json"
CONTENT = "content"
MOST = 8
LEFT = 60.0  # seconds after which a folder that nobody holds was left behind by a killed process
REMEDY = "Delete the folder: it is made again."
_ENTRY = re.compile("[0-9a-f]{64}")
_PARTIAL = re.compile(r"\.[0-9a-f]{64}\..+\.partial")


def key_of_parts(*parts: object) -> str:
    """The name of the entry that is made from these."""
    return hashlib.sha256(json.dumps([FORMAT, *parts], sort_keys=True).encode("utf-8")).hexdigest()


def kept_folder() -> Path:
    """Where entries are; `StorageError` if there is no home."""
    try:
        return cache_folder("texts")
    except RuntimeError as error:
        raise StorageError(
            "there is no home folder to keep anything in.", remedy="Set XDG_CACHE_HOME to a folder."
        ) from error


def find_kept(key: str) -> Path:
    """The content of an entry, checked; `StorageError` if it is damaged or not there."""
    folder = kept_folder() / key
    about = read_object(folder / LIST, StorageError, remedy=REMEDY)
    about = unsigned(about, folder / LIST, REMEDY)
    if (about.get("format"), about.get("key")) != (FORMAT, key):
        raise StorageError("is of something else.", where=str(folder / LIST), remedy=REMEDY)
    files = listed_hashes(about.get("files"), folder / LIST, REMEDY)
    found = CheckedFiles(folder, files, REMEDY).folder_path(CONTENT)
    with suppress(OSError):  # a cache that is read only can be used too
        os.utime(folder / LIST)
    return found


def keep(key: str, write: Callable[[Path], None]) -> Path:
    """Makes an entry with what `write` writes into a folder, and opens it; `StorageError` if it can't be."""
    root = kept_folder()
    try:
        root.mkdir(parents=True, exist_ok=True)
        _clear(root)
        temporary = Path(mkdtemp(prefix=f".{key}.", suffix=".partial", dir=root))
    except OSError as error:
        raise storage_error(error, root) from error
    busy = StorageError("another process has it.", where=str(temporary))
    try:
        with locked(temporary, busy):
            write(temporary / CONTENT)
            written = sorted(path for path in temporary.rglob("*") if path.is_file())
            files = {path.relative_to(temporary).as_posix(): file_hash(path) for path in written}
            about = signed({"format": FORMAT, "key": key, "files": files})
            (temporary / LIST).write_text(json.dumps(about, indent=1) + "\n", encoding="utf-8")
            _move(temporary, root / key, files)
    except OSError as error:
        raise storage_error(error, root / key) from error
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
    return find_kept(key)


def _move(temporary: Path, entry: Path, files: Mapping[str, str]) -> None:
    """Gives a finished entry its name, unless another process was faster."""
    if entry.is_dir():
        try:
            find_kept(entry.name)
        except StorageError:
            _remove(entry, files)
        else:
            return
    try:
        temporary.rename(entry)
    except OSError:
        if not entry.is_dir():
            raise
        # Another process was faster, or somebody's files are in the way: `find_kept` will tell.


def forget(key: str) -> None:
    """Removes an entry that turned out to be of no use."""
    with suppress(StorageError):
        _remove(kept_folder() / key)


def _remove(entry: Path, files: Mapping[str, str] | None = None) -> None:
    """Removes what we wrote: the files that an entry lists, or these."""
    if entry.is_symlink():
        return
    listed = dict(files or {})
    with suppress(StorageError):
        about = read_object(entry / LIST, StorageError, remedy=REMEDY)
        listed.update(dict.fromkeys(listed_hashes(about.get("files"), entry / LIST, REMEDY), ""))
    with suppress(StorageError, OSError):
        remove_listed(entry, [LIST, *listed])  # the list goes first: without it, this is no entry
        entry.rmdir()


def _clear(root: Path) -> None:
    """Removes what killed processes left behind, and the oldest entries, so that one more is not too many."""
    partial = [path for path in root.iterdir() if _PARTIAL.fullmatch(path.name) and not path.is_symlink()]
    for path in partial:
        with suppress(StorageError, OSError):
            if path.stat().st_mtime < time.time() - LEFT:
                with locked(path, StorageError("another process is writing here.", where=str(path))):
                    shutil.rmtree(path)
    entries = [path for path in root.iterdir() if _ENTRY.fullmatch(path.name) and not path.is_symlink()]
    used = sorted((path for path in entries if (path / LIST).is_file()), key=_last_use)
    for path in used[: max(len(used) - MOST + 1, 0)]:
        _remove(path)


def _last_use(entry: Path) -> float:
    try:
        return (entry / LIST).stat().st_mtime
    except OSError:  # just removed by another process
        return 0.0
