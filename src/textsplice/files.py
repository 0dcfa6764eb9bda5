"""Writing files: whole or not at all, and never over a file that this program did not write."""

from __future__ import annotations

import errno
import hashlib
import os
import re
import stat
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path

from textsplice.errors import ConfigError, StorageError
from textsplice.parsing import called, unreadable

_SEAL = re.compile(rb"<!-- textsplice ([0-9a-f]{64}) -->\n\Z")  # the last line of a page that we wrote
_SEAL_BYTES = len("<!-- textsplice  -->\n") + 64


@contextmanager
def atomic_path(path: Path) -> Generator[Path]:
    """Yields a temporary path beside `path`; on success it becomes `path`, on failure it is removed."""
    require_plain_file(path)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.partial")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        yield temporary
        with temporary.open("rb") as written:
            os.fsync(written.fileno())
        temporary.replace(path)
    except OSError as error:
        raise storage_error(error, path) from error
    finally:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)


def atomic_write_bytes(path: Path, data: bytes) -> None:
    """Writes a whole file or nothing."""
    with atomic_path(path) as temporary:
        temporary.write_bytes(data)


def atomic_write_text(path: Path, text: str) -> None:
    """Writes a whole UTF-8 file or nothing."""
    atomic_write_bytes(path, text.encode("utf-8"))


def require_plain_file(path: Path, *, remedy: str = "Name a file.") -> None:
    """`StorageError` if something else is at `path`: a folder, a pipe, a device."""
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        return
    except OSError as error:
        raise storage_error(error, path) from error
    except ValueError as error:  # a NUL in the name
        raise StorageError(f"can't be written: {error}.", where=str(path), remedy=remedy) from error
    if not stat.S_ISREG(mode):
        raise StorageError(f"is {called(mode)}, not a file.", where=str(path), remedy=remedy)


def sealed(page: str) -> str:
    """An HTML page with a last line that holds the hash of all before it."""
    page = page.rstrip("\n") + "\n"
    return f"{page}<!-- textsplice {hashlib.sha256(page.encode('utf-8')).hexdigest()} -->\n"


def is_sealed(path: Path) -> bool:
    """Whether a page is as `sealed` made it: not written by others, and not changed since."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise storage_error(error, path) from error
    seal = _SEAL.search(content, max(0, len(content) - _SEAL_BYTES))
    return seal is not None and hashlib.sha256(content[: seal.start()]).hexdigest().encode() == seal[1]


def write_new(path: Path, data: str | bytes, *, force: bool = False, replace_sealed: bool = False) -> None:
    """Writes a whole file; one that already exists is replaced only with `force`.

    With `replace_sealed`, a page that we wrote and nobody changed is replaced too. A link stays, and what it
    leads to is replaced.
    """
    require_new(path, force=force, replace_sealed=replace_sealed)
    target = path.resolve() if path.is_symlink() else path
    atomic_write_bytes(target, data.encode("utf-8") if isinstance(data, str) else data)


def require_new(path: Path, *, force: bool = False, replace_sealed: bool = False) -> None:
    """An error if `write_new` would refuse to write there; for asking before long work."""
    require_plain_file(path)
    if not force and path.exists() and not (replace_sealed and is_sealed(path)):
        raise ConfigError(
            "already exists and was left as it is.",
            where=str(path),
            remedy="Name another file, or overwrite it with --force.",
        )


def text_hash(text: str) -> str:
    """The SHA-256 of a text."""
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def file_hash(path: Path) -> str:
    """The SHA-256 of a file's bytes, in hexadecimal."""
    digest = hashlib.sha256()
    try:
        with path.open("rb") as file:
            while block := file.read(1 << 20):
                digest.update(block)
    except OSError as error:
        raise unreadable(error, path, StorageError) from error
    return digest.hexdigest()


def storage_error(error: OSError, path: Path) -> StorageError:
    """The sentence for an operating system's refusal to write `path`."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        return StorageError(
            "the disk is full or a quota is reached.",
            where=str(path),
            remedy="Free some space and run the same command again: finished parts are kept.",
        )
    if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        return StorageError("no permission to write here.", where=str(path))
    return StorageError(f"can't be written: {error.strerror or error}.", where=str(path))
