"""Downloads one file over https: resumed where it stopped, and put in place only when it is whole."""

from __future__ import annotations

import http.client
import os
import urllib.error
import urllib.request
from collections.abc import Callable
from email.message import Message
from http import HTTPStatus
from pathlib import Path
from typing import IO, NamedTuple

from textsplice.errors import CorpusError
from textsplice.files import file_hash, storage_error

BLOCK_BYTES = 1 << 16
TIMEOUT_SECONDS = 30.0


class KnownFile(NamedTuple):
    """A file whose content is known in advance."""

    name: str
    size: int
    sha256: str


def partial_path(path: Path, known: KnownFile) -> Path:
    """Where a download is kept until it is whole: a name that only this program gives, to this content."""
    return path.with_name(f".{path.name}.{known.sha256[:16]}.textsplice-download")


def download(
    url: str,
    path: Path,
    known: KnownFile,
    *,
    force: bool = False,
    advance: Callable[[int], None] = lambda _: None,
) -> bool:
    """Downloads `url` to `path`; true if an earlier attempt was resumed.

    If the connection breaks, what has arrived is kept beside `path` for the next attempt. A file with an
    unexpected checksum raises an error and is not kept. A file at `path` is replaced only with `force`.
    """
    _check_https(url)
    refuse_to_replace(path, known.sha256, force=force)
    partial = partial_path(path, known)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if partial.exists() and partial.stat().st_size > known.size:
            partial.unlink()
        begun = partial.stat().st_size if partial.exists() else 0
        resumed = begun == known.size or _fetch(url, partial, begun, advance)
        _check_whole(url, partial, known)
        # Again: someone may have put a file here in the meantime.
        refuse_to_replace(path, known.sha256, force=force)
        partial.replace(path)
    except OSError as error:
        raise storage_error(error, path) from error
    return resumed and begun > 0


def refuse_to_replace(path: Path, sha256: str, *, force: bool) -> None:
    """`CorpusError` if there is a file at `path` with other content than the one that belongs there."""
    if not os.path.lexists(path):
        return
    if path.is_dir():
        raise CorpusError(
            "there is a folder of this name.", where=str(path), remedy="Name another folder with --to."
        )
    if not force and not (path.is_file() and file_hash(path) == sha256):
        raise CorpusError(
            "there is a file of this name with other content, which was not changed.",
            where=str(path),
            remedy="Name another folder with --to, or replace the file with --force.",
        )


def _check_https(url: str) -> None:
    if not url.lower().startswith("https://"):
        raise CorpusError(
            "only https addresses can be fetched.",
            where=url,
            remedy="Take the files from a folder with --from.",
        )


class _HttpsRedirects(urllib.request.HTTPRedirectHandler):
    """Follows a server to other https addresses only."""

    def redirect_request(
        self,
        req: urllib.request.Request,
        fp: IO[bytes],
        code: int,
        msg: str,
        headers: Message,  # pyright: ignore[reportIncompatibleMethodOverride]
        newurl: str,
    ) -> urllib.request.Request | None:
        _check_https(newurl)
        return super().redirect_request(req, fp, code, msg, headers, newurl)  # pyright: ignore[reportArgumentType]


def _fetch(url: str, partial: Path, begun: int, advance: Callable[[int], None]) -> bool:
    """Appends what is still missing to `partial`; false if the server sent the whole file again."""
    request = urllib.request.Request(url, headers={"Range": f"bytes={begun}-"} if begun else {})
    try:
        opener = urllib.request.build_opener(_HttpsRedirects)
        with opener.open(request, timeout=TIMEOUT_SECONDS) as response:
            # A server that does not support ranges answers 200 with the whole file.
            resumed = response.status == HTTPStatus.PARTIAL_CONTENT
            with partial.open("ab" if resumed else "wb") as file:
                advance(begun if resumed else 0)
                while block := response.read(BLOCK_BYTES):
                    file.write(block)
                    advance(len(block))
                file.flush()
                os.fsync(file.fileno())
            return resumed
    except (urllib.error.URLError, http.client.HTTPException, ConnectionError, TimeoutError) as error:
        reason = error.reason if isinstance(error, urllib.error.URLError) else error
        if (
            isinstance(error, urllib.error.HTTPError)
            and error.code == HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE
        ):
            # The server's file is shorter than what we have: start over.
            partial.unlink(missing_ok=True)
        raise CorpusError(
            f"can't be fetched: {reason}.",
            where=url,
            remedy="Run the same command again to resume, or take the files from a folder with --from.",
        ) from error


def _check_whole(url: str, partial: Path, known: KnownFile) -> None:
    size = partial.stat().st_size
    if size < known.size:
        raise CorpusError(
            f"the connection ended after {size:,} of {known.size:,} bytes.",
            where=url,
            remedy="Run the same command again to resume.",
        )
    checksum = file_hash(partial)
    if checksum != known.sha256:
        partial.unlink()
        raise wrong_checksum(url, checksum, known.sha256)


def wrong_checksum(where: str, found: str, expected: str) -> CorpusError:
    """The error for a file that does not have the content its name promises."""
    return CorpusError(
        f"the SHA-256 is {found[:12]}…, but {expected[:12]}… was expected; the file was not kept.",
        where=where,
        remedy="It is damaged or another version: fetch it again, or from another place.",
    )
