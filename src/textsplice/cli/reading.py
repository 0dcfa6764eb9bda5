"""Records that a command is given, from a file or standard input; rows that can't be read are told."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Generator, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from textsplice.cli.output import say

if TYPE_CHECKING:
    from textsplice.config import CorpusConfig
    from textsplice.corpus import Corpus, Example, Table
    from textsplice.corpus.bad_rows import BadRows
    from textsplice.errors import CorpusError

STDIN, SHOWN = "-", "standard input"
MOST_BYTES = 4 << 30
MOST_TOLD = 20  # rows that are told one by one
BLOCK = 1 << 20


@dataclass(frozen=True)
class Source:
    """What a user named, as `read_corpus` takes it; `shown` is what people call it."""

    name: str
    format: str | None
    shown: str

    def told(self, text: str | None) -> str | None:
        """A place or a sentence in which the source is called as people call it."""
        return None if text is None else text.replace(self.name, self.shown)


@contextmanager
def opened_source(named: str, kind: str | None) -> Generator[Source]:
    """The source itself; standard input, for `-`, is kept in a file for as long as it is read."""
    from textsplice.errors import TextspliceError

    if named != STDIN:
        yield Source(named, kind, named)
        return
    with tempfile.TemporaryDirectory(prefix="textsplice-") as folder:
        kept = Path(folder, "stdin")
        start = _keep_standard_input(kept)
        kind = kind or _format_of(start)
        source = Source(str(kept.rename(kept.with_suffix(f".{kind}"))), kind, SHOWN)
        try:
            yield source
        except TextspliceError as error:
            where, remedy = source.told(error.where), source.told(error.remedy)
            raise type(error)(error.what, where=where, remedy=remedy) from error


def _keep_standard_input(path: Path) -> bytes:
    """Writes what is sent to a file; returns its beginning."""
    from textsplice.errors import InputError

    start, size = b"", 0
    with path.open("wb") as file:
        while block := sys.stdin.buffer.read(BLOCK):
            start = start or block
            size += len(block)
            if size > MOST_BYTES:
                raise InputError(
                    f"has more than {MOST_BYTES >> 30} GiB.", where=SHOWN, remedy="Save it as a file."
                )
            file.write(block)
    if not start.strip():
        raise InputError("there is no record.", where=SHOWN)
    return start


def _format_of(start: bytes) -> str:
    """JSONL if it begins with a brace, else CSV or TSV."""
    from textsplice.errors import InputError

    text = start.removeprefix(b"\xef\xbb\xbf").lstrip()
    if text.startswith((b"[", b"\x1f\x8b")):
        what = "is a JSON array" if text.startswith(b"[") else "is compressed"
        remedy = "Send one object per line." if text.startswith(b"[") else "Unpack it first: zcat FILE | …"
        raise InputError(f"{what}.", where=SHOWN, remedy=remedy)
    for begins, kind in ((b"{", "jsonl"), (b"PK\x03\x04", "xlsx"), (b"PAR1", "parquet")):
        if text.startswith(begins):
            return kind
    header = text.split(b"\n", 1)[0]
    return "tsv" if b"\t" in header and b"," not in header else "csv"


class Records:
    """The records to write texts for, read again on each pass.

    Rows that can't be read, and records without a value, are skipped; with `strict`, the first is an error.
    """

    def __init__(
        self,
        source: Source,
        split: str | None = None,
        *,
        text_column: str | None = None,
        lists: list[str] | None = None,
        like: CorpusConfig | None = None,
        strict: bool = False,
        distinct: bool = False,
        limit: int | None = None,
    ) -> None:
        from textsplice.corpus import read_corpus
        from textsplice.corpus.bad_rows import BadRows

        self.source = source
        self.bad: BadRows = BadRows()
        self._strict, self._distinct, self._limit = strict, distinct, limit
        self.corpus: Corpus = read_corpus(
            source.name,
            split,
            text_column=text_column,
            lists=lists,
            like=like,
            format=source.format,
            skipped=None if strict else self.bad,
        )

    def __iter__(self) -> Iterator[Example]:
        found = self._with_values()
        return islice(distinct_tables(found) if self._distinct else found, self._limit)

    def survey(self) -> Survey:
        """Reads all once, before the long work: how many there are, their fields, and what is wrong."""
        count, fields = 0, dict[str, None]()
        for example in self:
            count += 1
            fields.update(dict.fromkeys(name for name, _ in example.table))
        if not count and self.bad:
            raise self.bad.kept[0]
        return Survey(count, tuple(fields))

    def tell_skipped(self) -> None:
        """Says which rows were skipped, and why."""
        for problem in self.bad.kept[:MOST_TOLD]:
            say(f"skipped {self.source.told(problem.sentence())}", err=True)
        if len(self.bad) > MOST_TOLD:
            say(f"… and {len(self.bad) - MOST_TOLD:,} more.", err=True)

    def _with_values(self) -> Iterator[Example]:
        for example in self.corpus:
            if any(values for _, values in example.table):
                yield example
            else:
                self._refuse(example)

    def _refuse(self, example: Example) -> None:
        problem = _without_values(example, self.source)
        if self._strict:
            raise problem
        self.bad.add(problem)


@dataclass(frozen=True)
class Survey:
    """What was found in records: how many there are, and the names of all their fields."""

    count: int
    fields: tuple[str, ...]


def _without_values(example: Example, source: Source) -> CorpusError:
    from textsplice.errors import CorpusError

    return CorpusError("no field of this record has a value.", where=f"{source.name}, {example.id!r}")


def distinct_tables(examples: Iterable[Example]) -> Iterator[Example]:
    """The first example of each table."""
    seen: set[Table] = set()
    for example in examples:
        if example.table not in seen:
            seen.add(example.table)
            yield example


def say_lists(lists: tuple[str, ...], source: str, *, quiet: bool = False) -> None:
    """Says which columns of a corpus were found to hold lists."""
    from textsplice.corpus.lists import described

    if lists and not quiet:
        say(f"{source}: cells are read as lists in {described(lists)}.", err=True)
