"""The published corpora, brought into a folder file by file, each with its checksum."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Literal, NamedTuple

from textsplice.corpus import e2e, wikibio
from textsplice.corpus.download import KnownFile, download, partial_path, wrong_checksum
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
    """A file that is now in place, and how it came there."""

    path: Path
    how: Literal["already there", "copied", "downloaded", "download resumed"]


def get_e2e(
    to: Path,
    *,
    source: Path | None = None,
    url: str = E2E_URL,
    advance: Callable[[int], None] = lambda _: None,
) -> Iterator[Got]:
    """The three files of E2E into `to`, from the folder `source` or else from `url`."""
    for known in E2E_FILES:
        path = to / known.name
        if path.is_file() and file_hash(path) == known.sha256:
            advance(known.size)
            yield Got(path, "already there")
        elif source is not None:
            _copy(source / known.name, path, known.sha256)
            partial_path(path).unlink(missing_ok=True)
            advance(known.size)
            yield Got(path, "copied")
        else:
            resumed = download(f"{url.rstrip('/')}/{known.name}", path, known, advance=advance)
            yield Got(path, "download resumed" if resumed else "downloaded")


def get_wikibio(to: Path, *, source: Path | None = None) -> Iterator[Got]:
    """WikiBio's nine files into `to`, from a folder in the official layout, flat or unpacked.

    Nobody published checksums. Those of a `SHA256SUMS` in `source` are checked; in any case
    the sums of what was copied are written to one in `to`, which the next run is checked against.
    """
    if source is None:
        raise CorpusError(
            "WikiBio is published as an archive in parts, which this command can't fetch.",
            where="wikibio",
            remedy=WIKIBIO_HELP,
        )
    files = _wikibio_files(source)
    expected = read_checksums(source / CHECKSUMS)
    recorded = read_checksums(to / CHECKSUMS)
    for original in files:
        path = to / original.name
        checksum = expected.get(path.name) or file_hash(original)
        if path.is_file() and recorded.get(path.name) == checksum == file_hash(path):
            yield Got(path, "already there")
            continue
        _copy(original, path, checksum)
        recorded[path.name] = checksum
        _write_checksums(to / CHECKSUMS, recorded)
        yield Got(path, "copied")


def read_checksums(path: Path) -> dict[str, str]:
    """File names and their sums as `sha256sum` writes them; nothing if there is no such file."""
    if not path.is_file():
        return {}
    sums: dict[str, str] = {}
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        checksum, _, name = line.partition("  ")
        if len(checksum) != 64 or not name:
            raise CorpusError("expected a SHA-256, two spaces and a name.", where=f"{path}:{number}")
        sums[name] = checksum
    return sums


def _write_checksums(path: Path, sums: dict[str, str]) -> None:
    lines = (f"{checksum}  {name}\n" for name, checksum in sorted(sums.items()))
    atomic_write_text(path, "".join(lines))


def _wikibio_files(source: Path) -> list[Path]:
    """All nine files, before the first is copied."""
    found: list[Path] = []
    for name in wikibio.SPLIT_NAMES.values():
        for kind in wikibio.KINDS:
            path = wikibio.find_file(source, name, kind)
            if path is None:
                raise missing_file(source / f"{name}.{kind}", remedy=WIKIBIO_HELP)
            found.append(path)
    return found


def _copy(original: Path, path: Path, sha256: str) -> None:
    """Copies a file and puts the copy in place only if it has the checksum."""
    if not original.is_file():
        raise missing_file(original)
    with atomic_path(path) as temporary:
        shutil.copyfile(original, temporary)
        checksum = file_hash(temporary)
        if checksum != sha256:
            raise wrong_checksum(str(original), checksum, sha256)
