"""A prepared folder made anew without some of its training texts, or with more, from the folder alone.

The texts come from the folder that is there, and all that depends on them is made again by the stages of
`prepare`: words, store, neighbors, derivations, vocabulary. The corpus itself is not read.
"""

from __future__ import annotations

import os
from abc import abstractmethod
from collections.abc import Collection, Sequence
from dataclasses import replace
from itertools import accumulate
from pathlib import Path

import numpy as np
import pyarrow as pa

from textsplice.arrow import column_ints, column_texts, int_column, read_columns, write_columns
from textsplice.errors import StorageError
from textsplice.files import atomic_write_bytes, file_hash
from textsplice.neighbors.store import Store
from textsplice.prepare.build import Build, Report
from textsplice.prepare.growing import Growth, grow, words_of
from textsplice.prepare.texts import Tokenized, tables_table, texts_table
from textsplice.runs.manifest import Manifest
from textsplice.runs.prepared import Prepared, claimed, read_tables
from textsplice.slots.lexicon import Lexicon
from textsplice.text.vocabulary import Vocabulary


def prepare_without(
    prepared: Prepared,
    ids: Collection[str],
    folder: Path,
    *,
    threads: int | None = None,
    report: Report = lambda _line: None,
    quiet: bool = False,
) -> Prepared:
    """Writes what `prepare` would have made of the corpus without these training texts into a new folder."""
    require_absent(folder)
    prepared.check()  # before anything is written: its files are copied from
    with claimed(folder) as manifest:
        _Without(prepared, ids, manifest, threads or os.cpu_count() or 1, report, quiet).run()
    return Prepared.open(folder)


def prepare_with(
    prepared: Prepared,
    growth: Growth,
    folder: Path,
    *,
    threads: int | None = None,
    report: Report = lambda _line: None,
    quiet: bool = False,
) -> Prepared:
    """Writes a prepared folder that has more training texts into a new folder.

    Its words keep their numbers, so runs that were trained on the old one can take their texts from it.
    """
    require_absent(folder)
    prepared.check()
    with claimed(folder) as manifest:
        _With(prepared, growth, manifest, threads or os.cpu_count() or 1, report, quiet).run()
    return Prepared.open(folder)


def require_absent(folder: Path) -> None:
    """`StorageError` if a folder is prepared already, or holds something else."""
    Prepared.require_free(folder)
    if Prepared.is_prepared(folder) and "config" in Manifest(folder).stages:  # the last stage
        raise StorageError("is a prepared folder already.", where=str(folder), remedy="Name a new folder.")


class _Again(Build):
    """The stages of `prepare`, of which the first ones read a prepared folder instead of a corpus."""

    def __init__(
        self, given: Prepared, manifest: Manifest, threads: int, report: Report, quiet: bool
    ) -> None:
        super().__init__(given.config, manifest, threads, report, quiet)
        self.given = given

    def _lexicon(self) -> Lexicon | None:
        if self.given.lexicon is None:
            return None
        path = self.given.files.lexicon
        with self._stage("lexicon", [self.files.lexicon], file_hash(path)) as needed:
            if needed:
                atomic_write_bytes(self.files.lexicon, path.read_bytes())
        return self.given.lexicon

    def _texts(self, split: str, lexicon: Lexicon | None) -> None:  # noqa: ARG002 - `unsaid` is there
        before = self.given.manifest.stages[f"texts/{split}"]["key"]
        files = (self.files.texts(split), self.files.tables(split))
        with self._stage(f"texts/{split}", files, before, self._changes(split)) as needed:
            if needed and split == "train":
                self._write_train(*files)
            elif needed:
                from_files = (self.given.files.texts(split), self.given.files.tables(split))
                for source, target in zip(from_files, files, strict=True):
                    atomic_write_bytes(target, source.read_bytes())

    @abstractmethod
    def _changes(self, split: str) -> list[object]:
        """What makes the texts of a split other ones."""

    @abstractmethod
    def _write_train(self, texts_path: Path, tables_path: Path) -> None:
        """Writes the training texts."""


