"""The index answers exactly what scoring every row would, whatever is excluded, allowed or unknown."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from textsplice.corpus import Table, read_corpus
from textsplice.errors import InputError, StorageError
from textsplice.neighbors import Features, Index, arrays, features
from textsplice.neighbors.scan import ScanIndex
from textsplice.neighbors.scores import FieldsAndValues
from textsplice.text import tokenize


def f1(a: frozenset[str], b: frozenset[str]) -> Fraction:
    return Fraction(2 * len(a & b), len(a) + len(b)) if a or b else Fraction(0)


def brute_force(groups, row_group, commonness, query, k, *, row=None, group=None, allow=None):
    totals = [f1(query.fields, g.fields) + f1(query.values, g.values) / 10 for g in groups]
    scored = [
        (-totals[g], -commonness[r], r)
        for r, g in enumerate(row_group)
        if r != row and g != group and (allow is None or allow[r])
    ]
    best = sorted(scored)[:k]
    return [r for _, _, r in best], [float(-total) for total, _, _ in best]


def sets(alphabet: str, largest: int) -> st.SearchStrategy[frozenset[str]]:
    return st.frozensets(st.sampled_from(alphabet), max_size=largest)


TABLES = st.builds(Features, sets("abcdef", 6), sets("uvwxyz", 6))
STRANGERS = st.builds(Features, sets("abcdefgh", 8), sets("stuvwxyz", 8))


@st.composite
def corpora(draw: st.DrawFn):
    groups = draw(st.lists(TABLES, max_size=90))
    row_group = draw(st.lists(st.integers(0, len(groups) - 1), max_size=150)) if groups else []
    commonness = draw(
        st.lists(st.sampled_from([0.0, 0.5, 2.0]), min_size=len(row_group), max_size=len(row_group))
    )
    return groups, np.array(row_group, dtype=np.int32), np.array(commonness, dtype=np.float64)


@pytest.mark.parametrize("common", [2, 128])  # features are lists, or all of them are bitmaps
@settings(max_examples=200)
@given(corpora(), STRANGERS, st.integers(1, 30), st.data())
def test_a_search_finds_what_scoring_every_row_finds(common, corpus, query, k, data):
    groups, row_group, commonness = corpus
    n = len(row_group)
    row = data.draw(st.none() | st.integers(0, n - 1)) if n else None
    group = data.draw(st.none() | st.integers(0, len(groups) - 1)) if groups else None
    allow = data.draw(st.none() | st.lists(st.booleans(), min_size=n, max_size=n))
    allow = None if allow is None else np.array(allow, dtype=np.bool_)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(arrays, "COMMON", common)
        index = Index.build(groups, row_group, commonness)
    hits = index.search(query, k, exclude_row=row, exclude_group=group, allow=allow)

    expected = brute_force(groups, row_group, commonness, query, k, row=row, group=group, allow=allow)
    assert (hits.rows.tolist(), hits.scores.tolist()) == expected

    scanned = ScanIndex.build(FieldsAndValues().score, groups, row_group, commonness)
    hits = scanned.search(query, k, exclude_row=row, exclude_group=group, allow=allow)
    assert (hits.rows.tolist(), hits.scores.tolist()) == expected


def made_corpus(tables: int, seed: int, fields: int = 200, words: int = 300):
    """Tables of many sizes whose features fall off as Zipf's: common ones, rare ones, ties."""
    random = np.random.default_rng(seed)
    groups = [
        Features(
            frozenset(f"f{i}" for i in random.zipf(1.3, random.integers(0, 30)) if i < fields),
            frozenset(f"w{i}" for i in random.zipf(1.2, random.integers(0, 40)) if i < words),
        )
        for _ in range(tables)
    ]
    row_group = random.integers(0, tables, 3 * tables).astype(np.int32)
    return groups, row_group, random.integers(0, 5, 3 * tables).astype(np.float64)


@pytest.fixture(scope="module")
def made():
    return made_corpus(1500, seed=7)


@pytest.fixture(scope="module")
def made_index(made):
    return Index.build(*made)


@pytest.mark.parametrize("k", [1, 20, 700])
def test_common_and_rare_features_are_counted_alike(made, made_index, k):
    groups, row_group, commonness = made
    assert len(made_index.arrays.fields.offsets) > 1
    assert len(made_index.arrays.values.offsets) > 1
    for query in [*groups[:12], *made_corpus(12, seed=8, fields=400, words=900)[0]]:
        hits = made_index.search(query, k)
        expected = brute_force(groups, row_group, commonness, query, k)
        assert (hits.rows.tolist(), hits.scores.tolist()) == expected


