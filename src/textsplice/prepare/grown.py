"""A prepared folder made anew with more training texts, whose words keep their numbers.

Runs that were trained on the folder of before can take their texts from it.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa

from textsplice.arrow import read_columns, write_columns
from textsplice.corpus import Table
from textsplice.neighbors.store import Store
from textsplice.prepare.again import Again, require_absent
from textsplice.prepare.build import Report
from textsplice.prepare.growing import Growth, grow, words_of
from textsplice.prepare.texts import TABLES, TEXTS, Tokenized, tables_table, texts_table
from textsplice.runs.manifest import Manifest
from textsplice.runs.prepared import Prepared, claimed
from textsplice.text.vocabulary import Vocabulary


def prepare_with(
    prepared: Prepared,
    growth: Growth,
    folder: Path,
    *,
    threads: int | None = None,
    report: Report = lambda _line: None,
    quiet: bool = False,
) -> Prepared:
    """Writes into a new folder a prepared folder that also has these training texts."""
    require_absent(folder)
    prepared.check()
    with claimed(folder) as manifest:
        _With(prepared, growth, manifest, threads or os.cpu_count() or 1, report, quiet).run()
    return Prepared.open(folder)


class _With(Again):
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
        known, numbers = self.given.store.table_rows, dict[Table, int]()
        new: list[Tokenized] = []
        for item in self.growth.new:
            table = item.example.table
            if table in known:
                numbers[table] = known[table]
            elif table not in numbers:
                numbers[table] = len(tables) + len(new)
                new.append(item)
        added = texts_table(
            self.growth.new, [numbers[each.example.table] for each in self.growth.new], self.given.lexicon
        )
        parts = {
            texts_path: [texts.cast(TEXTS), added],
            tables_path: [tables.cast(TABLES), tables_table(new)],
        }
        for path, both in parts.items():
            whole = pa.concat_tables(both)
            write_columns(path, {name: whole[name].combine_chunks() for name in whole.column_names})

    def _words(self, splits: Sequence[str]) -> None:
        texts = [self.keys[f"texts/{split}"] for split in splits]
        before = self.given.manifest.stages["words"]["key"]
        with self._stage("words", [self.files.words], before, texts) as needed:
            if needed:
                words = Vocabulary.load(self.given.files.words).extended(words_of(self.growth, self.config))
                learned = (word for each in self.growth.new for word in (*each.target, *each.table.tokens))
                words.extended(learned).save(self.files.words)

    def _store_inputs(self) -> tuple[object, ...]:
        store = self.given.manifest.stages["store"]["key"]
        return (*super()._store_inputs(), store, self.growth.approved)

    def _built_store(self) -> Store:
        words = Vocabulary.load(self.files.words)
        return grow(self.given.store, words, self.growth, self.config, self.given.lexicon)
