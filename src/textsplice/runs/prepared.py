"""A prepared folder: what training, search and `inspect` see of a corpus."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from textsplice.arrow import column_ints, column_ragged, column_texts, read_columns, undamaged
from textsplice.config import Config, load_config
from textsplice.corpus import Table
from textsplice.errors import StorageError
from textsplice.neighbors.store import Store
from textsplice.neighbors.tables import Tables
from textsplice.oracle.numbering import in_order
from textsplice.runs.findings import read_findings
from textsplice.runs.fitted import default_system
from textsplice.runs.integrity import CheckedFiles, require_words
from textsplice.runs.manifest import NAME as MANIFEST
from textsplice.runs.manifest import Manifest, is_manifest
from textsplice.runs.ownership import locked, require_ours
from textsplice.runs.prepared_files import TARGETS, PreparedFiles
from textsplice.runs.prepared_split import PreparedSplit, require_sound
from textsplice.runs.text_files import TextFiles
from textsplice.slots.kinds import Finding, kinds_of
from textsplice.slots.lexicon import Lexicon
from textsplice.slots.wordings import FieldKind
from textsplice.text import Vocabulary

REMEDY = "Run `textsplice prepare` again: it makes damaged files again."


@dataclass(frozen=True)
class Prepared:
    """A prepared folder: its settings, vocabulary, store and splits. Each file is checked when opened."""

    files: PreparedFiles
    config: Config
    manifest: Manifest

    @staticmethod
    def is_prepared(folder: Path | str) -> bool:
        """Whether a folder is one that `prepare` made, finished or not."""
        return is_manifest(default_system(folder) / MANIFEST)

    @classmethod
    def require_free(cls, folder: Path) -> None:
        """`StorageError` if a corpus can't be prepared into a folder, since it holds something else."""
        what = "a folder that `textsplice prepare` made"
        require_ours(folder, ours=cls.is_prepared(folder), what=what, first=MANIFEST)

    @classmethod
    def open(cls, folder: Path | str) -> Prepared:
        """Opens a folder that `prepare` finished."""
        files = PreparedFiles(default_system(folder))
        if not cls.is_prepared(folder) or not files.vocabulary.is_file() or not files.config.is_file():
            raise StorageError(
                "is not a finished prepared folder.",
                where=str(folder),
                remedy="Run `textsplice prepare CONFIG`.",
            )
        manifest = Manifest(files.folder)
        opened = cls(files, Config(), manifest)
        return replace(opened, config=load_config(opened._path(files.config)))

    @property
    def folder(self) -> Path:
        """The folder itself."""
        return self.files.folder

    @property
    def key(self) -> str:
        """A hash of everything this folder was made from."""
        return self.manifest.key()

    @cached_property
    def _checked(self) -> CheckedFiles:
        return CheckedFiles(self.folder, self.manifest.hashes, REMEDY)

    def check(self) -> int:
        """Reads every listed file and compares hashes: how many there are, or `StorageError`."""
        return self._checked.check_all()

    def _path(self, path: Path) -> Path:
        name = path.relative_to(self.folder).as_posix()
        if name not in self.manifest.hashes:
            raise StorageError("is not listed in the manifest.", where=str(path), remedy=REMEDY)
        return self._checked.path(name)

    @cached_property
    def vocabulary(self) -> Vocabulary:
        """Words and which of them may be generated."""
        return Vocabulary.load(self._path(self.files.vocabulary))

    @cached_property
    def store(self) -> Store:
        """The training texts that may be spliced from."""
        if "store" not in self.manifest.stages:
            raise StorageError("is not listed in the manifest.", where=str(self.files.store), remedy=REMEDY)
        store = Store.load(self._checked.folder_path(self.files.store.name))
        require_words(store.tokens.values, len(self.vocabulary), self.files.store, REMEDY)
        return store

    @property
    def stored_texts(self) -> TextFiles:
        """The training texts alone, and the files they are in."""
        if "store" not in self.manifest.stages:
            raise StorageError("is not listed in the manifest.", where=str(self.files.store), remedy=REMEDY)
        folder = self._checked.folder_path(self.files.store.name)
        return TextFiles(folder, self._path(self.files.vocabulary), REMEDY)

    def store_files(self) -> list[Path]:
        """The files of the store, checked."""
        self._checked.folder_path(self.files.store.name)
        names = [name for name in self.manifest.hashes if name.startswith(f"{self.files.store.name}/")]
        return [self.folder / name for name in names]

    @cached_property
    def lexicon(self) -> Lexicon | None:
        """How values are worded; None if the corpus was prepared without a lexicon."""
        path = self.files.lexicon
        if path.name not in self.manifest.hashes:
            return None
        return Lexicon.load(self._path(path)).with_kinds(self.kinds)

    @cached_property
    def findings(self) -> list[Finding]:
        """What kinds of fields there are, and why; nothing if that was not asked for."""
        path = self.files.kinds
        return read_findings(self._path(path)) if path.name in self.manifest.hashes else []

    @property
    def kinds(self) -> dict[str, FieldKind]:
        """The kinds alone."""
        return kinds_of(self.findings)

    @property
    def splits(self) -> tuple[str, ...]:
        """The names of the splits."""
        return self.config.corpus.splits

    def split(self, name: str) -> PreparedSplit:
        """Reads one split."""
        self._require(name)
        return self._read(name)

    def learned(self, name: str) -> PreparedSplit:
        """What policies learn of a split: its own examples, or the targets that were given instead."""
        self._require(name)
        return self._read(f"{TARGETS}{name}" if self.config.corpus.targets else name)

    def _read(self, name: str) -> PreparedSplit:
        with undamaged(self.folder, REMEDY):
            texts = read_columns(self._path(self.files.texts(name)), ["id", "text"])
            encoded = read_columns(self._path(self.files.encoded_texts(name)))
            tables = read_columns(self._path(self.files.encoded_tables(name)))
            neighbors = column_ragged(self._parts(self.files.neighbors, name)["neighbors"])
            splices = column_ragged(self._parts(self.files.derivations, name)["splices"])
            split = PreparedSplit(
                name=name,
                ids=column_texts(texts["id"]),
                texts=column_texts(texts["text"]),
                tables=read_tables(self._path(self.files.tables(name))),
                table_tokens=column_ragged(tables["tokens"]),
                table_segments=column_ragged(tables["segments"]),
                table_of=column_ints(encoded["table"]),
                targets=column_ragged(encoded["tokens"]),
                unsaid=column_ints(encoded["unsaid"]),
                neighbors=neighbors.values.reshape(len(neighbors), -1),
                splices=splices.values.reshape(-1, 5),
                splice_offsets=splices.offsets // 5,
            )
        require_sound(split, self.store, self.vocabulary, str(self.folder), REMEDY)
        return split

    def texts(self, split: str) -> list[str]:
        """The texts of a split, as written."""
        self._require(split)
        return column_texts(read_columns(self._path(self.files.texts(split)), ["text"])["text"])

    def _require(self, split: str) -> None:
        if split not in self.splits:
            raise StorageError(
                f"has no split {split!r}; it has {', '.join(self.splits)}.", where=str(self.folder)
            )

    def _parts(self, path_of: Callable[[str, int], Path], split: str) -> pa.Table:
        tables: list[pa.Table] = []
        while path_of(split, len(tables)).relative_to(self.folder).as_posix() in self.manifest.hashes:
            tables.append(read_columns(self._path(path_of(split, len(tables)))))
        if not tables:
            where = str(path_of(split, 0))
            raise StorageError("is not listed in the manifest.", where=where, remedy=REMEDY)
        return pa.concat_tables(tables)


@contextmanager
def claimed(folder: Path) -> Generator[Manifest]:
    """Holds a folder for one `prepare`: a new or empty one, or one that `prepare` made before."""
    Prepared.require_free(folder)
    existed = folder.exists()
    busy = StorageError(
        "another process is preparing this folder.", where=str(folder), remedy="Wait until it ends."
    )
    with locked(folder, busy, MANIFEST):
        manifest = Manifest(folder)
        manifest.start()
        try:
            yield manifest
        except BaseException:
            manifest.abandon_if_empty()
            if not existed:
                with suppress(OSError):  # something is in it
                    folder.rmdir()
            raise


def read_tables(path: Path) -> Sequence[Table]:
    """The tables of a tables file."""
    return Tables(read_columns(path, ["record"])["record"], path)


def sources_of(
    split: PreparedSplit, row: int, store: Store, vocabulary: Vocabulary
) -> Sequence[NDArray[np.int32]]:
    """All sources of an example, each at its number: the table, the neighbors, every word."""
    return in_order(
        split.table_tokens[split.table_of[row]],
        (store.tokens[neighbor] for neighbor in split.neighbors_of(row)),
        np.arange(len(vocabulary), dtype=np.int32)[:, None],
    )
