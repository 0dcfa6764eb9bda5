"""Puts the published corpora into a folder and checks their checksums.

A file that is not the release's own is never replaced, unless the user says so.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Literal, NamedTuple

from textsplice.corpus import e2e, wikibio
from textsplice.corpus.download import (
    KnownFile,
    download,
    partial_path,
    refuse_to_replace,
    wrong_checksum,
)
from textsplice.corpus.lines import read_lines
from textsplice.corpus.missing import missing_file
from textsplice.errors import CorpusError
from textsplice.files import atomic_path, atomic_write_text, file_hash

E2E_URL = "https://raw.githubusercontent.com/tuetschek/e2e-dataset/master"
E2E_FILES = (
    KnownFile(
        e2e.SPLIT_FILES["train"],
        9_340_189,
        "f27d48df45815288ab15619d47a79028c300fbb7f42e373668aba0b98c1d57c6",
    ),
    KnownFile(
        e2e.SPLIT_FILES["dev"],
        1_161_305,
        "fc26b78cdb849c80545f513b223d1e051138b43882eeb79e3eb153e689c864f9",
    ),
    KnownFile(
        e2e.SPLIT_FILES["test"],
        1_310_822,
        "edc8db685e39bb9824d5bd70c18b1c9b0412d14b527aa960e2d1c8251ee15ccd",
    ),
)

WIKIBIO_HELP = (
    "Get it by hand: clone https://github.com/DavidGrangier/wikipedia-biography-dataset, then in it"
    " `cat wikipedia-biography-dataset.z?? > all.zip && unzip all.zip`,"
    " and name the folder that has train, valid and test with --from."
)
CHECKSUMS = "SHA256SUMS"


class Got(NamedTuple):
    """A file that is in place, and how it got there."""

    path: Path
    how: Literal["already there", "copied", "downloaded", "download resumed"]


def get_e2e(
    to: Path,
    *,
    source: Path | None = None,
    url: str = E2E_URL,
    force: bool = False,
    advance: Callable[[int], None] = lambda _: None,
) -> Iterator[Got]:
    """Puts the three files of E2E into `to`, from the folder `source` or else from `url`."""
    for known in E2E_FILES:
        refuse_to_replace(to / known.name, known.sha256, force=force)
    for known in E2E_FILES:
        path = to / known.name
        if path.is_file() and file_hash(path) == known.sha256:
            advance(known.size)
            yield Got(path, "already there")
        elif source is not None:
            _copy(source / known.name, path, known.sha256, force=force)
            partial_path(path, known).unlink(missing_ok=True)
            advance(known.size)
            yield Got(path, "copied")
        else:
            address = f"{url.rstrip('/')}/{known.name}"
            resumed = download(address, path, known, force=force, advance=advance)
            yield Got(path, "download resumed" if resumed else "downloaded")


def get_wikibio(to: Path, *, source: Path | None = None, force: bool = False) -> Iterator[Got]:
    """Puts WikiBio's nine files into `to`, from a folder in the official layout, flat or unpacked.

    No checksums were published. If `source` has a `SHA256SUMS`, the files are checked against it. The sums
    of what was copied are written to one in `to`.
    """
    if source is None:
        raise CorpusError(
            "WikiBio is published as an archive in parts, which this command can't fetch.",
            where="wikibio",
            remedy=WIKIBIO_HELP,
        )
    files = _wikibio_files(source)
    expected = read_checksums(source / CHECKSUMS)
    recorded = _own_checksums(to / CHECKSUMS)
    checksums = {path: expected.get(path.name) or file_hash(path) for path in files}
    for original, checksum in checksums.items():
        refuse_to_replace(to / original.name, checksum, force=force)
    for original, checksum in checksums.items():
        path = to / original.name
        there = path.is_file() and file_hash(path) == checksum
        if not there:
            _copy(original, path, checksum, force=force)
        if recorded.get(path.name) != checksum:
            recorded[path.name] = checksum
            _write_checksums(to / CHECKSUMS, recorded)
        yield Got(path, "already there" if there else "copied")


def read_checksums(path: Path) -> dict[str, str]:
    """File names and their sums as `sha256sum` writes them; empty if there is no such file."""
    if not path.is_file():
        return {}
    sums: dict[str, str] = {}
    for number, line in read_lines(path):
        checksum, _, name = line.rstrip("\r\n").partition("  ")
        if len(checksum) != 64 or not name:
            raise CorpusError("expected a SHA-256, two spaces and a name.", where=f"{path}:{number}")
        sums[name] = checksum
    return sums


def _own_checksums(path: Path) -> dict[str, str]:
    """The sums that an earlier run wrote; an error if the file is about anything but WikiBio."""
    sums = read_checksums(path)
    names = {
        f"{split}.{kind}{ending}"
        for split in wikibio.SPLIT_NAMES.values()
        for kind in wikibio.KINDS
        for ending in ("", ".gz")
    }
    for name in sums:
        if name not in names:
            raise CorpusError(
                f"lists {name!r}, which is not a file of WikiBio; nothing was changed.",
                where=str(path),
                remedy="Name another folder with --to.",
            )
    return sums


def _write_checksums(path: Path, sums: dict[str, str]) -> None:
    lines = (f"{checksum}  {name}\n" for name, checksum in sorted(sums.items()))
    atomic_write_text(path, "".join(lines))


def _wikibio_files(source: Path) -> list[Path]:
    """All nine files; an error if one is missing, before the first is copied."""
    found: list[Path] = []
    for name in wikibio.SPLIT_NAMES.values():
        for kind in wikibio.KINDS:
            path = wikibio.find_file(source, name, kind)
            if path is None:
                raise missing_file(source / f"{name}.{kind}", remedy=WIKIBIO_HELP)
            found.append(path)
    return found


def _copy(original: Path, path: Path, sha256: str, *, force: bool) -> None:
    """Copies a file, and puts the copy in place only if it has the checksum."""
    if not original.is_file():
        raise missing_file(original)
    with atomic_path(path) as temporary:
        shutil.copyfile(original, temporary)
        checksum = file_hash(temporary)
        if checksum != sha256:
            raise wrong_checksum(str(original), checksum, sha256)
        refuse_to_replace(path, sha256, force=force)
