"""A corpus: examples that are read from their files again on each pass."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from functools import cached_property
from pathlib import Path

from textsplice.corpus.asked import with_asked
from textsplice.corpus.forms import with_forms
from textsplice.corpus.reader import Reader
from textsplice.corpus.splits import CUT_VERSION, Cut
from textsplice.corpus.table import Example
from textsplice.errors import CorpusError

MOST_TOLD = 40  # columns that an error names


class Corpus:
    """Examples in the order of their file; they are not kept in memory, so make one pass if you can.

    `files` are the files it is read from. `len()` makes one pass over them.
    `split` is train, dev or test; None if this is every row of one file.
    """

    def __init__(self, reader: Reader, source: str, split: str | None = None) -> None:
        self.source = source
        self.split = split
        self._reader = reader

    @property
    def files(self) -> tuple[Path, ...]:
        return self._reader.files

    @property
    def lists(self) -> tuple[str, ...]:
        """The columns whose cells hold several values, as `corpus.lists` names them."""
        return self._reader.options.lists

    def require_texts(self) -> Corpus:
        """Itself; `CorpusError` that names the columns if no row has a text."""
        reader = self._reader.whole if isinstance(self._reader, Cut) else self._reader
        if any(example.text for example in reader.examples()):
            return self
        columns = [name for name in reader.columns() or [] if name != "id"]
        named = reader.options.text_column or "text"
        remedy = "Give a corpus that has texts."
        if columns:
            told = ", ".join(columns[:MOST_TOLD]) + (", …" if len(columns) > MOST_TOLD else "")
            remedy = f"The columns are {told}: name that of the text with --text-column (corpus.text_column)."
            if named in columns:
                remedy = f"The column {named!r} is empty. {remedy}"
        raise CorpusError("there is no text here.", where=self.source, remedy=remedy)

    @property
    def cut_version(self) -> int | None:
        """The version of the rule by which this split was cut from one file; None if it was not."""
        return CUT_VERSION if isinstance(self._reader, Cut) else None

    @property
    def reading(self) -> tuple[object, ...] | None:
        """What decides, with the content of its files, which examples it has; None for a plugin's format,
        whose code may have changed since."""
        reader = self._reader.whole if isinstance(self._reader, Cut) else self._reader
        kind = type(reader)
        if kind.__module__.split(".")[0] != __name__.split(".")[0]:
            return None
        names = [path.name for path in (reader.path, *self.files)]  # ids may hold them
        return (kind.__qualname__, names, self.split, self.cut_version, asdict(reader.options))

    def default_id(self, number: int) -> str:
        """The id that the example of this number (from 1) has, unless it has one of its own."""
        return self._reader.id_of(number)

    def __iter__(self) -> Iterator[Example]:
        options = self._reader.options
        formed = (with_forms(example, options.forms) for example in self._reader.examples())
        return (with_asked(example, options.asked) for example in formed)

    def __len__(self) -> int:
        return self._count

    @cached_property
    def _count(self) -> int:
        return self._reader.count()

    def __repr__(self) -> str:
        return f"Corpus({self.source!r}, split={self.split!r})"
