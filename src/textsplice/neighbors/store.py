"""The training texts that a policy may splice from, and the index that finds them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache, partial
from pathlib import Path
from typing import cast

import numpy as np
from numpy.typing import NDArray

from textsplice.arrow import (
    Texts,
    column_ints,
    column_ragged,
    column_texts,
    damaged,
    int_column,
    ragged_column,
    read_columns,
    text_column,
    undamaged,
    write_columns,
)
from textsplice.corpus.table import Table
from textsplice.errors import StorageError
from textsplice.extensions import PLUGINS, SCORES
from textsplice.files import atomic_write_text
from textsplice.neighbors.about import ABOUT, FORMAT, kinds_in, read_about, read_alike, read_approved
from textsplice.neighbors.alike import Alike
from textsplice.neighbors.features import Features, features
from textsplice.neighbors.persistence import within
from textsplice.neighbors.scores import DEFAULT, score_named
from textsplice.neighbors.shards import grown_index
from textsplice.neighbors.table_index import Hits, TableIndex
from textsplice.neighbors.tables import TableNumbers, Tables, records_of
from textsplice.neighbors.trigrams import Trigrams
from textsplice.ragged import Ragged
from textsplice.slots.wordings import FieldKind
from textsplice.text import (
    Linearized,
    Tokenizer,
    Vocabulary,
    field_token,
    linearize,
    masked_fields,
    tokenize,
)
from textsplice.text.linearize import Unsaid
from textsplice.text.tokens import OLD_TOKENIZERS, TOKENIZERS
from textsplice.text.typed import typed
from textsplice.text.vocabulary import BEGIN_ID, END_ID, MASK_ID, UNKNOWN_ID

TEXTS, TABLES, TRIGRAMS = "texts.parquet", "tables.parquet", "trigrams"
TABLES_AT_ONCE = 10_000  # in memory


@dataclass(frozen=True, slots=True)
class StoredTexts:
    """The texts of a store alone, without tables and index; they stay in Arrow's memory."""

    ids: Texts
    texts: Texts
    tokens: Ragged  # masked, BEGIN … END
    tokenizer: Tokenizer

    @classmethod
    def load(cls, folder: Path) -> StoredTexts:
        """Reads them from a saved store."""
        about = read_about(folder)
        with undamaged(folder / TEXTS):
            rows = read_columns(folder / TEXTS, ["id", "text", "tokens"])
            found = cls(
                Texts(rows["id"]),
                Texts(rows["text"]),
                column_ragged(rows["tokens"]),
                cast(Tokenizer, about["tokenizer"]),
            )
        if not _begin_and_end(found.tokens):
            raise damaged(folder / TEXTS)
        return found

    @staticmethod
    def files(folder: Path) -> list[Path]:
        """The files they are read from."""
        return [folder / ABOUT, folder / TEXTS]


