"""An index in shards finds what one index finds: the same rows in the same order, ties and all."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from test_neighbors_index import STRANGERS, corpora
from textsplice.corpus import Table
from textsplice.corpus.table import Example
from textsplice.errors import StorageError
from textsplice.neighbors import Index, ShardedIndex, TextIndex, TextShards, shards, text_shards
from textsplice.neighbors.scan import ScanIndex
from textsplice.neighbors.scores import FieldsAndValues
from textsplice.neighbors.store import Store, commonness
from textsplice.neighbors.tables import TableNumbers
from textsplice.ragged import Ragged
from textsplice.text.vocabulary import BEGIN_ID, END_ID
from textsplice.trace import SourceTexts, Tracer
from textsplice.trace import texts as trace_texts


@settings(max_examples=150, deadline=None)
@given(
    corpora(), st.lists(STRANGERS, min_size=1, max_size=4), st.integers(1, 30), st.integers(1, 40), st.data()
)
def test_shards_by_table_answer_as_one_index(corpus, queries, k, size, data):
    groups, row_group, common = corpus
    rows, count = len(row_group), len(queries)
    numbers = st.integers(-1, max(rows, 1) - 1)
    exclude_rows = data.draw(st.none() | st.lists(numbers, min_size=count, max_size=count))
    groups_of = st.integers(-1, len(groups) - 1)
    exclude_groups = data.draw(st.none() | st.lists(groups_of, min_size=count, max_size=count))
    allow = data.draw(st.none() | st.lists(st.booleans(), min_size=rows, max_size=rows))
    asked = {
        "exclude_rows": None if exclude_rows is None or not rows else np.array(exclude_rows, dtype=np.int32),
        "exclude_groups": None if exclude_groups is None else np.array(exclude_groups, dtype=np.int32),
        "allow": None if allow is None else np.array(allow, dtype=np.bool_),
    }
    one = Index.build(groups, row_group, common).search_many(queries, k, **asked)
    many = ShardedIndex.build(groups, row_group, common, size).search_many(queries, k, **asked)
    for found, expected in zip(many, one, strict=True):
        np.testing.assert_array_equal(found, expected)
        assert found.dtype == expected.dtype


@settings(max_examples=100, deadline=None)
@given(corpora(), STRANGERS, st.integers(1, 30), st.data())
def test_an_appended_shard_answers_as_an_index_of_all(corpus, query, k, data):
    """The rows that join may be about tables that are there, and about new ones."""
    groups, row_group, common = corpus
    first = data.draw(st.integers(0, len(row_group)))
    size = data.draw(st.integers(1, 40))
    grown = ShardedIndex.build(groups, row_group[:first], common[:first], size)
    new = sorted(set(row_group[first:].tolist()))
    grown = grown.plus([(number, groups[number]) for number in new], row_group[first:], common[first:])
    exclude = data.draw(st.none() | st.sampled_from(range(len(groups)))) if groups else None
    one = Index.build(groups, row_group, common).search(query, k, exclude_group=exclude)
    many = grown.search(query, k, exclude_group=exclude)
    assert many.rows.tolist() == one.rows.tolist()
    assert many.scores.tolist() == one.scores.tolist()


def test_a_saved_index_in_shards_is_the_same_and_damage_is_told(tmp_path: Path) -> None:
    tables = [FEATURES(number) for number in range(50)]
    row_group = np.array([number % 50 for number in range(120)], dtype=np.int32)
    common = np.array([number % 3 for number in range(120)], dtype=np.float64)
    index = ShardedIndex.build(tables, row_group, common, 7)
    index.save(tmp_path / "index")
    assert ShardedIndex.is_saved(tmp_path / "index")
    loaded = FieldsAndValues().load_index(tmp_path / "index")
    assert isinstance(loaded, ShardedIndex)
    assert len(loaded.shards) == 8
    for query in tables:
        assert loaded.search(query, 9).rows.tolist() == index.search(query, 9).rows.tolist()
    rows = tmp_path / "index" / "shard-0002.rows.npy"
    np.save(rows, np.zeros_like(np.load(rows)))
    with pytest.raises(StorageError, match=r"shard-0002\.rows"):
        ShardedIndex.load(tmp_path / "index")


def FEATURES(number: int):  # noqa: N802
    from textsplice.neighbors import Features

    return Features(frozenset("abc"[: 1 + number % 3]), frozenset({str(number), str(number % 7)}))


WORDS = st.lists(st.integers(0, 8), min_size=1, max_size=12)


@settings(max_examples=100, deadline=None)
@given(st.lists(WORDS, max_size=40), st.lists(WORDS, min_size=1, max_size=3), st.integers(1, 12), st.data())
def test_shards_by_text_answer_as_one_index(rows, texts, k, data):
    size = data.draw(st.integers(1, 15))
    tokens, asked = Ragged.from_rows(rows), Ragged.from_rows(texts)
    allow = data.draw(st.none() | st.lists(st.booleans(), min_size=len(rows), max_size=len(rows)))
    excluded = data.draw(
        st.none() | st.lists(st.integers(-1, len(rows) - 1), min_size=len(texts), max_size=len(texts))
    )
    options = {
        "allow": None if allow is None else np.array(allow, dtype=np.bool_),
        "exclude_rows": None if excluded is None else np.array(excluded, dtype=np.int32),
    }
    one = TextIndex.build(tokens, 2).search_many(asked, k, **options)
    many = TextShards.build(tokens, 2, size).search_many(asked, k, **options)
    for found, expected in zip(many, one, strict=True):
        np.testing.assert_array_equal(found, expected)


def test_traces_over_kept_texts_in_shards_are_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = [f"The {a} {b} is {c}." for a in ("old", "red", "tall") for b in ("mill", "inn") for c in "abcde"]
    examples = [Example(f"t{n}", Table.of({"kind": text.split()[2]}), text) for n, text in enumerate(texts)]
    sources = SourceTexts.of_examples(examples, "words")
    expected = [
        Tracer(sources).trace(text, example.table) for text, example in zip(texts, examples, strict=True)
    ]
    monkeypatch.setattr(trace_texts, "ROWS_A_SHARD", 7)
    monkeypatch.setattr(text_shards.TextShards.write, "__defaults__", (7,))
    sources.save(tmp_path / "kept")
    loaded = SourceTexts.load(tmp_path / "kept")
    assert isinstance(loaded.masked.index, TextShards)
    assert len(loaded.masked.index.shards) == 5
    for text, example, before in zip(texts, examples, expected, strict=True):
        assert Tracer(loaded).trace(text, example.table) == before


def store_of(tables: list[Table], rows: int) -> Store:
    table_of = np.arange(rows, dtype=np.int32) % len(tables)
    tokens = Ragged.from_rows([[BEGIN_ID, 5 + row % 5, END_ID] for row in range(rows)])
    return Store.build(
        ids=[f"r{row}" for row in range(rows)],
        texts=[f"text {row}" for row in range(rows)],
        tokens=tokens,
        table_of=table_of,
        tables=tables,
        offered=np.ones(rows, dtype=np.bool_),
        commonness=commonness(tokens),
        tokenizer="words",
        fold=frozenset(),
    )


def test_texts_that_join_a_large_store_are_a_shard_and_a_small_one_is_indexed_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tables = [Table.of({"name": f"Inn {number}", "town": "Elwick"}) for number in range(30)]
    new = [Table.of({"name": f"Inn {number}", "town": "Elwick"}) for number in (3, 40, 41, 3)]
    tokens = Ragged.from_rows([[BEGIN_ID, 6, END_ID]] * 4)
    more = {
        "ids": list("abcd"),
        "texts": ["new"] * 4,
        "tokens": tokens,
        "tables": new,
        "offered": np.ones(4, dtype=np.bool_),
        "commonness": commonness(tokens),
        "approved": (62,),
    }
    small = store_of(tables, 60).plus(**more)
    assert isinstance(small.index, Index)
    monkeypatch.setattr(shards, "ROWS_TO_APPEND", 50)
    large = store_of(tables, 60).plus(**more)
    assert isinstance(large.index, ShardedIndex)
    assert len(large.index.shards) == 2
    large.save(tmp_path / "store")
    loaded = Store.load(tmp_path / "store")
    assert loaded.approved == (62,)
    for table in (*tables, *new):
        expected = small.search(table, 10, exclude_table=True)
        for store in (large, loaded):
            found = store.search(table, 10, exclude_table=True)
            assert found.rows.tolist() == expected.rows.tolist()
            assert found.scores.tolist() == expected.scores.tolist()
    without = loaded.only(np.arange(64) < 60)
    assert isinstance(without.index, Index)
    assert len(without) == 60


def test_an_index_of_another_score_is_never_cut_into_shards() -> None:
    index = ScanIndex.build(FieldsAndValues().score, [FEATURES(1)], np.zeros(1, np.int32), np.zeros(1))
    assert ShardedIndex.of(index) is None


def test_many_tables_are_indexed_in_shards(monkeypatch: pytest.MonkeyPatch) -> None:
    from textsplice.neighbors import scores

    monkeypatch.setattr(scores, "TABLES_A_SHARD", 10)
    groups, rows = [FEATURES(number) for number in range(11)], np.arange(11, dtype=np.int32)
    assert isinstance(FieldsAndValues().build_index(groups, rows, np.zeros(11)), ShardedIndex)
    assert isinstance(FieldsAndValues().build_index(groups[:10], rows[:10], np.zeros(10)), Index)


def test_equal_tables_have_the_same_number_whatever_the_order_of_their_fields() -> None:
    numbers = TableNumbers([Table.of({"a": "1", "b": "2"}), Table.of({"a": "2"})])
    assert numbers[Table.of({"b": "2", "a": "1", "c": ""})] == 0
    assert Table.of({"a": "3"}) not in numbers
    assert len(numbers) == 2