def test_many_searches_are_the_same_on_any_number_of_threads(made, made_index):
    groups, row_group, _ = made
    queries = [groups[g] for g in row_group[:300]]
    options = {
        "exclude_rows": np.arange(300, dtype=np.int32),
        "exclude_groups": np.where(np.arange(300) % 2, row_group[:300], -1).astype(np.int32),
    }
    rows, scores = made_index.search_many(queries, 20, **options)
    more_rows, more_scores = made_index.search_many(queries, 20, threads=3, **options)
    assert np.array_equal(rows, more_rows)
    assert np.array_equal(scores, more_scores)
    for i in (0, 1, 298, 299):
        group = int(row_group[i]) if i % 2 else None
        hits = made_index.search(queries[i], 20, exclude_row=i, exclude_group=group)
        assert rows[i].tolist() == hits.rows.tolist()


SMALL = (
    [
        Features(frozenset({"name", "food"}), frozenset({"blue", "spice", "thai"})),
        Features(frozenset({"name", "area"}), frozenset({"blue", "river"})),
        Features(frozenset({"name", "food"}), frozenset({"blue", "spice", "thai"})),
    ],
    np.array([1, 0, 0, 2, 1], dtype=np.int32),
    np.array([1.0, 3.0, 5.0, 5.0, 2.0]),
)


def test_ties_go_to_the_more_common_text_then_to_the_lower_row():
    query = Features(frozenset({"name", "food"}), frozenset({"blue", "spice"}))
    hits = Index.build(*SMALL).search(query, 20)
    assert hits.rows.tolist() == [2, 3, 1, 4, 0]
    assert hits.scores.tolist() == [1.08, 1.08, 1.08, 0.55, 0.55]


@pytest.mark.parametrize("commonness", [[1.0, 2.0, 0.0], [2.0, 1.0, 0.0]])
def test_tables_of_different_sizes_can_tie(commonness):
    query = Features(frozenset("ab"), frozenset({"cheap", "thai"}))
    groups = [
        Features(frozenset("ax"), frozenset({"thai"})),
        Features(frozenset("abwxyz"), frozenset({"thai"})),
        Features(frozenset("z"), frozenset({"cheap", "thai"})),
    ]
    index = Index.build(groups, np.arange(3, dtype=np.int32), np.array(commonness))
    hits = index.search(query, 1)
    assert hits.rows.tolist() == [int(np.argmax(commonness))]
    assert hits.scores.tolist() == [1 / 2 + 1 / 15]


def test_as_many_allowed_rows_come_back_as_there_are():
    index = Index.build(*SMALL)
    query = SMALL[0][0]
    assert index.search(query, 2, allow=lambda row: row in {0, 1, 4}).rows.tolist() == [1, 4]
    mask = np.array([True, False, False, False, True])
    assert index.search(query, 2, allow=mask).rows.tolist() == [4, 0]


def test_a_query_of_which_nothing_is_known_still_gets_neighbors():
    hits = Index.build(*SMALL).search(Features(frozenset({"x"}), frozenset({"y"})), 3)
    assert hits.rows.tolist() == [2, 3, 1]
    assert hits.scores.tolist() == [0.0, 0.0, 0.0]


def test_an_empty_index_has_no_hits():
    index = Index.build([], np.zeros(0, np.int32), np.zeros(0))
    assert index.search(SMALL[0][0], 5).rows.tolist() == []
    rows, scores = index.search_many(SMALL[0], 2)
    assert rows.tolist() == [[-1, -1]] * 3
    assert scores.tolist() == [[0.0, 0.0]] * 3


def test_no_queries_give_no_rows():
    rows, scores = Index.build(*SMALL).search_many([], 4)
    assert rows.shape == scores.shape == (0, 4)


def test_what_cannot_be_asked_is_refused_in_a_sentence():
    index = Index.build(*SMALL)
    with pytest.raises(InputError, match=r"^0 neighbors were asked for\. "):
        index.search(SMALL[0][0], 0)
    with pytest.raises(InputError, match=r"^the allowed rows are bool\[4\], not bool\[5\]\. "):
        index.search(SMALL[0][0], 1, allow=np.ones(4, dtype=np.bool_))


def test_an_index_is_the_same_after_saving_and_mapping_it(tmp_path: Path, made, made_index):
    made_index.save(tmp_path / "index")
    loaded = Index.load(tmp_path / "index")
    assert not loaded.arrays.values.bitmaps.flags.owndata
    assert isinstance(loaded.arrays.values.bitmaps.base, np.memmap)
    assert loaded.fields == made_index.fields
    queries = made[0][:100]
    for mine, theirs in zip(
        loaded.search_many(queries, 20), made_index.search_many(queries, 20), strict=True
    ):
        assert np.array_equal(mine, theirs)
    loaded.save(tmp_path / "again")
    for file in (tmp_path / "index").iterdir():
        assert (tmp_path / "again" / file.name).read_bytes() == file.read_bytes()


def test_an_empty_index_can_be_saved_too(tmp_path: Path):
    Index.build([], np.zeros(0, np.int32), np.zeros(0)).save(tmp_path)
    assert len(Index.load(tmp_path)) == 0


