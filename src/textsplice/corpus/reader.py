"""What a corpus format is: one subclass of `Reader`, and one line in `extensions.FORMATS`.

A format is registered by an ending (`.csv`), by a prefix (`e2e` for `e2e:PATH`), or by a name that needs no
path (`bundled`). The smallest one has only `examples`:

    class KeyValueReader(Reader):
        def examples(self):
            for number, line in enumerate(self.path.read_text().splitlines(), start=1):
                record, _, text = line.partition(" => ")
                table = Table.of(dict(item.split("=") for item in record.split(";")))
                yield Example(self.id_of(number), table, text or None)

    extensions.FORMATS.add(".kv", KeyValueReader)
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cached_property
from pathlib import Path
from typing import ClassVar, Literal

from textsplice.corpus.bad_rows import BadRows
from textsplice.corpus.lists import WHERE, ListColumns
from textsplice.corpus.table import Example
from textsplice.errors import ConfigError, CorpusError

Sentences = Literal["first", "all"]


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """What a user can say about how a corpus is read; each format uses what it needs."""

    text_column: str | None = None
    # Whether a corpus without that column is read as if none had been named.
    text_column_optional: bool = False
    sentences: Sentences = "first"
    # How many of the alternatives in a row of `textsplice generate` are examples too.
    alternatives: int = 0
    # Whether the texts of such rows count only if they are finished.
    finished: bool = False
    # Columns whose cells hold several values, as `corpus.lists` names them.
    lists: tuple[str, ...] = ()
    # Fields that ask for a value where a record names them without one.
    asked: tuple[str, ...] = ()
    # Fields whose values are read in the form in which texts say them, such as `price=1,000`.
    forms: tuple[str, ...] = ()
    # What follows `#` in a source: the sheet of a workbook, the configuration of a dataset.
    part: str | None = None

    def text_column_among(self, columns: Sequence[str], *, usual: str, where: str) -> str | None:
        """The column of the text: the one that was named, else the usual one, if it is there."""
        named = self.text_column
        if named in columns:
            return named
        if named is None or self.text_column_optional:
            return usual if usual in columns else None
        nearest = get_close_matches(named, columns, n=1)
        raise CorpusError(
            f"there is no column {named!r} for the text"
            + (f"; did you mean {nearest[0]!r}?" if nearest else "."),
            where=where,
            remedy=f"The columns are {', '.join(columns)}.",
        )


class Reader(ABC):
    """Reads the examples of one whole file, or of one split of a folder.

    `path` is that file or folder. `split` is train, dev or test; it is None for a file, which is read whole
    (`splits` cuts it afterwards).
    """

    # What the path may be; a name is of something that need not be on this machine. A format that takes
    # nothing is written without a path.
    takes: ClassVar[tuple[Literal["file", "folder", "name"], ...]] = ("file",)
    # What to do if there is nothing at the path.
    if_missing: ClassVar[str | None] = None
    # What may follow the path after `#`; None if nothing may.
    part: ClassVar[str | None] = None
    # Collects bad rows, which are skipped; None if the first is an error.
    skipped: BadRows | None = None

    def __init__(self, path: Path, split: str | None, options: ReadOptions) -> None:
        self.path = path
        self.split = split
        self.options = options

    @classmethod
    def recognizes(cls, folder: Path) -> bool:  # noqa: ARG003
        """Whether a folder that was named without a prefix is of this format."""
        return False

    @classmethod
    def is_whole(cls, path: Path, options: ReadOptions) -> bool:  # noqa: ARG003
        """Whether there is one part at the path, of which train, dev and test are cut."""
        return path.is_file()

    @property
    def files(self) -> tuple[Path, ...]:
        """The files that are read."""
        return (self.path,)

    @abstractmethod
    def examples(self) -> Iterator[Example]:
        """The examples in the order of the file, one at a time."""

    def count(self) -> int:
        """How many examples there are."""
        return sum(1 for _ in self.examples())

    def columns(self) -> list[str] | None:
        """The names that a text column could have; None if the format has no columns."""
        return None

    def find_lists(self) -> ListColumns:
        """The columns whose cells hold several values; a format that has lists of its own has none."""
        return {}

    def check_lists(self, columns: ListColumns) -> None:
        """An error if columns that are said to hold lists are not there."""
        if columns:
            raise ConfigError(
                "columns of lists can be named only for CSV, TSV and Excel files.",
                where=WHERE,
                remedy="In other formats a field holds a list as it is: leave the setting out.",
            )

    def refuse(self, problem: CorpusError) -> None:
        """Raises the problem of a row, unless bad rows are skipped."""
        if self.skipped is None:
            raise problem
        self.skipped.add(problem)

    def id_of(self, number: int) -> str:
        """The id of an example that has none of its own; numbers count from 1."""
        return f"{self._prefix}:{number}"

    @cached_property
    def _prefix(self) -> str:
        return self.split or self.path.name.split(".")[0]
