"""A prepared folder made anew without some of its training texts, from the folder alone.

The texts come from the folder that is there, and all that depends on them is made again by the stages of
`prepare`: words, store, neighbors, derivations, vocabulary. The corpus itself is not read.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping
from pathlib import Path

import numpy as np
import pyarrow as pa

from textsplice.arrow import column_ints, column_texts, int_column, read_columns, write_columns
from textsplice.errors import StorageError
from textsplice.files import atomic_write_bytes, file_hash
from textsplice.prepare.build import Build, Report
from textsplice.runs.manifest import Manifest
from textsplice.runs.prepared import Prepared, claimed
from textsplice.slots.lexicon import Lexicon
from textsplice.slots.wordings import FieldKind


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


def require_absent(folder: Path) -> None:
    """`StorageError` if a folder is prepared already, or holds something else."""
    Prepared.require_free(folder)
    if Prepared.is_prepared(folder) and "config" in Manifest(folder).stages:  # the last stage
        raise StorageError("is a prepared folder already.", where=str(folder), remedy="Name a new folder.")


class _Without(Build):
    """The stages of `prepare`, of which the first ones read a prepared folder instead of a corpus."""

    def __init__(
        self,
        given: Prepared,
        ids: Collection[str],
        manifest: Manifest,
        threads: int,
        report: Report,
        quiet: bool,
    ) -> None:
        super().__init__(given.config, manifest, threads, report, quiet)
        self.given = given
        self.gone = frozenset(ids)

    def _kinds(self) -> Mapping[str, FieldKind]:
        if not self.config.corpus.kinds:
            return {}
        path = self.given.files.kinds
        with self._stage("kinds", [self.files.kinds], file_hash(path)) as needed:
            if needed:
                atomic_write_bytes(self.files.kinds, path.read_bytes())
        return self.given.kinds

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
        gone = sorted(self.gone) if split == "train" else []
        files = (self.files.texts(split), self.files.tables(split))
        with self._stage(f"texts/{split}", files, before, gone) as needed:
            if needed and split == "train":
                self._write_rest(*files)
            elif needed:
                from_files = (self.given.files.texts(split), self.given.files.tables(split))
                for source, target in zip(from_files, files, strict=True):
                    atomic_write_bytes(target, source.read_bytes())

    def _write_rest(self, texts_path: Path, tables_path: Path) -> None:
        """The training texts that are left; tables are numbered anew, as they first appear."""
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