class _Without(_Again):
    """Without some texts; tables and words are numbered anew, as they first appear."""

    def __init__(
        self,
        given: Prepared,
        ids: Collection[str],
        manifest: Manifest,
        threads: int,
        report: Report,
        quiet: bool,
    ) -> None:
        super().__init__(given, manifest, threads, report, quiet)
        self.gone = frozenset(ids)

    def _changes(self, split: str) -> list[object]:
        return list(sorted(self.gone)) if split == "train" else []

    def _write_train(self, texts_path: Path, tables_path: Path) -> None:
        texts = read_columns(self.given.files.texts("train"))
        tables = read_columns(self.given.files.tables("train"))
        rows = [row for row, name in enumerate(column_texts(texts["id"])) if name not in self.gone]
        kept = texts.take(pa.array(rows, type=pa.int64()))
        used = list(dict.fromkeys(column_ints(kept["table"]).tolist()))
        numbers = np.full(len(tables), -1, dtype=np.int32)
        numbers[used] = np.arange(len(used), dtype=np.int32)
        columns = {name: kept[name] for name in kept.column_names}
        write_columns(texts_path, {**columns, "table": int_column(numbers[column_ints(kept["table"])])})
        left = tables.take(pa.array(used, type=pa.int64()))
        write_columns(tables_path, {name: left[name] for name in left.column_names})

    def _approved(self) -> tuple[int, ...]:
        """The approvals that are left."""
        places = accumulate(name not in self.gone for name in self.given.store.ids)
        place = [number - 1 for number in places]
        return tuple(place[row] for row in self.given.store.approved if not self._is_gone(row))

    def _is_gone(self, row: int) -> bool:
        return self.given.store.ids[row] in self.gone

    def _store_inputs(self) -> tuple[object, ...]:
        approved = self._approved()
        return (*super()._store_inputs(), *([approved] if approved else []))

    def _built_store(self) -> Store:
        return replace(super()._built_store(), approved=self._approved())


class _With(_Again):
    """With more texts after those that are there; tables, words and rows keep their numbers."""

    def __init__(
        self, given: Prepared, growth: Growth, manifest: Manifest, threads: int, report: Report, quiet: bool
    ) -> None:
        super().__init__(given, manifest, threads, report, quiet)
        self.growth = growth

    def _changes(self, split: str) -> list[object]:
        new = [each.example for each in self.growth.new] if split == "train" else []
        return ["with", *([each.id, each.table.to_record(), each.text] for each in new)]

    def _write_train(self, texts_path: Path, tables_path: Path) -> None:
        texts = read_columns(self.given.files.texts("train"))
        tables = read_columns(self.given.files.tables("train"))
        numbers = {table: row for row, table in enumerate(read_tables(self.given.files.tables("train")))}
        new: list[Tokenized] = []
        for item in self.growth.new:
            if item.example.table not in numbers:
                numbers[item.example.table] = len(tables) + len(new)
                new.append(item)
        added = texts_table(
            self.growth.new, [numbers[each.example.table] for each in self.growth.new], self.given.lexicon
        )
        for path, parts in ((texts_path, [texts, added]), (tables_path, [tables, tables_table(new)])):
            whole = pa.concat_tables(part.cast(added.schema if part is texts else part.schema) for part in parts)
            write_columns(path, {name: whole[name] for name in whole.column_names})

    def _words(self, splits: Sequence[str]) -> None:
        texts = [self.keys[f"texts/{split}"] for split in splits]
        before = self.given.manifest.stages["words"]["key"]
        with self._stage("words", [self.files.words], before, texts) as needed:
            if needed:
                tables = (word for item in self.growth.new for word in item.table.tokens)
                words = Vocabulary.load(self.given.files.words)
                words.extended(words_of(self.growth)).extended(tables).save(self.files.words)

    def _store_inputs(self) -> tuple[object, ...]:
        store = self.given.manifest.stages["store"]["key"]
        return (*super()._store_inputs(), store, self.growth.approved)

    def _built_store(self) -> Store:
        words = Vocabulary.load(self.files.words)
        return grow(self.given.store, words, self.growth, self.config, self.given.lexicon)
