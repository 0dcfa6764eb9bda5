"""The kernel over a corpus: sources counted as everywhere, equal to `derive`, for any number of threads."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from textsplice.errors import InputError
from textsplice.oracle import Derivations, derive, derive_corpus, replay
from textsplice.ragged import Ragged

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "benchmarks"))

from bitsets import bitset_cost
from cases import Cases, corpus_cases
from cky import cky_cost, compiled_cky_cost, compiled_literal_cky_cost, literal_cky_cost

MASK, WORDS = 4, 12


def derived(
    target: list[int],
    table: list[list[int]],
    store: list[list[int]],
    neighbors: list[int] | None = None,
) -> tuple[Derivations, list[list[int]]]:
    """One example's derivations and sources; each value of the table stands after a field's name, 11."""
    tokens = [token for value in table for token in (11, *value)]
    segments = [n for number, value in enumerate(table) for n in (-1, *([number] * len(value)))]
    rows = list(range(len(store))) if neighbors is None else neighbors
    derivations = derive_corpus(
        Ragged.from_rows([target]),
        table_tokens=Ragged.from_rows([tokens]),
        table_segments=Ragged.from_rows([segments]),
        table_of=np.zeros(1, dtype=np.int32),
        store_tokens=Ragged.from_rows(store),
        neighbors=np.array([rows], dtype=np.int32).reshape(1, -1),
        mask_id=MASK,
    )
    sources = [tokens, *(store[row] for row in rows if row >= 0), *([word] for word in range(WORDS))]
    return derivations, sources


def test_a_value_is_copied_at_its_place_in_the_linearised_table():
    derivations, _ = derived([2, 7, 8, 3], [[5], [6, 7, 8]], [[2, MASK, MASK, 3]])
    assert derivations[0] == [(0, 0, 1, 0, 4), (1, 3, 0, 4, 6)]


def test_a_span_never_crosses_values():
    derivations, _ = derived([5, 6], [[5], [6]], [])
    assert derivations[0] == [(0, 0, 0, 1, 2), (1, 1, 0, 3, 4)]


def test_adjoining_values_of_one_field_stay_apart():
    derivations = derive_corpus(
        Ragged.from_rows([[5, 6]]),
        table_tokens=Ragged.from_rows([[11, 5, 6]]),
        table_segments=Ragged.from_rows([[-1, 0, 1]]),
        table_of=np.zeros(1, dtype=np.int32),
        store_tokens=Ragged.from_rows([]),
        neighbors=np.zeros((1, 0), dtype=np.int32),
        mask_id=MASK,
    )
    assert derivations.costs.tolist() == [2]


def test_a_field_name_is_never_copied():
    derivations, _ = derived([11], [[5]], [])
    assert derivations[0] == [(0, 0, 1 + 11, 0, 1)]


def test_a_mask_matches_nothing():
    derivations, _ = derived([MASK, 5], [], [[MASK, 5]])
    assert derivations[0] == [(0, 0, 2 + MASK, 0, 1), (1, 1, 1, 1, 2)]


def test_a_word_nobody_has_comes_from_the_vocabulary_after_the_neighbors_that_are_there():
    derivations, _ = derived([2, 9, 3], [], [[2, 3], [2, 5]], [0, 1, -1, -1])
    assert derivations[0] == [(0, 0, 1, 0, 2), (1, 1, 1 + 2 + 9, 0, 1)]


def test_the_table_comes_before_a_neighbor_for_the_same_span():
    derivations, _ = derived([2, 5, 3], [[5]], [[2, MASK, 3], [2, 5, 6]])
    assert derivations[0] == [(0, 0, 1, 0, 3), (1, 2, 0, 1, 2)]


def test_without_a_store_all_comes_from_the_table_and_the_vocabulary():
    derivations, _ = derived([5, 9], [[5]], [], [-1, -1])
    assert derivations[0] == [(0, 0, 0, 1, 2), (1, 1, 1 + 9, 0, 1)]


def test_an_empty_target_has_no_splices():
    derivations, _ = derived([], [[5]], [[5]])
    assert derivations.offsets.tolist() == [0, 0]
    assert derivations.splices.shape == (0, 5)


def test_an_empty_corpus_has_no_derivations():
    empty = Ragged.from_rows([])
    derivations = derive_corpus(
        empty,
        table_tokens=empty,
        table_segments=empty,
        table_of=np.zeros(0, dtype=np.int32),
        store_tokens=empty,
        neighbors=np.zeros((0, 20), dtype=np.int32),
        mask_id=MASK,
        threads=2,
    )
    assert len(derivations) == 0


TOKENS = st.lists(st.integers(2, 9), max_size=9)


@given(TOKENS, st.lists(TOKENS.filter(bool), max_size=3), st.lists(TOKENS, max_size=4))
@settings(max_examples=300)
def test_the_corpus_kernel_is_as_short_as_deriving_from_values_neighbors_and_missing_words(
    target: list[int], table: list[list[int]], store: list[list[int]]
):
    derivations, sources = derived(target, table, store)
    assert replay(derivations[0], sources) == target
    texts = [[-1 if token == MASK else token for token in text] for text in table + store]
    known = {token for text in texts for token in text}
    words = [[token] for token in dict.fromkeys(target) if token not in known]
    alone = derive(target, texts + words)
    assert derivations.costs.tolist() == [len(alone)]


@given(TOKENS, st.lists(TOKENS, max_size=4))
@settings(max_examples=200)
def test_the_benchmark_measures_rivals_that_find_the_same_costs(target: list[int], texts: list[list[int]]):
    texts = [*texts, *([token] for token in sorted(set(target)))]
    cost = len(derive(target, texts))
    assert literal_cky_cost(target, texts) == cost
    assert compiled_literal_cky_cost(target, texts) == cost
    assert cky_cost(target, texts) == cost
    assert compiled_cky_cost(target, texts) == cost
    assert bitset_cost(target, texts) == cost


@given(TOKENS.map(lambda target: [token for token in target if token != MASK]), st.lists(TOKENS, max_size=4))
@settings(max_examples=200)
def test_without_a_table_the_corpus_kernel_makes_the_very_splices_of_derive(
    target: list[int], store: list[list[int]]
):
    known = {token for text in store for token in text}
    target = [token for token in target if token in known]
    derivations, _ = derived(target, [], store)
    masked = [[-1 if token == MASK else token for token in text] for text in store]
    assert [s._replace(neighbor=s.neighbor - 1) for s in derivations[0]] == derive(target, masked)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"neighbors": np.array([[0, 7]], dtype=np.int32)}, "neighbor 7 does not exist: there are 2."),
        ({"table_of": np.array([-1], dtype=np.int32)}, "table -1 does not exist: there are 1."),
        (
            {"table_of": np.zeros(2, dtype=np.int32)},
            "there are 1 targets, but tables for 2 and neighbors for 1.",
        ),
        (
            {"table_segments": Ragged.from_rows([[-1]])},
            "the tables' tokens and segments differ in shape.",
        ),
        ({"store_tokens": Ragged.from_rows([[2], [-5]])}, "a token's id is negative."),
    ],
)
def test_rows_and_ids_that_do_not_exist_are_refused(change: dict[str, Any], message: str):
    arguments: dict[str, Any] = {
        "table_tokens": Ragged.from_rows([[11, 5]]),
        "table_segments": Ragged.from_rows([[-1, 0]]),
        "table_of": np.zeros(1, dtype=np.int32),
        "store_tokens": Ragged.from_rows([[2], [3]]),
        "neighbors": np.array([[0, 1]], dtype=np.int32),
        "mask_id": MASK,
    }
    with pytest.raises(InputError) as error:
        derive_corpus(Ragged.from_rows([[2, 3]]), **{**arguments, **change})
    assert str(error.value) == message


@pytest.fixture(scope="module")
def e2e_dev(e2e_folder: Path) -> Cases:
    return corpus_cases(f"e2e:{e2e_folder}", "dev")


@pytest.mark.data
def test_every_derivation_of_e2e_dev_replays_and_costs_eleven_splices_on_average(e2e_dev: Cases):
    derivations = e2e_dev.derive()
    check_replays(e2e_dev, derivations)
    assert derivations.costs.mean() == pytest.approx(11.0, abs=0.1)


@pytest.mark.data
def test_the_number_of_threads_changes_nothing(e2e_dev: Cases):
    one, three = e2e_dev.derive(threads=1), e2e_dev.derive(threads=3)
    assert np.array_equal(one.splices, three.splices)
    assert np.array_equal(one.offsets, three.offsets)


@pytest.mark.data
def test_nearly_half_of_the_splices_of_e2e_dev_come_from_the_table_and_half_replace(e2e_dev: Cases):
    splices = e2e_dev.derive().splices
    neighbors = e2e_dev.neighbors.shape[1]
    assert (splices[:, 2] == 0).mean() == pytest.approx(0.42, abs=0.01)
    assert (splices[:, 2] > neighbors).mean() == pytest.approx(0.22, abs=0.01)
    assert (splices[:, 1] > splices[:, 0]).mean() == pytest.approx(0.5, abs=0.01)


@pytest.mark.slow
@pytest.mark.data
def test_every_derivation_of_e2e_train_replays(e2e_folder: Path):
    cases = corpus_cases(f"e2e:{e2e_folder}", "train")
    check_replays(cases, cases.derive(threads=2))


def check_replays(cases: Cases, derivations: Derivations) -> None:
    words = [[word] for word in range(cases.words)]
    assert len(derivations) == len(cases)
    for example in range(len(cases)):
        sources = cases.sources(example)
        assert replay(derivations[example], [*sources, *words]) == cases.targets[example].tolist()
