"""One file from a web server: taken up again where it stopped, and put in place only when whole."""

from __future__ import annotations

import http.client
import os
import urllib.error
import urllib.request
from collections.abc import Callable
from http import HTTPStatus
from pathlib import Path
from typing import NamedTuple

from textsplice.errors import CorpusError
from textsplice.files import file_hash, storage_error

BLOCK_BYTES = 1 << 16
TIMEOUT_SECONDS = 30.0


class KnownFile(NamedTuple):
    """A file whose content is known beforehand."""

    name: str
    size: int
    sha256: str


def partial_path(path: Path) -> Path:
    """Where a download is kept until it is whole."""
    return path.with_name(f"{path.name}.partial")


def download(
    url: str, path: Path, known: KnownFile, *, advance: Callable[[int], None] = lambda _: None
) -> bool:
    """Fetches `url` into `path`; true if an earlier attempt was taken up again.

    What has arrived stays in a `.partial` file beside `path` if the connection breaks. A file with
    another checksum than the known one is an error, and nothing of it is kept.
    """
    if not url.startswith(("http://", "https://")):
        raise CorpusError(
            "only http and https addresses can be fetched.",
            where=url,
            remedy="Take files from a folder with --from.",
        )
    partial = partial_path(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if partial.exists() and partial.stat().st_size > known.size:
            partial.unlink()
        begun = partial.stat().st_size if partial.exists() else 0
        resumed = begun == known.size or _fetch(url, partial, begun, advance)
        _place(url, partial, path, known)
    except OSError as error:
        raise storage_error(error, path) from error
    return resumed and begun > 0


def _fetch(url: str, partial: Path, begun: int, advance: Callable[[int], None]) -> bool:
    """Appends what is still missing to `partial`; false if the server sent all of it anew."""
    request = urllib.request.Request(url, headers={"Range": f"bytes={begun}-"} if begun else {})
    try:
        with urllib.request.urlopen(request, timeout=TIMEOUT_SECONDS) as response:
            # A server that knows no ranges answers 200 with the whole file.
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
            # This server's file ends before what we have: it can only be begun anew.
            partial.unlink(missing_ok=True)
        raise CorpusError(
            f"can't be fetched: {reason}.",
            where=url,
            remedy="Run the same command again to go on from there,"
            " or take the files from a folder with --from.",
        ) from error


def _place(url: str, partial: Path, path: Path, known: KnownFile) -> None:
    """Renames a whole and right `partial` to `path`."""
    size = partial.stat().st_size
    if size < known.size:
        raise CorpusError(
            f"the connection ended after {size:,} of {known.size:,} bytes.",
            where=url,
            remedy="Run the same command again to go on from there.",
        )
    checksum = file_hash(partial)
    if checksum != known.sha256:
        partial.unlink()
        raise wrong_checksum(url, checksum, known.sha256)
    partial.replace(path)


def wrong_checksum(where: str, found: str, expected: str) -> CorpusError:
    """The sentence for a file that is not the one it is called."""
    return CorpusError(
        f"the SHA-256 is {found[:12]}… where {expected[:12]}… was expected; the file was not kept.",
        where=where,
        remedy="It is damaged or another version; fetch it again or from elsewhere.",
    )
