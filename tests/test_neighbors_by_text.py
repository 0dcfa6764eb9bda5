"""The index by text: the same rows as counting one by one, filters inside the search, saved and read back."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TypeVar

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from textsplice.errors import InputError, StorageError
from textsplice.neighbors import by_text
from textsplice.neighbors.by_text import TextIndex
from textsplice.ragged import Ragged

Number = TypeVar("Number", bound=np.generic)
MASK = 4
ROW = st.lists(st.sampled_from([MASK, 5, 6, 7]), max_size=9)


def runs(text: list[int]) -> set[tuple[int, ...]]:
    words = [token for i, token in enumerate(text) if i == 0 or (token, text[i - 1]) != (MASK, MASK)]
    return {tuple(words[i : i + n]) for n in (2, 3, 4) for i in range(len(words) - n + 1)}


@given(
    st.lists(ROW, max_size=12),
    st.lists(ROW, min_size=1, max_size=3),
    st.integers(1, 6),
    st.integers(0, 2**12 - 1),
    st.integers(-1, 11),
)
@settings(max_examples=400)
def test_the_rows_that_share_most_runs_are_found(
    corpus: list[list[int]], texts: list[list[int]], k: int, bits: int, exclude: int
):
    index = TextIndex.build(Ragged.from_rows(corpus), MASK)
    allow = np.array([bits >> row & 1 == 0 for row in range(len(corpus))], dtype=np.bool_)
    excluded = exclude if exclude < len(corpus) else -1
    found, shared = index.search_many(
        Ragged.from_rows(texts),
        k,
        exclude_rows=np.full(len(texts), excluded, dtype=np.int32),
        allow=allow,
    )
    for i, text in enumerate(texts):
        counts = [
            len(runs(row) & runs(text)) if allow[r] and r != excluded else 0 for r, row in enumerate(corpus)
        ]
        best = sorted((r for r in range(len(corpus)) if counts[r]), key=lambda r: (-counts[r], r))[:k]
        assert found[i].tolist() == best + [-1] * (k - len(best))
        assert shared[i].tolist() == [counts[r] for r in best] + [0] * (k - len(best))


CORPUS = Ragged.from_rows([[2, 5, 6, 3], [2, MASK, MASK, 6, 3], [2, 6, 5, 3]])


def test_unseen_words_and_masks_of_any_length_do_not_matter():
    index = TextIndex.build(CORPUS, MASK)
    assert index.search(np.array([2, 999, MASK, 6, 3], dtype=np.int32), 3).tolist() == [1, 0]


def test_a_filter_can_be_a_function():
    index = TextIndex.build(CORPUS, MASK)
    assert index.search(np.array([2, 5, 6, 3], dtype=np.int32), 3, allow=lambda row: row != 0).tolist() == [1]


def test_a_saved_index_is_memory_mapped_and_finds_the_same(tmp_path: Path):
    built = TextIndex.build(CORPUS, MASK)
    built.save(tmp_path / "index")
    loaded = TextIndex.load(tmp_path / "index", len(CORPUS))
    assert not loaded.postings.flags.owndata
    for mine, other in zip(built.search_many(CORPUS, 3), loaded.search_many(CORPUS, 3), strict=True):
        assert mine.tolist() == other.tolist()
    assert (len(loaded), loaded.mask_id) == (3, MASK)


def test_an_index_of_more_or_fewer_texts_is_refused(tmp_path: Path):
    TextIndex.build(CORPUS, MASK).save(tmp_path)
    with pytest.raises(StorageError, match=r"about\.npy: this file is truncated or damaged"):
        TextIndex.load(tmp_path, 2)


@pytest.mark.parametrize("name", ["buckets", "postings", "about"])
def test_a_damaged_index_is_a_sentence(tmp_path: Path, name: str):
    TextIndex.build(CORPUS, MASK).save(tmp_path)
    path = tmp_path / f"{name}.npy"
    path.write_bytes(path.read_bytes()[:-3])
    with pytest.raises(StorageError) as error:
        TextIndex.load(tmp_path, len(CORPUS))
    assert str(error.value) == f"{path}: this file is truncated or damaged. Prepare the corpus again."


def test_an_index_that_is_not_there_is_a_sentence(tmp_path: Path):
    with pytest.raises(StorageError) as error:
        TextIndex.load(tmp_path, len(CORPUS))
    assert str(error.value) == f"{tmp_path / 'index.json'}: there is no index here. Prepare the corpus again."


def changed(array: NDArray[Number], place: int, value: int) -> NDArray[Number]:
    copy = array.copy()
    copy[place] = value
    return copy


def test_numbers_that_lead_astray_are_refused(tmp_path: Path):
    built = TextIndex.build(CORPUS, MASK)
    astray = {
        "postings": [replace(built, postings=changed(built.postings, 0, 3))],
        "buckets": [
            replace(built, buckets=changed(built.buckets, 0, -1)),
            replace(built, buckets=changed(built.buckets, 1, 10**6)),
            replace(built, buckets=changed(built.buckets, -1, 10**6)),
            replace(built, buckets=built.buckets[:0]),
            replace(built, buckets=built.buckets[:1]),
            replace(built, buckets=np.append(built.buckets[:1], built.buckets)),
        ],
    }
    for name, indexes in astray.items():
        for index in indexes:
            index.save(tmp_path)
            with pytest.raises(StorageError, match=rf"{name}\.npy: this file is truncated or damaged"):
                TextIndex.load(tmp_path, len(CORPUS))


@given(st.lists(ROW, max_size=12), st.integers(1, 5))
def test_it_does_not_matter_how_many_rows_are_indexed_at_once(corpus: list[list[int]], at_once: int):
    rows = Ragged.from_rows(corpus)
    whole = TextIndex.build(rows, MASK)
    told: list[int] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(by_text, "ROWS_AT_ONCE", at_once)
        parts = TextIndex.build(rows, MASK, told.append)
    assert (parts.buckets.tolist(), parts.postings.tolist()) == (
        whole.buckets.tolist(),
        whole.postings.tolist(),
    )
    assert sum(told) == len(corpus)


def test_bad_questions_are_sentences():
    index = TextIndex.build(CORPUS, MASK)
    with pytest.raises(InputError, match="0 neighbors were asked for"):
        index.search(np.array([5, 6], dtype=np.int32), 0)
    with pytest.raises(InputError) as error:
        index.search_many(CORPUS, 1, exclude_rows=np.zeros(2, dtype=np.int32))
    assert str(error.value) == "there are 3 texts, but 2 rows to exclude."
    with pytest.raises(InputError) as error:
        index.search_many(CORPUS, 1, exclude_rows=np.full(3, 3, dtype=np.int32))
    assert str(error.value) == "a row to exclude is not one of the 3 rows of the corpus."


def test_an_empty_corpus_has_no_rows():
    index = TextIndex.build(Ragged.from_rows([]), MASK)
    assert index.search(np.array([5, 6], dtype=np.int32), 2).tolist() == []
