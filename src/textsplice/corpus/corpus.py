"""A corpus: examples that are read again from their files each time they are gone through."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Protocol

from textsplice.corpus.table import Example


class Reader(Protocol):
    """What every format offers: its files, its examples one by one, and how many they are."""

    @property
    def files(self) -> tuple[Path, ...]: ...

    def examples(self) -> Iterator[Example]: ...

    def count(self) -> int: ...


class Corpus:
    """Examples in the order of their file; none is kept in memory, so go through it once if you can.

    `files` are the files it is read from. `len()` passes over them once, without making tables.
    """

    def __init__(self, reader: Reader, source: str, split: str | None = None) -> None:
        self.source = source
        self.split = split
        self._reader = reader

    @property
    def files(self) -> tuple[Path, ...]:
        return self._reader.files

    def __iter__(self) -> Iterator[Example]:
        return self._reader.examples()

    def __len__(self) -> int:
        return self._count

    @cached_property
    def _count(self) -> int:
        return self._reader.count()

    def __repr__(self) -> str:
        return f"Corpus({self.source!r}, split={self.split!r})"
