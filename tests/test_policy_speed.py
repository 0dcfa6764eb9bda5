"""What was made faster computes what the plain way computes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from policy_toys import toy_shape, toy_split
from textsplice.policy.checkpoint import new_policy
from textsplice.policy.full.policy import FullPolicy
from textsplice.policy.full.tables import Tables, encode_tables
from textsplice.policy.kept import Kept
from textsplice.policy.lrt.attention import Places, attend_gathered, attend_to
from textsplice.policy.lrt.policy import LrtPolicy
from textsplice.policy.lrt.scoring import Choices, Scored, best_by_tensors, best_of
from textsplice.policy.lrt.tree import Trees
from textsplice.search.choose import ORDER, similarities
from textsplice.text.vocabulary import BEGIN_ID

TEXTS = st.lists(st.lists(st.integers(0, 4), max_size=9), max_size=4)


def similarity(one: Sequence[int], other: Sequence[int]) -> float:
    """The definition: the mean over n of the smoothed F1 of the n-grams."""
    total = 0.0
    for n in range(1, ORDER + 1):
        mine, theirs = (
            Counter(tuple(text[i : i + n]) for i in range(len(text) - n + 1)) for text in (one, other)
        )
        total += (2 * (mine & theirs).total() + 1) / (mine.total() + theirs.total() + 1)
    return total / ORDER


@given(TEXTS, TEXTS)
def test_similarities_are_those_of_the_definition_bit_by_bit(
    ones: list[list[int]], others: list[list[int]]
) -> None:
    assert similarities(ones, others) == [[similarity(one, other) for other in others] for one in ones]


def test_texts_of_a_tree_are_read_as_texts_with_a_cache_of_their_own() -> None:
    split, store = toy_split(3)
    policy = new_policy(toy_shape("lrt"), seed=1).eval()
    assert isinstance(policy, LrtPolicy)
    states = policy.encode_cases([split.case(row, store) for row in (0, 4)])
    trees = Trees(policy, states, beam=2)
    trees.step(np.full(2, BEGIN_ID), np.array([0, 1]))
    trees.follow(np.array([0, 0, 1]))  # two texts of the first table, one of the second
    trees.step(np.array([20, 21, 22]), np.array([0, 0, 1]))
    trees.follow(np.array([1, 0]))  # they change places; the other table has no text left
    found = trees.step(np.array([9, 9]), np.array([0, 0]))
    for row, second in enumerate((21, 20)):
        past = None
        for position, token in enumerate((BEGIN_ID, second, 9)):
            with torch.no_grad():
                expected, past = policy.decoder.step(
                    policy.tokens(torch.tensor([token])),
                    position,
                    past,
                    [table[:1] for table in states.tables],
                    None if states.table_mask is None else states.table_mask[:1],
                )
        assert torch.allclose(found[row], expected[0], atol=1e-5)


def test_attention_by_numbers_of_rows_is_attention_to_these_rows() -> None:
    drawn = torch.Generator().manual_seed(1)
    query, read = torch.randn(3, 24, generator=drawn), torch.randn(7, 48, generator=drawn)
    places = Places(np.array([[0, 4, 2], [6, 6, 1], [5, 0, 3]]), np.array([3, 2, 1]))
    found = attend_to(query, read, places, (4, 6))
    assert torch.allclose(found, attend_gathered(query, read, places, (4, 6)), atol=1e-6)
    assert torch.allclose(found[2], read[5, 24:])  # one row has all the weight
    both = torch.cat([torch.randn(7, 24, generator=drawn), read], dim=1)  # as self-attention projects them
    expected = attend_to(both[:3, :24].contiguous(), read, places, (4, 6))
    for attention in (attend_to, attend_gathered):
        assert torch.allclose(attention(both[:3], both, places, (4, 6)), expected, atol=1e-6)


@pytest.mark.parametrize("distinct", [9, 150])
def test_the_best_words_are_those_with_the_highest_sums_over_their_keys(distinct: int) -> None:
    drawn, rng = torch.Generator().manual_seed(distinct), np.random.default_rng(distinct)
    generable, others, texts, tables, width = 150, 4, 20, 3, 7
    choices = Choices(
        2,
        1,
        generable,
        np.zeros((tables, generable + others), dtype=np.int64),
        rng.integers(0, generable + others, (tables, 30)),
    )
    shut = torch.rand(tables, 30, generator=drawn) < 0.3
    scored = Scored(
        3 * torch.randn(texts, distinct, generator=drawn),
        3 * torch.randn(2 * texts, 30, generator=drawn),
        rng.permutation(2 * texts)[:texts],
        rng.integers(0, tables, texts),
    )
    found, same = (best(scored, choices, shut, width) for best in (best_of, best_by_tensors))
    np.testing.assert_allclose(found.scores, same.scores, atol=1e-5)
    assert found.choice[:, -1].tolist() == [1] * texts
    for text in range(texts):
        words = [float(scored.words[text, min(word, distinct - 1)]) for word in range(generable)]
        sums = np.exp([*words, *[-np.inf] * others])
        keys = scored.keys[scored.slots[text]].numpy().astype(np.float64)
        case = scored.case[text]
        open_keys = np.flatnonzero(~shut[case].numpy())
        np.add.at(sums, choices.of_key[case, open_keys], np.exp(keys[open_keys]))
        logs = np.log(sums / sums.sum(), where=sums > 0, out=np.full(len(sums), -np.inf))
        for each in (found, same):
            np.testing.assert_allclose(each.scores[text], logs[each.choice[text]], atol=1e-5)
        logs[[1, 2]] = -np.inf  # the end has a column of its own, begin comes only once
        np.testing.assert_allclose(found.scores[text, :-1], np.sort(logs)[::-1][:width], atol=1e-5)
        for place, choice in enumerate(found.choice[text].tolist()):
            own = [int(key) for key in open_keys if choices.of_key[case, key] == choice]
            best = max(own, key=lambda key: keys[key], default=-1)
            is_word = choice < generable and (best < 0 or words[choice] > keys[best])
            assert found.key[text, place] == (-1 if is_word else best)
    if distinct == generable:  # otherwise there are equal ones
        assert (found.choice == same.choice).all()
        assert (found.key == same.key).all()


def test_tables_that_are_known_are_as_if_they_were_encoded_anew() -> None:
    split, store = toy_split(3)
    policy = new_policy(toy_shape(), seed=1).eval()
    assert isinstance(policy, FullPolicy)
    cases = [split.case(row, store) for row in (0, 4)]
    width = max(len(case.table) for case in cases)
    none, one = np.zeros(width, dtype=np.bool_), np.arange(width) == 1
    before, _ = encode_tables(policy, cases, np.array([0, 1, 1]), np.stack([none, none, one]))
    case_of, copied = np.array([1, 0, 0, 1]), np.stack([one, one, none, one])
    found, starts = encode_tables(policy, cases, case_of, copied, before)
    expected, places = encode_tables(policy, cases, case_of, copied)
    assert starts[0] == starts[3]
    assert len(found.start) == 3  # what no canvas has any more is forgotten
    for start, place, case in zip(starts, places, case_of, strict=True):
        size = len(cases[case].table)
        for mine, anew in zip(parts(found), parts(expected), strict=True):
            assert torch.allclose(mine[start : start + size], anew[place : place + size], atol=1e-5)


def parts(tables: Tables) -> list[torch.Tensor]:
    return [tables.encoded, *tables.layers, tables.first_keys, tables.ends]


def test_what_is_kept_of_weights_is_made_again_when_they_change() -> None:
    weight, made = torch.nn.Parameter(torch.ones(2)), []
    kept = Kept()

    def make() -> torch.Tensor:
        made.append(1)
        return weight.detach() * 2

    assert kept.of([weight], make) is kept.of([weight], make)
    with torch.no_grad():
        weight += 1
    assert kept.of([weight], make).tolist() == [4, 4]
    assert kept.of([torch.nn.Parameter(torch.ones(2))], make) is not kept.of([weight], make)
    assert len(made) == 4


@pytest.mark.parametrize("kind", ["full", "lrt"])
def test_layers_that_are_computed_again_have_the_same_loss_and_gradients(kind: str) -> None:
    split, store = toy_split(2)
    found = []
    for recompute in (False, True):
        policy = new_policy(toy_shape(kind, dropout=0.2), seed=1).train()
        policy.recompute_layers(recompute)
        torch.manual_seed(5)
        output = policy(policy.collate(split, store, np.arange(4)))
        output.loss.backward()
        found.append((output.loss.item(), [weight.grad for weight in policy.parameters()]))
    (loss, gradients), (other_loss, others) = found
    assert loss == other_loss
    assert all(torch.equal(one, other) for one, other in zip(gradients, others, strict=True))
