"""What is asked of an .xlsx file before it is read: is it safe to unpack, and which cells are merged.

It is a ZIP archive of XML files. A small one can hold gigabytes, and XML can define entities that grow
without end, so both are looked at first.
"""

from __future__ import annotations

import posixpath
import re
import zipfile
import zlib
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO
from xml.etree import ElementTree

from textsplice.errors import CorpusError

MOST_BYTES = 1 << 30
"""A workbook that unpacks to more is not read."""
MOST_FILES = 10_000
MOST_MERGED = 1_000_000
BLOCK = 1 << 20
OVERLAP = 256  # more than a tag that is looked for has

_ENTITIES = re.compile(rb"<!DOCTYPE|<!ENTITY")
_MERGED = re.compile(rb'<(?:\w+:)?mergeCell\s[^>]*?ref="([A-Z]{1,3})(\d{1,7}):([A-Z]{1,3})(\d{1,7})"')
_MAIN = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
_ID = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"
BOOK, LINKS = "xl/workbook.xml", "xl/_rels/workbook.xml.rels"


def check_workbook(path: Path) -> None:
    """`CorpusError` for a file that is no workbook, or that could fill the memory."""
    with _archive(path) as archive:
        files = archive.infolist()
        if len(files) > MOST_FILES or sum(file.file_size for file in files) > MOST_BYTES:
            raise CorpusError(
                f"the workbook unpacks to more than {MOST_BYTES >> 30} GiB or {MOST_FILES:,} files.",
                where=str(path),
                remedy="Save the sheet as CSV.",
            )
        for file in files:
            if file.filename.lower().endswith((".xml", ".rels")):
                with archive.open(file) as content:
                    _check_xml(content, path, file.filename)


def merged_cells(path: Path, title: str) -> dict[int, list[tuple[int, int]]]:
    """Cells of a sheet that are merged with cells below: by row, columns from 0 and the last row."""
    found: dict[int, list[tuple[int, int]]] = {}
    with _archive(path) as archive:
        name = _file_of_sheet(archive, title)
        if name is None:
            return found
        with archive.open(name) as content:
            for number, tag in enumerate(_found(content, _MERGED)):
                if number == MOST_MERGED:
                    raise CorpusError(f"has more than {MOST_MERGED:,} merged cells.", where=str(path))
                first, last = int(tag[2]), int(tag[4])
                if last > first:
                    found.setdefault(first, []).append((_column(tag[1].decode()), last))
    return found


def _file_of_sheet(archive: zipfile.ZipFile, title: str) -> str | None:
    """The file that holds a sheet; None if it is not where programs put it."""
    try:
        book, links = (ElementTree.fromstring(archive.read(name)) for name in (BOOK, LINKS))
    except (KeyError, ElementTree.ParseError):
        return None
    for sheet in book.iter(f"{_MAIN}sheet"):
        if sheet.get("name") == title:
            for link in links:
                if link.get("Id") == sheet.get(_ID):
                    target = link.get("Target", "")
                    found = target.lstrip("/") if target.startswith("/") else posixpath.join("xl", target)
                    return found if found in archive.namelist() else None
    return None


@contextmanager
def _archive(path: Path) -> Generator[zipfile.ZipFile]:
    try:
        with zipfile.ZipFile(path) as archive:
            yield archive
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, ValueError) as error:
        raise CorpusError(
            "is not an .xlsx workbook, is damaged, or needs a password.",
            where=str(path),
            remedy="Open it in a spreadsheet program and save it again as .xlsx, or as CSV.",
        ) from error
    except OSError as error:
        raise CorpusError(f"can't be read: {error.strerror or error}.", where=str(path)) from error


def _check_xml(content: IO[bytes], path: Path, name: str) -> None:
    start = content.read(4)
    if start.startswith((b"\xff\xfe", b"\xfe\xff")) or b"\0" in start:
        raise CorpusError(f"{name} in it is not in UTF-8.", where=str(path), remedy="Save it again as .xlsx.")
    if next(_found(content, _ENTITIES, start), None):
        raise CorpusError(
            f"{name} in it has a <!DOCTYPE>, which no spreadsheet program writes.",
            where=str(path),
            remedy="Save it again as .xlsx.",
        )


def _found(content: IO[bytes], pattern: re.Pattern[bytes], before: bytes = b"") -> Iterator[re.Match[bytes]]:
    """Each place where the pattern stands in a long content, once."""
    while block := content.read(BLOCK):
        window = before + block
        last = 0
        for found in pattern.finditer(window):
            last = found.end()
            yield found
        before = window[max(last, len(window) - OVERLAP) :]


def _column(letters: str) -> int:
    number = 0
    for letter in letters:
        number = 26 * number + ord(letter) - ord("A") + 1
    return number - 1