def test_a_scanning_index_is_the_same_after_saving_and_loading_it(tmp_path: Path, made):
    score = FieldsAndValues().score
    scanned = ScanIndex.build(score, *made)
    scanned.save(tmp_path / "index")
    loaded = ScanIndex.load(score, tmp_path / "index")
    queries = made[0][:5]
    for mine, theirs in zip(loaded.search_many(queries, 20), scanned.search_many(queries, 20), strict=True):
        assert np.array_equal(mine, theirs)
    loaded.save(tmp_path / "again")
    for file in (tmp_path / "index").iterdir():
        assert (tmp_path / "again" / file.name).read_bytes() == file.read_bytes()


def test_an_empty_scanning_index_has_no_hits_and_can_be_saved(tmp_path: Path):
    score = FieldsAndValues().score
    ScanIndex.build(score, [], np.zeros(0, np.int32), np.zeros(0)).save(tmp_path)
    assert ScanIndex.load(score, tmp_path).search(SMALL[0][0], 5).rows.tolist() == []


def test_a_score_that_is_not_a_number_is_refused_in_a_sentence():
    index = ScanIndex.build(lambda _query, _other: float("nan"), *SMALL)
    with pytest.raises(InputError, match=r"^neighbors\.score: a score is not a number\. It must be"):
        index.search(SMALL[0][0], 1)


@pytest.mark.parametrize("name", ["rows.npy", "values.bitmaps.npy", "index.json"])
def test_a_truncated_file_is_named(tmp_path: Path, made_index, name):
    made_index.save(tmp_path)
    whole = (tmp_path / name).read_bytes()
    for length in (0, 20, len(whole) // 2, len(whole) - 1):
        (tmp_path / name).write_bytes(whole[:length])
        with pytest.raises(StorageError) as caught:
            Index.load(tmp_path)
        assert caught.value.where == str(tmp_path / name)
        assert caught.value.what == "this file is truncated or damaged."


def test_a_missing_part_is_named(tmp_path: Path):
    Index.build(*SMALL).save(tmp_path)
    (tmp_path / "rows.npy").unlink()
    with pytest.raises(StorageError, match=r"rows\.npy: this part of the index is missing\. "):
        Index.load(tmp_path)
    (tmp_path / "index.json").unlink()
    with pytest.raises(StorageError, match=r"index\.json: there is no index here\. "):
        Index.load(tmp_path)


def test_an_index_of_another_version_is_refused(tmp_path: Path):
    Index.build(*SMALL).save(tmp_path)
    description = (tmp_path / "index.json").read_text()
    (tmp_path / "index.json").write_text(description.replace('"version": 1', '"version": 9'))
    with pytest.raises(StorageError, match="has version 9; this textsplice reads version 1"):
        Index.load(tmp_path)


def test_a_full_disk_leaves_nothing_that_loads(tmp_path: Path, monkeypatch):
    Index.build(*SMALL).save(tmp_path)
    open_file = Path.open

    def refuse(path: Path, mode: str = "r", *rest: object, **named: object):
        # A device that is always full.
        full = "values.slots" in path.name and "w" in mode
        return open_file(Path("/dev/full") if full else path, mode, *rest, **named)

    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(StorageError, match=r"values\.slots\.npy: the disk is full"):
        Index.build(*SMALL).save(tmp_path)
    with pytest.raises(StorageError, match="there is no index here"):
        Index.load(tmp_path)
    assert not list(tmp_path.glob("*.partial"))


@pytest.mark.data
def test_half_of_the_neighbors_of_a_real_row_are_other_texts_of_its_table(e2e_folder: Path):
    numbers: dict[Table, int] = {}
    table_of = np.array(
        [
            numbers.setdefault(example.table, len(numbers))
            for example in read_corpus(f"e2e:{e2e_folder}", "train")
        ],
        dtype=np.int32,
    )
    groups = [features(table, tokenize=tokenize) for table in numbers]
    assert (len(table_of), len(groups)) == (42061, 4862)
    commonness = np.zeros(len(table_of))
    index = Index.build(groups, table_of, commonness)
    asked = np.random.default_rng(0).permutation(len(table_of))[:2000].astype(np.int32)
    queries = [groups[table_of[row]] for row in asked]

    rows, _ = index.search_many(queries, 20, exclude_rows=asked)
    assert np.mean(table_of[rows] == table_of[asked][:, None]) == pytest.approx(0.46, abs=0.02)
    others, scores = index.search_many(queries, 20, exclude_groups=table_of[asked])
    assert not np.any(table_of[others] == table_of[asked][:, None])
    for i in range(3):
        expected = brute_force(groups, table_of, commonness, queries[i], 20, group=table_of[asked[i]])
        assert (others[i].tolist(), scores[i].tolist()) == expected
