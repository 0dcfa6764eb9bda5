"""Lines of a text file, plain or gzipped; errors say where in the file they are."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator
from io import BufferedReader
from pathlib import Path
from typing import NamedTuple

from textsplice.errors import CorpusError

MAX_LINE_BYTES = 64 << 20
"""A file with a longer line is not text; without a limit the line would be read into memory whole."""

BOM = "\ufeff"


class Line(NamedTuple):
    """A line with its number, from 1; its text can't be trusted if there is a problem with it."""

    number: int
    text: str
    problem: CorpusError | None = None


def scan_lines(path: Path) -> Iterator[Line]:
    """Each line of a UTF-8 file; line ends are kept, a byte order mark is not.

    A line that is no text has a problem, and the lines after it are read all the same.
    """
    offset = 0
    with open_bytes(path) as file:
        for number, raw in enumerate(_raw_lines(file, path), start=1):
            problem = None
            if b"\0" in raw:
                problem = CorpusError(
                    f"there is a NUL byte at byte {offset + raw.index(0)} of the file.",
                    where=f"{path}:{number}",
                    remedy="It is damaged or not a text file in UTF-8.",
                )
            try:
                text = raw.decode("utf-8")
            except UnicodeDecodeError as error:
                at = error.start
                text = raw.decode("utf-8", "replace")
                problem = problem or CorpusError(
                    f"byte 0x{raw[at]:02x} at byte {offset + at} of the file is not valid UTF-8.",
                    where=f"{path}:{number}",
                    remedy="Save the file as UTF-8.",
                )
            yield Line(number, text.removeprefix(BOM) if number == 1 else text, problem)
            offset += len(raw)


def read_lines(path: Path) -> Iterator[tuple[int, str]]:
    """The same without problems: the first is raised."""
    for number, text, problem in scan_lines(path):
        if problem is not None:
            raise problem
        yield number, text


def count_lines(path: Path) -> int:
    """How many lines `read_lines` gives."""
    return sum(1 for _ in read_lines(path))


def open_bytes(path: Path) -> gzip.GzipFile | BufferedReader:
    """The file's bytes, unpacked if its name ends in `.gz`."""
    try:
        return gzip.open(path, "rb") if path.suffix == ".gz" else path.open("rb")
    except OSError as error:
        raise CorpusError(f"can't be read: {error.strerror or error}.", where=str(path)) from error


def _raw_lines(file: gzip.GzipFile | BufferedReader, path: Path) -> Iterator[bytes]:
    number = 0
    while True:
        number += 1
        try:
            raw = file.readline(MAX_LINE_BYTES + 1)
        except (EOFError, zlib.error, OSError) as error:
            damaged = path.suffix == ".gz"
            raise CorpusError(
                "the gzip file is truncated or damaged." if damaged else f"can't be read: {error}.",
                where=f"{path}:{number}",
                remedy="Fetch it again." if damaged else None,
            ) from error
        if not raw:
            return
        if len(raw) > MAX_LINE_BYTES:
            raise CorpusError(
                f"the line is longer than {MAX_LINE_BYTES >> 20} MiB.", where=f"{path}:{number}"
            )
        yield raw
