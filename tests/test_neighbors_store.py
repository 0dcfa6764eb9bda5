"""The store of training texts."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from textsplice.corpus import Table
from textsplice.errors import StorageError
from textsplice.neighbors.store import Store, commonness
from textsplice.ragged import Ragged


def small_store(offered: list[bool] | None = None) -> Store:
    tables = [Table.of({"name": "Mill", "dogs": "yes"}), Table.of({"name": "Weir", "length": "5 km"})]
    tokens = Ragged.from_rows([[2, 5, 3], [2, 5, 6, 3], [2, 7, 3]])
    return Store.build(
        ids=["a", "b", "c"],
        texts=["x", "x y", "z"],
        tokens=tokens,
        table_of=np.array([0, 0, 1], dtype=np.int32),
        tables=tables,
        offered=np.array(offered or [True] * 3),
        commonness=commonness(tokens),
        tokenizer="words",
        fold=frozenset({"dogs"}),
    )


def test_the_nearest_text_of_an_unseen_table_is_found() -> None:
    hits = small_store().search(Table.of({"name": "Oak", "length": "9 km", "unheard": "of"}), 2)
    assert hits.rows.tolist() == [2, 0]


def test_the_texts_of_the_same_table_can_be_left_out() -> None:
    table = Table.of({"name": "Mill", "dogs": "yes"})
    assert small_store().search(table, 3).rows.tolist() == [0, 1, 2]
    assert small_store().search(table, 3, exclude_table=True).rows.tolist() == [2]


def test_a_text_that_is_not_offered_is_never_found_whatever_the_caller_allows() -> None:
    store = small_store([False, True, True])
    table = Table.of({"name": "Mill", "dogs": "yes"})
    assert store.search(table, 3).rows.tolist() == [1, 2]
    assert store.search(table, 3, allow=lambda row: row != 2).rows.tolist() == [1]
    assert store.search(table, 3, allow=np.array([True, False, True])).rows.tolist() == [2]


def test_a_folded_yes_no_field_keeps_yes_and_no_apart() -> None:
    store = small_store()
    yes = store.search(Table.of({"dogs": "yes"}), 1)
    no = store.search(Table.of({"dogs": "no"}), 1)
    assert yes.scores[0] > no.scores[0]


def test_a_store_comes_back_from_its_folder(tmp_path: Path) -> None:
    store = small_store([True, False, True])
    store.save(tmp_path)
    again = Store.load(tmp_path)
    assert again.ids == store.ids
    assert again.texts == store.texts
    assert again.tables == store.tables
    assert again.offered.tolist() == [True, False, True]
    assert [row.tolist() for row in again.tokens] == [row.tolist() for row in store.tokens]
    table = Table.of({"name": "Weir"})
    assert again.search(table, 3).rows.tolist() == store.search(table, 3).rows.tolist()
    assert [again.rows_of[name] for name in ("c", "a")] == [[2], [0]]


def test_a_folder_without_a_store_and_one_of_another_format_are_refused(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match=r"store\.json: can't be read: there is no such file\. Run"):
        Store.load(tmp_path)
    (tmp_path / "store.json").write_text('{"format": 7}')
    with pytest.raises(
        StorageError, match=r"is a store of format 7; this version reads 1\. Run `textsplice prepare`"
    ):
        Store.load(tmp_path)


def test_equal_texts_are_equally_common_and_common_words_count_more() -> None:
    common = commonness(Ragged.from_rows([[2, 9, 3], [2, 5, 3], [2, 9, 3], [2, 9, 3]]))
    assert common[0] == common[2] == common[3]
    assert common[0] > common[1]
    assert commonness(Ragged.from_rows([])).tolist() == []


def masked_store(tokens: list[list[int]]) -> Store:
    mill = Table.of({"name": "Old Mill", "area": "city centre", "near": "Old Weir"})
    return Store.build(
        ids=[str(row) for row in range(len(tokens))],
        texts=["The Old Mill in the city centre.", "It is near Old Weir."][: len(tokens)],
        tokens=Ragged.from_rows(tokens),
        table_of=np.zeros(len(tokens), dtype=np.int32),
        tables=[mill],
        offered=np.ones(len(tokens), dtype=np.bool_),
        commonness=np.zeros(len(tokens)),
        tokenizer="words",
        fold=frozenset(),
    )


def test_each_mask_of_a_store_has_the_field_whose_value_it_hides() -> None:
    store = masked_store([[2, 5, 4, 4, 6, 5, 4, 4, 7, 3], [2, 8, 9, 10, 4, 4, 7, 3]])
    assert store.fields == ["name", "area", "near"]
    assert [store.mask_fields_of(row).tolist() for row in range(2)] == [
        [-1, -1, 0, 0, -1, -1, 1, 1, -1, -1],
        [-1, -1, -1, -1, 2, 2, -1, -1],
    ]


def test_masks_that_masking_the_text_again_does_not_make_have_no_known_field(tmp_path: Path) -> None:
    too_short, elsewhere = [2, 5, 4, 4, 3], [2, 4, 9, 10, 4, 4, 7, 3]
    masked_store([too_short, elsewhere]).save(tmp_path)
    store = Store.load(tmp_path)
    assert [set(store.mask_fields_of(row).tolist()) for row in range(2)] == [{-1}, {-1}]
