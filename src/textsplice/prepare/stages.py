"""The stages of `prepare` after reading texts; each reads the files of earlier stages and writes its own."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from textsplice.arrow import (
    column_ints,
    column_ragged,
    column_texts,
    int_column,
    ragged_column,
    read_columns,
    write_columns,
)
from textsplice.config import VocabularyConfig
from textsplice.corpus import Table
from textsplice.errors import ConfigError
from textsplice.neighbors.features import yes_no_fields
from textsplice.neighbors.store import Store, commonness
from textsplice.oracle import derive_corpus
from textsplice.oracle.batch import Derivations
from textsplice.oracle.numbering import neighbor_counts, word_ids
from textsplice.ragged import Ragged
from textsplice.runs.prepared import read_tables
from textsplice.runs.prepared_files import PreparedFiles
from textsplice.slots.wordings import FieldKind
from textsplice.text import (
    BEGIN_ID,
    END_ID,
    MASK,
    MASK_ID,
    Linearized,
    Segment,
    Tokenizer,
    Vocabulary,
    field_token,
    mask,
)
from textsplice.text.delexicalize import delexicalize

Texts = list[list[str]]
ROWS_AT_ONCE = 20_000


def build_words(files: PreparedFiles, splits: Sequence[str], embed_min_count: int) -> Vocabulary:
    """All words of all splits, ranked by their frequency in the texts and tables of train."""
    counts: Counter[str] = Counter()
    extra: set[str] = set()
    for split in splits:
        for path in (files.texts(split), files.tables(split)):
            flat = read_columns(path, ["tokens"])["tokens"].combine_chunks().flatten()
            for item in cast("list[dict[str, object]]", flat.value_counts().to_pylist()):
                word = cast(str, item["values"])
                if split == "train":
                    counts[word] += cast(int, item["counts"])
                else:
                    extra.add(word)
    return Vocabulary.build(counts, embed_min_count=embed_min_count, extra=extra)


def encode(source: Path, target: Path, words: Vocabulary) -> None:
    """Replaces the words in a file's `tokens` by their ids."""
    kept = ("tokens", "table", "segments", "unsaid")
    rows = read_columns(source, [name for name in pq.read_schema(source).names if name in kept])
    array = cast(pa.LargeListArray, rows["tokens"].combine_chunks())
    lookup = pc.SetLookupOptions(value_set=pa.array(words.words, type=pa.large_string()))
    ids = pc.call_function("index_in", [array.flatten()], lookup)
    offsets = np.asarray(array.offsets, dtype=np.int64)
    ragged = Ragged(np.asarray(ids, dtype=np.int32), offsets - offsets[0])
    columns = {name: rows[name] for name in kept[1:] if name in rows.column_names}
    write_columns(target, {"tokens": ragged_column(ragged), **columns})


def linearized_tables(files: PreparedFiles, split: str) -> list[Linearized]:
    """The linearized tables of a split, as words."""
    return _linearized_rows(read_columns(files.tables(split)))


def _linearized_rows(rows: pa.Table) -> list[Linearized]:
    records = (cast("dict[str, object]", json.loads(r)) for r in column_texts(rows["record"]))
    return [
        _linearized(tokens, segments, list(record))
        for tokens, segments, record in zip(
            cast(Texts, rows["tokens"].to_pylist()), column_ragged(rows["segments"]), records, strict=True
        )
    ]


def _linearized(tokens: list[str], numbers: NDArray[np.int32], names: list[str]) -> Linearized:
    segments: list[Segment] = []
    field = -1
    named = {field_token(name): name for name in names}
    name = ""
    for place, number in enumerate(numbers):
        if number < 0:
            name = named.get(tokens[place], name)  # or a word of a value that is never copied
        elif number != field:
            field = int(number)
            segments.append(Segment(name, place, place + 1))
        else:
            segments[-1] = segments[-1]._replace(stop=place + 1)
    return Linearized(tokens, segments)


def shapes(files: PreparedFiles, split: str) -> list[str]:
    """The shape of each text of a split: values are replaced by the names of their fields."""
    tables = linearized_tables(files, split)
    rows = read_columns(files.texts(split), ["table", "tokens"])
    return [
        delexicalize(tokens[1:-1], tables[table])
        for tokens, table in zip(
            cast(Texts, rows["tokens"].to_pylist()), column_ints(rows["table"]), strict=True
        )
    ]


def build_store(
    files: PreparedFiles,
    words: Vocabulary,
    *,
    masked: bool,
    fold: Sequence[str],
    verbatim: bool,
    tokenizer: Tokenizer,
    score: str,
    kinds: Mapping[str, FieldKind] | None = None,
    alike: tuple[str, ...] = (),
) -> Store:
    """The masked training texts and their index; `verbatim` offers only texts that say all their values."""
    rows = read_columns(files.texts("train"), ["id", "text", "table", "unsaid"])
    table_of = column_ints(rows["table"])
    tables = read_tables(files.tables("train"))
    targets = column_ragged(read_columns(files.encoded_texts("train"))["tokens"])
    offered = column_ints(rows["unsaid"]) == 0 if verbatim else np.ones(len(targets), dtype=np.bool_)
    if not offered.any():
        raise ConfigError(
            "neighbors.verbatim leaves no text: none says all values of its table word for word.",
            where="config",
        )
    tokens = _masked(files, targets, table_of, words) if masked else targets
    return Store.build(
        ids=column_texts(rows["id"]),
        texts=column_texts(rows["text"]),
        tokens=tokens,
        table_of=table_of,
        tables=tables,
        offered=offered,
        commonness=commonness(targets),
        tokenizer=tokenizer,
        fold=yes_no_fields(tables) if "auto" in fold else frozenset(fold),
        score=score,
        kinds=kinds,
        alike=alike,
    )


