"""What is compiled for a CPU computes what the equations say, and what tensors compute on any device."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.nn import functional

from policy_toys import canvases_of, toy_policy, toy_shape, toy_split
from textsplice.oracle.splice import Splice
from textsplice.policy import kernels, reading, vectors
from textsplice.policy.cases import Case
from textsplice.policy.checkpoint import new_policy
from textsplice.policy.full.best import Shut, best_first
from textsplice.policy.full.policy import FullPolicy
from textsplice.policy.full.scores import encode_cases, read_canvases, scores_of
from textsplice.policy.policy import Policy
from textsplice.policy.reading import Known, Texts, read_texts
from textsplice.policy.reference import Reference

SIZES = st.integers(1, 40)
SEEDS = st.integers(0, 2**32 - 1)


@given(SIZES, SIZES, SIZES, SEEDS)
def test_a_product_of_tiles_is_the_product(rows: int, depth: int, columns: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    left, right = (
        rng.standard_normal(shape).astype(np.float32) for shape in ((rows, depth), (columns, depth))
    )
    width = vectors.padded(columns)
    turned, out = np.empty(depth * width, dtype=np.float32), np.full(rows * width + 1, 7, dtype=np.float32)
    vectors.turn(right.reshape(-1), 0, depth, columns, depth, turned, width)
    vectors.multiply(left.reshape(-1), 0, depth, rows, turned, 0, width, depth, out, 0, width, width)
    found = out[:-1].reshape(rows, width)
    np.testing.assert_allclose(found[:, :columns], left @ right.T, atol=1e-4)
    assert (found[:, columns:] == 0).all()
    assert out[-1] == 7  # nothing is written beyond the last row


@given(
    st.lists(st.tuples(SIZES, st.integers(0, 3)), min_size=1, max_size=6),
    st.lists(SIZES, min_size=4, max_size=4),
    st.sampled_from([(1, 5), (3, 8), (2, 16), (2, 32)]),
    SEEDS,
)
def test_texts_attend_to_the_rows_that_they_read(
    texts: list[tuple[int, int]], tables: list[int], shape: tuple[int, int], seed: int
) -> None:
    heads, size = shape
    d = heads * size
    lengths, own = (np.array(column) for column in zip(*texts, strict=True))
    counts = np.array(tables)
    rng = np.random.default_rng(seed)
    query = rng.standard_normal((lengths.sum(), 3 * d)).astype(np.float32)
    read = 3 * rng.standard_normal((counts.sum(), 2 * d)).astype(np.float32)
    starts, first = np.cumsum(lengths) - lengths, (np.cumsum(counts) - counts)[own]
    for known, begins, sizes in ((read, first, counts[own]), (query, starts, lengths)):
        mixed = np.empty((len(query), d), dtype=np.float32)
        step = known.shape[1]
        asked = (query.reshape(-1), 3 * d, starts, lengths)
        kernels.mix(*asked, known.reshape(-1), step, begins, sizes, heads, mixed)
        for start, length, begin, count in zip(starts, lengths, begins, sizes, strict=True):
            parts = (
                query[start : start + length, :d],
                *np.split(known[begin : begin + count, -2 * d :], 2, 1),
            )
            split = (torch.from_numpy(part).unflatten(1, (heads, size)).transpose(0, 1) for part in parts)
            expected = functional.scaled_dot_product_attention(*split).transpose(0, 1).flatten(1)
            np.testing.assert_allclose(mixed[start : start + length], expected, atol=1e-5)


@pytest.mark.parametrize("rows", [8, 1024])  # eight: every text is longer than a part, or nearly
@pytest.mark.parametrize("pre_norm", [False, True])
@pytest.mark.parametrize("fast", [False, True])
@torch.no_grad()
def test_texts_are_read_as_the_equations_say(
    fast: bool, pre_norm: bool, rows: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "ROWS", rows)
    if not fast:  # as on a processor without long vectors
        monkeypatch.setattr(reading, "_onednn", lambda: None)
    policy = toy_policy(pre_norm=pre_norm)
    slow = Reference(policy)
    rng = np.random.default_rng(rows)
    texts, canvases = ([rng.integers(4, 60, n) for n in sizes] for sizes in ((3, 9, 1), (7, 0, 12, 5, 3)))
    features, ages = ([rng.integers(0, 2, len(each)) for each in some] for some in (texts, canvases))
    tables = [slow.encode(*map(list, pair)) for pair in zip(texts, features, strict=True)]
    lengths = np.array(list(map(len, texts)))
    found = policy.read_texts(Texts(np.concatenate(texts), np.concatenate(features), lengths))
    assert torch.allclose(found, torch.cat(tables), atol=1e-5)
    of = np.array([2, 0, 0, 1, 1])
    known = Known(policy.decoder.project_tables(found), (np.cumsum(lengths) - lengths)[of], lengths[of])
    padded, padded_ages = (np.concatenate([np.pad(each, 1) for each in some]) for some in (canvases, ages))
    sizes = np.array([len(canvas) + 2 for canvas in canvases])
    read = policy.read_canvases(Texts(padded, padded_ages, sizes), known)
    expected = [
        slow.decode(canvas.tolist(), age.tolist(), tables[table])
        for canvas, age, table in zip(canvases, ages, of, strict=True)
    ]
    assert torch.allclose(read, torch.cat(expected), atol=1e-5)


def test_nothing_is_read_of_nothing() -> None:
    policy, none = toy_policy(), np.zeros(0, dtype=np.int64)
    assert read_texts(policy.encoder, policy.tokens.weight, Texts(none, none, none)).shape[0] == 0


@given(SEEDS, st.integers(1, 5), st.floats(0, 0.98))
def test_the_best_first_decisions_are_those_of_tensors(seed: int, width: int, closed: float) -> None:
    split, store = toy_split()
    rows = [0, 3, 4, 7]
    cases = [split.case(row, store) for row in rows]
    canvases = canvases_of(cases, [split.derivation(row) for row in rows], [2, 1, 3, 2])
    policy = toy_policy()
    states = encode_cases(policy, cases)
    rng = np.random.default_rng(seed)
    shut = Shut(
        rng.random((4, states.table_shut.shape[1])) < closed,
        rng.random((4, max(map(len, states.open)))) < closed,
        canvases.lengths - rng.integers(0, 2, 4),
    )
    shut.table[states.table_shut] = True
    found = best_first(policy, read_canvases(policy, states, canvases), shut, width)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Policy, "compiled", False)
        same = best_first(policy, read_canvases(policy, states, canvases), shut, width)
    np.testing.assert_allclose(found.stop, same.stop, atol=1e-5)
    for row in range(4):  # a tensor has no more pairs than its canvas and its keys, and -inf may stand there
        there = np.flatnonzero(same.values[row] > -np.inf)
        assert (found.values[row, len(there) :] == -np.inf).all()
        np.testing.assert_allclose(found.values[row, there], same.values[row, there], atol=1e-5)
        assert found.gaps[row, there].tolist() == same.gaps[row, there].tolist()
        assert found.columns[row, there].tolist() == same.columns[row, there].tolist()


def test_a_policy_that_knows_no_words_chooses_among_its_texts() -> None:
    case = Case(np.array([5, 20, 21], dtype=np.int32), np.array([-1, 0, 0], dtype=np.int32))
    policy = new_policy(replace(toy_shape(), words=()), seed=1).eval()
    assert isinstance(policy, FullPolicy)
    read = read_canvases(
        policy, encode_cases(policy, [case]), canvases_of([case], [[Splice(0, 0, 0, 1, 2)]], [1])
    )
    nothing = np.zeros((1, 0), dtype=np.bool_)
    best = best_first(policy, read, Shut(np.zeros((1, 3), dtype=np.bool_), nothing, np.ones(1, dtype=int)), 4)
    first = scores_of(policy, read)
    assert sorted(best.columns[0, :2].tolist()) == [1, 2]
    assert (best.values[0, 2:] == -np.inf).all()
    expected = first.of(0)[1, [1, 2]].sort(descending=True).values
    np.testing.assert_allclose(best.values[0, :2], expected, atol=1e-5)
