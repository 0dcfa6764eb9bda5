"""Which rows are train, dev and test.

A folder has a file per split. A corpus in one file is cut: all rows of a table go to the same split, which
depends on nothing but the table, whatever the order of its fields.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from pathlib import Path

from textsplice.corpus.reader import Reader
from textsplice.corpus.table import Example, Table
from textsplice.errors import CorpusError

# The splits and all names each may have.
NAMES = {"train": ("train",), "dev": ("dev", "valid", "validation"), "test": ("test",)}
SPLITS = tuple(NAMES)
ALL = "all"
CUT_VERSION = 2
"""Goes up when another table could land in another split, so that `prepare` reads one-file corpora again."""


def split_of_folder(split: str | None, source: str) -> str:
    """The name of a folder's split: `valid` and `validation` are `dev`."""
    if split is None:
        raise CorpusError("which split? Say train, dev or test.", where=source)
    found = _known(split)
    if found is None:
        raise CorpusError(f"unknown split {split!r}.", where=source, remedy="Say train, dev or test.")
    return found


def split_of_file(split: str | None, source: str) -> str | None:
    """The name of a split that one file is cut into; None for every row."""
    if split is None or split == ALL:
        return None
    found = _known(split)
    if found is None:
        remedy = "Say train, dev or test, or all for every row."
        raise CorpusError(f"unknown split {split!r}.", where=source, remedy=remedy)
    return found


def split_of(table: Table) -> str:
    """Where a table of a one-file corpus goes: eight tenths to train, one to dev, one to test."""
    return {0: "dev", 1: "test"}.get(table_digest(table)[0] % 10, "train")


def table_digest(table: Table) -> bytes:
    """Sixteen bytes that identify a table; equal for equal tables, on every machine."""
    return hashlib.blake2b(json.dumps(table.canonical).encode("utf-8"), digest_size=16).digest()


class Cut(Reader):
    """Reads one split of one file."""

    def __init__(self, whole: Reader, split: str) -> None:
        super().__init__(whole.path, split, whole.options)
        self.whole = whole

    @property
    def files(self) -> tuple[Path, ...]:
        return self.whole.files

    def examples(self) -> Iterator[Example]:
        return (example for example in self.whole.examples() if split_of(example.table) == self.split)


def file_of_split(folder: Path, split: str, endings: Sequence[str]) -> Path | None:
    """The one file of a folder that holds a split: `train.jsonl`, `dev.csv`, `valid.parquet`."""
    names = [f"{name}{ending}" for name in NAMES[split] for ending in endings]
    found = [folder / name for name in names if (folder / name).is_file()]
    if len(found) > 1:
        raise CorpusError(
            f"{' and '.join(path.name for path in found)} could both be the {split} split.",
            where=str(folder),
            remedy="Name the file you mean.",
        )
    return found[0] if found else None


def _known(split: str) -> str | None:
    return next((known for known, names in NAMES.items() if split in names), None)