def _masked(files: PreparedFiles, targets: Ragged, table_of: NDArray[np.int32], words: Vocabulary) -> Ragged:
    tables = read_columns(files.tables("train"))
    ids = targets.values.copy()
    for first in range(0, len(targets), ROWS_AT_ONCE):
        # As Python's objects, the texts and tables of a million rows would take gigabytes.
        rows = range(first, min(first + ROWS_AT_ONCE, len(targets)))
        begin = targets.offsets[first]
        texts = words.decode(targets.values[begin : targets.offsets[rows.stop]])
        numbers, places = np.unique(table_of[first : rows.stop], return_inverse=True)
        values = [table.value_tokens() for table in _linearized_rows(tables.take(numbers))]
        for row, place in zip(rows, places.tolist(), strict=True):
            start, stop = targets.offsets[row], targets.offsets[row + 1]
            hidden = [token == MASK for token in mask(texts[start - begin : stop - begin], values[place])]
            ids[start:stop][np.array(hidden)] = MASK_ID
    return Ragged(ids, targets.offsets)


def find_neighbors(
    store: Store,
    tables: Sequence[Table],
    table_of: NDArray[np.int32],
    rows: range,
    *,
    k: int,
    exclude: str,
    threads: int,
    own: bool = False,
) -> NDArray[np.int32]:
    """The nearest store rows for each example of `rows`.

    `exclude` "self" is for the examples of the store itself, row by row; "same-table" for any. If tables are
    the store's `own`, they need not be looked up.
    """
    part = table_of[rows.start : rows.stop]
    if exclude == "self":
        queries = [store.features(tables[table]) for table in part]
        itself = np.arange(rows.start, rows.stop, dtype=np.int32)
        return store.index.search_many(queries, k, exclude_rows=itself, allow=store.offered, threads=threads)[
            0
        ]
    distinct, place = np.unique(part, return_inverse=True)
    queries = [store.features(tables[table]) for table in distinct]
    if own and exclude == "same-table":
        groups = distinct.astype(np.int32)
    else:
        known = store.table_rows if exclude == "same-table" else {}
        groups = np.array([known.get(tables[table], -1) for table in distinct], dtype=np.int32)
    return store.index.search_many(queries, k, exclude_groups=groups, allow=store.offered, threads=threads)[
        0
    ][place]


def write_neighbors(path: Path, neighbors: NDArray[np.int32]) -> None:
    """Writes the neighbors of consecutive examples."""
    offsets = np.arange(0, neighbors.size + 1, neighbors.shape[1], dtype=np.int64)
    write_columns(path, {"neighbors": ragged_column(Ragged(neighbors.reshape(-1), offsets))})


def derivations_of(
    *,
    targets: Ragged,
    table_of: NDArray[np.int32],
    table_tokens: Ragged,
    table_segments: Ragged,
    store: Store,
    neighbors: NDArray[np.int32],
    threads: int,
) -> Derivations:
    """Least derivations of consecutive examples."""
    return derive_corpus(
        targets,
        table_tokens=table_tokens,
        table_segments=table_segments,
        table_of=table_of,
        store_tokens=store.tokens,
        neighbors=neighbors,
        mask_id=MASK_ID,
        threads=threads,
    )


def write_derivations(path: Path, found: Derivations) -> None:
    """Writes the derivations of consecutive examples."""
    flat = Ragged(found.splices.reshape(-1), found.offsets * 5)
    costs = np.diff(found.offsets).astype(np.int32)
    write_columns(path, {"splices": ragged_column(flat), "cost": int_column(costs)})


def rows_of(ragged: Ragged, rows: range) -> Ragged:
    """Consecutive rows."""
    offsets = ragged.offsets[rows.start : rows.stop + 1]
    return Ragged(ragged.values[offsets[0] : offsets[-1]], offsets - offsets[0])


def generated_words(
    words: Vocabulary,
    parts: Iterable[tuple[Ragged, NDArray[np.int32]]],
    targets: Ragged,
    config: VocabularyConfig,
) -> Vocabulary:
    """The vocabulary with the words that policies may generate.

    `parts` are the training derivations (splices, neighbors). A word counts once for each example that
    splices it from the vocabulary, because neither the table nor a neighbor has it.
    """
    missing = np.zeros(len(words), dtype=np.int64)
    for splices, neighbors in parts:
        rows = splices.values.reshape(-1, 5)
        example = np.repeat(np.arange(len(splices)), splices.lengths // 5)
        word = word_ids(rows[:, 2], neighbor_counts(neighbors)[example])
        pairs = np.unique(np.stack([example[word >= 0], word[word >= 0]]), axis=1)
        missing += np.bincount(pairs[1], minlength=len(words))
    generate = set(np.flatnonzero(missing >= max(1, config.generate_min_count)).tolist()) | {BEGIN_ID, END_ID}
    counts = np.bincount(targets.values, minlength=len(words))
    ranked = np.lexsort((np.arange(len(counts)), -counts))
    frequent = [int(w) for w in ranked[: config.frequent] if counts[w] > 0 and w > MASK_ID]
    return Vocabulary(words.words, words.embedded, tuple(sorted(generate)), (END_ID, *sorted(frequent)))
