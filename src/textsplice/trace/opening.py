"""Opening the texts of a run, a prepared folder or a corpus: worked out once, then kept (`runs/kept.py`)."""

from __future__ import annotations

import hashlib
import unicodedata
import warnings
from collections.abc import Callable, Sequence
from functools import cache, cached_property
from importlib.metadata import version
from importlib.resources import files
from importlib.resources.abc import Traversable

from textsplice.corpus.corpus import Corpus
from textsplice.errors import StorageError
from textsplice.files import file_hash
from textsplice.neighbors.store import StoredTexts
from textsplice.progress import bar
from textsplice.runs.export import ExportedRun
from textsplice.runs.kept import find_kept, forget, keep, key_of_parts
from textsplice.runs.prepared import Prepared
from textsplice.runs.run import Run
from textsplice.text.tokens import Tokenizer
from textsplice.trace.texts import Advance, SourceTexts

# What decides how texts are read, tokenized, masked and indexed.
ROOMS = ("corpus", "text", "neighbors", "oracle", "trace")
OF_A_CORPUS: Tokenizer = "words"  # the default of `prepare`


class _Corpus:
    """Texts of a corpus that was not prepared."""

    def __init__(self, corpus: Corpus) -> None:
        self.corpus = corpus

    def made_from(self) -> tuple[object, ...] | None:
        """What decides which texts these are; None if that can't be told."""
        reading = self.corpus.reading
        return reading and (OF_A_CORPUS, *reading, [file_hash(path) for path in self.corpus.files])

    def total(self) -> int:
        """How many there are."""
        return len(self.corpus)

    def work_out(self, advance: Advance) -> SourceTexts:
        """Reads, tokenizes and masks them."""
        return SourceTexts.of_examples(self.corpus, OF_A_CORPUS, advance)


class _Store:
    """Texts of a run or a prepared folder."""

    def __init__(self, opened: Run | ExportedRun | Prepared) -> None:
        self.opened = opened
        self.name = opened.key[:12] if isinstance(opened, Prepared) else opened.id

    def made_from(self) -> tuple[object, ...]:
        """What decides which texts these are; the tokenizer is in one of the files."""
        return (self.name, self.opened.stored_texts.hashes())

    def total(self) -> int:
        """How many there are."""
        return len(self._read[0].ids)

    def work_out(self, advance: Advance) -> SourceTexts:
        """Reads them with their own tokenizer."""
        return SourceTexts.of_store(*self._read, self.name, advance)

    @cached_property
    def _read(self) -> tuple[StoredTexts, Sequence[str]]:
        return self.opened.stored_texts.read()


def open_texts(
    opened: Run | ExportedRun | Prepared | Corpus, *, kept: bool = True, quiet: bool = False
) -> SourceTexts:
    """All texts, memory-mapped if they were opened before; if they can't be kept, a warning says so.

    Unless `kept`, they are read themselves: whoever can write to the cache folder has no say.
    """
    origin = _Corpus(opened) if isinstance(opened, Corpus) else _Store(opened)
    made_from = origin.made_from() if kept else None
    if made_from is None:
        return _worked_out(origin, quiet)
    key = key_of_parts(_code(), made_from)
    try:
        return SourceTexts.load(find_kept(key))
    except StorageError:
        forget(key)
    found = _worked_out(origin, quiet)
    if origin.made_from() != made_from:  # a file has changed meanwhile
        return found
    try:
        with bar(2 * len(found), "indexing texts", quiet=quiet) as progress:
            folder = keep(key, lambda folder: found.save(folder, progress.advance))
        return SourceTexts.load(folder)
    except StorageError as error:
        warnings.warn(f"{error} The texts are indexed again the next time.", RuntimeWarning, stacklevel=2)
        return found


def _worked_out(origin: _Corpus | _Store, quiet: bool) -> SourceTexts:
    with bar(origin.total, "reading texts", quiet=quiet) as progress:
        return origin.work_out(progress.advance)


@cache
def _code() -> list[str]:
    """A hash of our own code, and the versions of what it depends on: with others, all is made again."""
    digest = hashlib.sha256()
    for room in ROOMS:
        _add(digest.update, files("textsplice") / room)
    return [digest.hexdigest(), unicodedata.unidata_version, version("regex")]


def _add(update: Callable[[bytes], None], folder: Traversable) -> None:
    for each in sorted(folder.iterdir(), key=lambda each: each.name):
        if each.is_dir():
            _add(update, each)
        elif each.name.endswith(".py"):
            update(each.name.encode() + b"\0" + each.read_bytes())
