"""A prepared folder made anew without some of its training texts."""

from __future__ import annotations

import os
from collections.abc import Collection
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa

from textsplice.arrow import column_ints, column_texts, int_column, read_columns, write_columns
from textsplice.neighbors.store import Store
from textsplice.prepare.again import Again, require_absent
from textsplice.prepare.build import Report
from textsplice.runs.manifest import Manifest
from textsplice.runs.prepared import Prepared, claimed


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


class _Without(Again):
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
        return [*sorted(self.gone)] if split == "train" else []

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
        kept = np.array([name not in self.gone for name in self.given.store.ids])
        places = np.cumsum(kept) - 1
        return tuple(int(places[row]) for row in self.given.store.approved if kept[row])

    def _store_inputs(self) -> tuple[object, ...]:
        approved = self._approved()
        return (*super()._store_inputs(), *([approved] if approved else []))

    def _built_store(self) -> Store:
        return replace(super()._built_store(), approved=self._approved())
