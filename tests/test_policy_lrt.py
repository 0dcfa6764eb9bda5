"""LRT and S2S+copy: marginal losses, steps with cached states."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from policy_toys import IDS, toy_shape, toy_split
from textsplice.policy.cases import Case
from textsplice.policy.checkpoint import new_policy
from textsplice.policy.copy.policy import CopyPolicy
from textsplice.policy.lrt.model import UNSAYABLE
from textsplice.policy.lrt.policy import LrtPolicy
from textsplice.policy.reference import Reference
from textsplice.policy.transformer import NOT_COPIED
from textsplice.ragged import Ragged
from textsplice.text.vocabulary import BEGIN_ID, END_ID, MASK_ID

KINDS = ["lrt", "copy"]


def policy_of(kind: str, **changes: object) -> LrtPolicy:
    policy = new_policy(toy_shape(kind, **changes), seed=1)
    assert isinstance(policy, LrtPolicy)
    return policy.eval()


def case_of(kind: str, split, store, row: int) -> Case:
    case = split.case(row, store)
    return Case(case.table, case.segments) if kind == "copy" else case


def read_through(policy: LrtPolicy, cases: list[Case], targets: list[np.ndarray]):
    """Log-probabilities `[time][hypothesis, column]` of reading targets token by token."""
    states = policy.encode_cases(cases)
    cache = None
    for time in range(max(map(len, targets)) - 1):
        last = np.array([t[min(time, len(t) - 1)] for t in targets], dtype=np.int32)
        log_probs, cache = policy.step(states, np.arange(len(cases)), last, cache)
        yield states, log_probs


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("pre_norm", [True, False])
def test_the_batched_loss_equals_steps_with_cached_states(kind: str, pre_norm: bool) -> None:
    split, store = toy_split(1)
    policy = policy_of(kind, pre_norm=pre_norm)
    rows = [0, 1, 4, 8]
    output = policy(policy.collate(split, store, np.array(rows)))
    cases = [case_of(kind, split, store, row) for row in rows]
    targets = [split.targets[row] for row in rows]
    loss, counted = 0.0, 0
    for time, (states, log_probs) in enumerate(read_through(policy, cases, targets)):
        for row, target in enumerate(targets):
            if time + 1 >= len(target):
                continue
            keys = states.keys[row]
            right = np.flatnonzero((keys.word == target[time + 1]) & keys.allowed)
            if len(right):
                loss -= math.log(sum(math.exp(float(log_probs[row, k])) for k in right))
                counted += 1
    assert output.actions == counted
    assert output.skipped == sum(len(t) - 1 for t in targets) - counted
    assert output.first_loss.item() == pytest.approx(loss, rel=1e-4)
    assert output.loss.item() == pytest.approx(loss / 4, rel=1e-4)


@pytest.mark.parametrize("kind", KINDS)
def test_texts_read_at_once_have_the_likelihood_of_texts_read_token_by_token(kind: str) -> None:
    split, store = toy_split(1)
    policy = policy_of(kind)
    case = case_of(kind, split, store, 0)
    unknown = np.array([BEGIN_ID, int(split.targets[4][1]), 10_000, END_ID], dtype=np.int32)
    texts = [split.targets[0], unknown, split.targets[8], split.targets[0][:3]]
    expected: list[float] = []
    for text in texts:
        total = 0.0
        for time, (states, log_probs) in enumerate(read_through(policy, [case], [text])):
            right = np.flatnonzero(states.keys[0].word == text[time + 1])
            sayable = log_probs[0, torch.from_numpy(right)].logsumexp(0) if len(right) else -math.inf
            total += max(float(sayable), UNSAYABLE)
        expected.append(total)
    found = policy.log_likelihoods(case, Ragged.from_rows(texts))
    assert found.tolist() == pytest.approx(expected, rel=1e-4)


@pytest.mark.parametrize("kind", KINDS)
def test_the_score_of_a_key_is_the_formula(kind: str) -> None:
    split, store = toy_split(2)
    policy = policy_of(kind)
    case = case_of(kind, split, store, 0)
    states, log_probs = next(read_through(policy, [case], [split.targets[0]]))
    keys = states.keys[0]
    with torch.no_grad():
        table = Reference(policy).encode(case.table.tolist(), [NOT_COPIED] * len(case.table))
        state, _ = policy.decoder.step(
            policy.tokens(torch.tensor([BEGIN_ID])),
            position=0,
            past=None,
            tables=policy.decoder.project_tables(table[None]),
            table_mask=None,
        )
        neighbors = [e for text in case.neighbors for e in policy.encode_texts([text])[0]]
        words = policy.word_states()
        scores = {}
        for column in np.flatnonzero(keys.allowed).tolist():
            if column < len(case.table):
                key = policy.keys.table.weight @ table[column]
            elif column < len(case.table) + len(neighbors):
                key = policy.keys.neighbor.weight @ neighbors[column - len(case.table)]
            else:
                key = policy.keys.word.weight @ words[column - int(keys.offsets[-2])]
            scores[column] = sum((state[0] * key).tolist())
    total = math.log(sum(map(math.exp, scores.values())))
    for column in range(len(keys)):
        expected = scores[column] - total if column in scores else -math.inf
        assert float(log_probs[0, column]) == pytest.approx(expected, abs=1e-4)


@pytest.mark.parametrize("kind", KINDS)
def test_masks_and_field_names_have_probability_zero_and_the_rest_sums_to_one(kind: str) -> None:
    split, store = toy_split(4)
    policy = policy_of(kind)
    cases = [case_of(kind, split, store, row) for row in (0, 3)]
    states, log_probs = next(read_through(policy, cases, [split.targets[0], split.targets[3]]))
    assert torch.allclose(log_probs.exp().sum(dim=1), torch.ones(2), atol=1e-5)
    for row, case in enumerate(cases):
        keys = states.keys[row]
        tokens = np.concatenate([case.table, *case.neighbors])
        forbidden = np.flatnonzero(tokens == MASK_ID).tolist()
        forbidden += np.flatnonzero(case.segments < 0).tolist()
        assert (log_probs[row, forbidden].exp() == 0).all()
        assert (log_probs[row, len(keys) :].exp() == 0).all()


@pytest.mark.parametrize("kind", KINDS)
def test_steps_do_not_depend_on_the_rest_of_the_batch(kind: str) -> None:
    split, store = toy_split(3)
    policy = policy_of(kind)
    rows = [0, 4, 8]
    cases = [case_of(kind, split, store, row) for row in rows]
    targets = [split.targets[row] for row in rows]
    together = list(read_through(policy, cases, targets))
    for row in range(3):
        alone = list(read_through(policy, [cases[row]], [targets[row]]))
        for (_, one), (_, all_of_them) in zip(alone, together, strict=False):
            width = one.shape[1]
            assert torch.allclose(one[0].exp(), all_of_them[row, :width].exp(), atol=1e-5)
            assert (all_of_them[row, width:] == -math.inf).all()


def test_marginalizing_adds_the_keys_of_a_word() -> None:
    case = Case(
        np.array([5, 20, 7], dtype=np.int32),
        np.array([-1, 0, 0], dtype=np.int32),
        [np.array([BEGIN_ID, 7, MASK_ID, 7, END_ID], dtype=np.int32)],
    )
    policy = policy_of("lrt")
    states = policy.encode_cases([case])
    log_probs, _ = policy.step(states, np.zeros(1, dtype=int), np.array([BEGIN_ID]), None)
    words = policy.marginalize(states, np.zeros(1, dtype=int), log_probs, IDS).exp()
    # Columns: 5 20 7 of the table, 2 7 4 7 3 of the neighbor, then the words 2 3 7 30 12 9.
    assert float(words[0, 7]) == pytest.approx(float(log_probs[0, [2, 4, 6, 10]].exp().sum()))
    assert float(words[0, 20]) == pytest.approx(float(log_probs[0, 1].exp()))
    assert float(words[0, 5]) == 0
    assert float(words[0, MASK_ID]) == 0
    assert float(words.sum()) == pytest.approx(1, abs=1e-5)


def test_a_selected_cache_goes_on_from_its_parents() -> None:
    split, store = toy_split(5)
    policy = policy_of("lrt")
    case = case_of("lrt", split, store, 0)
    states = policy.encode_cases([case])
    both = np.zeros(2, dtype=int)
    _, cache = policy.step(states, both[:1], np.array([BEGIN_ID]), None)
    _, cache = policy.step(states, both, np.array([20, 21]), cache.select(both))
    swapped, _ = policy.step(states, both, np.array([9, 9]), cache.select(np.array([1, 0])))
    straight, _ = policy.step(states, both, np.array([9, 9]), cache)
    assert cache.length == 2
    assert torch.allclose(swapped[[1, 0]].exp(), straight.exp(), atol=1e-6)
    assert not torch.allclose(straight[0].exp(), straight[1].exp(), atol=1e-6)


def test_copy_policies_read_no_neighbors() -> None:
    split, store = toy_split(6)
    policy = policy_of("copy")
    assert isinstance(policy, CopyPolicy)
    batch = policy.collate(split, store, np.arange(6))
    assert batch.neighbor_places == 0
    assert not any("neighbor" in name for name, _ in policy.named_parameters())


@pytest.mark.parametrize("kind", KINDS)
def test_every_weight_learns(kind: str) -> None:
    split, store = toy_split(7)
    policy = policy_of(kind).train()
    batch = policy.collate(split, store, np.arange(6))
    optimizer = torch.optim.AdamW(policy.parameters(), lr=3e-3)
    losses = []
    for _ in range(60):
        output = policy(batch)
        optimizer.zero_grad()
        output.loss.backward()
        assert all(w.grad is not None and torch.isfinite(w.grad).all() for w in policy.parameters())
        optimizer.step()
        losses.append(output.loss.item())
    assert losses[-1] < losses[0] / 5
    assert output.first_correct > 0.8 * output.actions


@pytest.mark.parametrize("kind", KINDS)
def test_a_table_without_values_can_still_be_written_about(kind: str) -> None:
    nothing = np.zeros(0, dtype=np.int32)
    empty = Case(nothing, nothing)
    full = Case(np.array([5, 20, 21], dtype=np.int32), np.array([-1, 0, 0], dtype=np.int32))
    policy = policy_of(kind)
    states = policy.encode_cases([empty, full])
    log_probs, _ = policy.step(states, np.arange(2), np.full(2, BEGIN_ID), None)
    assert torch.allclose(log_probs.exp().sum(dim=1), torch.ones(2), atol=1e-5)
    assert float(log_probs[0, 0]) == -math.inf