@dataclass(frozen=True)
class Store:
    """Row `r` is the text `texts[r]` of the table `tables[table_of[r]]`; its id is `ids[r]`."""

    ids: list[str]
    texts: list[str]
    tokens: Ragged  # masked, BEGIN … END
    table_of: NDArray[np.int32]
    tables: Sequence[Table]
    offered: NDArray[np.bool_]  # which rows may be neighbors at all
    index: TableIndex
    tokenizer: Tokenizer
    fold: frozenset[str]  # fields whose value is part of their name in the features
    score: str = DEFAULT
    approved: tuple[int, ...] = ()  # rows that are given as they are for their own record, the newest last
    kinds: Mapping[str, FieldKind] = field(default_factory=dict[str, FieldKind])  # of fields, where known
    alike: tuple[str, ...] = ()  # fields in which a text should agree with those that it is spliced from
    counted: Callable[[], Trigrams] | None = None  # gives its trigrams, if they need not be counted

    @classmethod
    def build(
        cls,
        *,
        ids: list[str],
        texts: list[str],
        tokens: Ragged,
        table_of: NDArray[np.int32],
        tables: Sequence[Table],
        offered: NDArray[np.bool_],
        commonness: NDArray[np.float64],
        tokenizer: Tokenizer,
        fold: frozenset[str],
        score: str = DEFAULT,
        approved: tuple[int, ...] = (),
        kinds: Mapping[str, FieldKind] | None = None,
        alike: tuple[str, ...] = (),
        index: TableIndex | None = None,
        counted: Callable[[], Trigrams] | None = None,
    ) -> Store:
        """Indexes the tables, unless their index is there already."""
        described = (_features(table, tokenizer, fold) for table in tables)
        index = index or score_named(score).build_index(described, table_of, commonness)
        how = (tokenizer, fold, score, approved, kinds or {}, alike, counted)
        return cls(ids, texts, tokens, table_of, tables, offered, index, *how)

    def __len__(self) -> int:
        return len(self.ids)

    @cached_property
    def unsaid(self) -> Unsaid:
        """What texts do not say of a table: it is compared, but never masked or copied."""
        return Unsaid.of_kinds(self.kinds)

    def linearize(self, table: Table, tokenizer: Tokenizer | None = None) -> Linearized:
        """A table as it is read and copied from here."""
        return linearize(table, tokenizer or self.tokenizer, self.unsaid)

    def features(self, table: Table) -> Features:
        """The features of a table, as the score sees it."""
        return _features(table, self.tokenizer, self.fold)

    def search(
        self,
        table: Table,
        k: int,
        *,
        exclude_table: bool = False,
        allow: NDArray[np.bool_] | Callable[[int], bool] | None = None,
    ) -> Hits:
        """The `k` nearest texts that are allowed, or all of them if there are fewer."""
        group = self.table_rows.get(table) if exclude_table else None
        return self.index.search(
            self.features(table), k, exclude_group=group, allow=self._also_offered(allow)
        )

    def _also_offered(
        self, allow: NDArray[np.bool_] | Callable[[int], bool] | None
    ) -> NDArray[np.bool_] | Callable[[int], bool]:
        if allow is None:
            return self.offered
        if callable(allow):
            return lambda row: bool(self.offered[row]) and allow(row)
        return self.offered & allow

    @cached_property
    def rows_of(self) -> dict[str, list[int]]:
        """The rows of each id: a corpus may give one to several texts."""
        rows: dict[str, list[int]] = {}
        for row, name in enumerate(self.ids):
            rows.setdefault(name, []).append(row)
        return rows

    @cached_property
    def table_rows(self) -> Mapping[Table, int]:
        """The number of each distinct table."""
        return TableNumbers(self.tables)

    def approved_of(self, table: Table) -> list[int]:
        """The rows of approved texts of the very same record, the newest first."""
        return self._approved_rows.get(table, [])

    @cached_property
    def _approved_rows(self) -> dict[Table, list[int]]:
        rows: dict[Table, list[int]] = {}
        for row in dict.fromkeys(reversed(self.approved)):
            rows.setdefault(self.tables[int(self.table_of[row])], []).append(row)
        return rows

    @cached_property
    def fields(self) -> list[str]:
        """The names of all fields, in the order in which tables first have them."""
        return list(dict.fromkeys(name for table in self.tables for name, _ in table))

    def field_ids(self, vocabulary: Vocabulary) -> NDArray[np.int32]:
        """The ids of the names of `fields` in a table, -1 if the vocabulary lacks one; last comes -1.

        So `field_ids[mask_fields_of(row)]` are the ids of masks' fields.
        """
        ids = vocabulary.encode([field_token(name) for name in self.fields])
        return np.array([*(-1 if number == UNKNOWN_ID else number for number in ids), -1], dtype=np.int32)

    def mask_fields_of(self, row: int) -> NDArray[np.int32]:
        """The field that each mask of a row hides, as its number in `fields`; -1 if unknown, and elsewhere.

        Masking the text once more says which value each mask stands for.
        """
        tokens = self.tokens[row]
        found = np.full(len(tokens), -1, dtype=np.int32)
        hidden = tokens == MASK_ID
        if not hidden.any():
            return found
        for cut in (self.tokenizer, *self._old_tokenizer):
            words = tokenize(self.texts[row], cut)
            if len(words) + 2 != len(tokens):
                continue
            named = masked_fields(words, self.linearize(self.tables[int(self.table_of[row])], cut))
            numbers = [-1 if name is None else self._field_numbers[name] for name in named]
            if np.array_equal(hidden[1:-1], np.array(numbers) >= 0):
                found[1:-1] = numbers
                break
        return found

    @property
    def _old_tokenizer(self) -> tuple[Tokenizer, ...]:
        """How an earlier version may have cut the texts."""
        if self.tokenizer in OLD_TOKENIZERS:
            return ()
        return (OLD_TOKENIZERS[TOKENIZERS.index(self.tokenizer)],)

    @cached_property
    def _field_numbers(self) -> dict[str, int]:
        return {name: number for number, name in enumerate(self.fields)}

    @cached_property
    def trigrams(self) -> Trigrams:
        """The trigrams of the texts that may be neighbors, their values masked and typed by field."""
        return self.counted() if self.counted else Trigrams.of(self._typed())

    def _typed(self, first: int = 0) -> Iterator[list[str]]:
        """The texts that may be neighbors, from a row on, as seams are judged."""

        # The texts of a table are often near each other; all tables of a large store would take gigabytes.
        @lru_cache(TABLES_AT_ONCE)
        def linearized(number: int) -> Linearized:
            return self.linearize(self.tables[number])

        rows: list[int] = (first + np.flatnonzero(self.offered[first:])).tolist()
        for row in rows:
            words = tokenize(self.texts[row], self.tokenizer)
            yield typed(words, linearized(int(self.table_of[row]))).words

    def agreeing(self, table: Table) -> NDArray[np.bool_] | None:
        """The rows whose tables agree with a table in what should be alike; None: all will do."""
        return self._alike.rows(table, self.offered) if self.alike else None

    @cached_property
    def _alike(self) -> Alike:
        return Alike(self.alike, self.unsaid.fields, self.tables, self.table_of)

    def only(self, keep: NDArray[np.bool_]) -> Store:
        """A store of some of the rows, in their order; tables that have none left are dropped.

        Which of two equally near texts comes first stays as it is.
        """
        rows = np.flatnonzero(keep)
        places = np.cumsum(keep) - 1
        used, table_of = np.unique(self.table_of[rows], return_inverse=True)
        return Store.build(
            ids=[self.ids[row] for row in rows],
            texts=[self.texts[row] for row in rows],
            tokens=self.tokens.take(rows),
            table_of=table_of.astype(np.int32),
            tables=[self.tables[table] for table in used],
            offered=self.offered[rows],
            commonness=self.index.row_commonness[rows],
            tokenizer=self.tokenizer,
            fold=self.fold,
            score=self.score,
            approved=tuple(int(places[row]) for row in self.approved if keep[row]),
            kinds=self.kinds,
            alike=self.alike,
        )

    def plus(
        self,
        *,
        ids: Sequence[str],
        texts: Sequence[str],
        tokens: Ragged,
        tables: Sequence[Table],
        offered: NDArray[np.bool_],
        commonness: NDArray[np.float64],
        approved: tuple[int, ...],
    ) -> Store:
        """A store with more rows after these, each with its table; `approved` are then all that are.

        Rows and tables keep their numbers, and of two old texts that are equally near, the same comes first.
        """
        known, numbers = self.table_rows, dict[Table, int]()
        new: list[Table] = []
        for table in tables:
            if table not in known and table not in numbers:
                new.append(table)
                numbers[table] = len(self.tables) + len(new) - 1
        more = [numbers[table] if table in numbers else known[table] for table in tables]
        table_of = np.array(more, dtype=np.int32)
        grown = Store.build(
            ids=[*self.ids, *ids],
            texts=[*self.texts, *texts],
            tokens=self.tokens.plus(tokens),
            table_of=np.concatenate([self.table_of, table_of]),
            tables=self.tables.plus(new) if isinstance(self.tables, Tables) else [*self.tables, *new],
            offered=np.concatenate([self.offered, offered]),
            commonness=np.concatenate([self.index.row_commonness, commonness]),
            tokenizer=self.tokenizer,
            fold=self.fold,
            score=self.score,
            approved=approved,
            kinds=self.kinds,
            alike=self.alike,
            index=grown_index(self.index, map(self.features, tables), table_of, commonness),
        )
        return replace(grown, counted=lambda: self.trigrams.plus(grown._typed(len(self))))

    def save(self, folder: Path) -> None:
        """Writes the store; `store.json` comes last, so a folder that has it is complete."""
        write_columns(
            folder / TEXTS,
            {
                "id": text_column(self.ids),
                "text": text_column(self.texts),
                "table": int_column(self.table_of),
                "offered": int_column(self.offered.astype(np.int32)),
                "tokens": ragged_column(self.tokens),
            },
        )
        write_columns(folder / TABLES, {"record": records_of(self.tables)})
        self.index.save(folder / "index")
        self.trigrams.save(folder / TRIGRAMS)
        about: dict[str, object] = {
            "format": FORMAT,
            "tokenizer": self.tokenizer,
            "fold": sorted(self.fold),
            "trigrams": True,
        }
        if self.score != DEFAULT:  # older stores do not name their score
            about["score"] = self.score
        if self.approved:
            about["approved"] = list(self.approved)
        if self.kinds:
            about["kinds"] = dict(self.kinds)
        if self.alike:
            about["alike"] = list(self.alike)
        atomic_write_text(folder / ABOUT, json.dumps(about, indent=1) + "\n")

    @classmethod
    def load(cls, folder: Path) -> Store:
        """Opens a saved store; the index is memory-mapped."""
        about = read_about(folder)
        score = str(about.get("score", DEFAULT))
        if score not in SCORES:
            raise StorageError(
                f"was made with the score {score!r}, which is not there.",
                where=str(folder),
                remedy=f"Name the module that adds it in {PLUGINS}.",
            )
        with undamaged(folder / TABLES):
            tables = Tables(read_columns(folder / TABLES)["record"], folder / TABLES)
        with undamaged(folder / TEXTS):
            rows = read_columns(folder / TEXTS)
            store = cls(
                ids=column_texts(rows["id"]),
                texts=column_texts(rows["text"]),
                tokens=column_ragged(rows["tokens"]),
                table_of=column_ints(rows["table"]),
                tables=tables,
                offered=column_ints(rows["offered"]).astype(np.bool_),
                index=score_named(score).load_index(folder / "index"),
                tokenizer=cast(Tokenizer, about["tokenizer"]),
                fold=frozenset(cast("list[str]", about["fold"])),
                score=score,
                approved=read_approved(about, folder),
                kinds=kinds_in(about),
                alike=read_alike(about, folder),
                counted=partial(Trigrams.load, folder / TRIGRAMS) if about.get("trigrams") else None,
            )
        if not store.is_sound():
            raise damaged(folder / TEXTS)
        return store

    def is_sound(self) -> bool:
        """Whether each row has a table, is in the index, and begins and ends as a text does."""
        return (
            len(self) == len(self.tokens) == len(self.table_of) == len(self.index)
            and within(self.table_of, 0, len(self.tables))
            and all(0 <= row < len(self) for row in self.approved)
            and _begin_and_end(self.tokens)
        )


def _begin_and_end(rows: Ragged) -> bool:
    """Whether each row is that of a text."""
    tokens, offsets = rows.values, rows.offsets
    return (
        within(tokens, 0)
        and bool((rows.lengths >= 2).all())
        and bool((tokens[offsets[:-1]] == BEGIN_ID).all() and (tokens[offsets[1:] - 1] == END_ID).all())
    )


def commonness(texts: Ragged, counts: NDArray[np.int64] | None = None) -> NDArray[np.float64]:
    """The mean relative frequency of each text's words, which breaks ties between equally near tables.

    `counts` says how often each word occurs, by default in these texts.
    """
    if not len(texts):
        return np.zeros(0)
    counts = np.bincount(texts.values) if counts is None else counts
    frequency = (counts.astype(np.float64) / counts.sum())[texts.values]
    # Row by row, so that equal texts have equal sums. No row is empty: each has BEGIN and END.
    return np.add.reduceat(frequency, texts.offsets[:-1]) / texts.lengths


def _features(table: Table, tokenizer: Tokenizer, fold: frozenset[str]) -> Features:
    return features(table, tokenize=lambda text: tokenize(text, tokenizer), fold=fold)
