"""FULL: the batched decisions against the paper's formulas, written out in loops."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from policy_toys import canvases_of, toy_policy, toy_shape, toy_split
from textsplice.oracle.splice import Splice
from textsplice.policy.cases import Case
from textsplice.policy.checkpoint import new_policy
from textsplice.policy.full.policy import FullPolicy
from textsplice.policy.full.scores import encode_cases, first_scores, second_scores
from textsplice.policy.policy import Policy
from textsplice.policy.reference import Reference
from textsplice.policy.transformer import NEIGHBOR
from textsplice.ragged import Ragged
from textsplice.text.vocabulary import BEGIN_ID, END_ID, MASK_ID


@pytest.fixture(params=[True, False], autouse=True, ids=["compiled", "tensors"])
def _compiled_or_not(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if not request.param:
        monkeypatch.setattr(Policy, "compiled", False)


@torch.no_grad()
def slow_states(policy, case, canvases, row):
    """The states of one canvas, its table and its neighbors, one sequence at a time."""
    slow = Reference(policy)
    length = int(canvases.lengths[row])
    table = slow.encode(case.table.tolist(), canvases.copied[row, : len(case.table)].astype(int).tolist())
    ages = np.minimum(canvases.ages[row, :length], policy.shape.config.max_age).tolist()
    canvas = slow.decode(canvases.ids[row, :length].tolist(), ages, table)
    neighbors = [slow.encode(t.tolist(), [NEIGHBOR] * len(t)) for t in case.neighbors]
    return canvas, table, neighbors, slow.word_states()


def dot(matrix_a, a, matrix_b, b) -> float:
    """`(A a) · (B b)` one product at a time."""
    total = 0.0
    for row_a, row_b in zip(matrix_a.tolist(), matrix_b.tolist(), strict=True):
        left = sum(w * x for w, x in zip(row_a, a.tolist(), strict=True))
        right = sum(w * x for w, x in zip(row_b, b.tolist(), strict=True))
        total += left * right
    return total


@pytest.fixture(scope="module")
def beam():
    split, store = toy_split()
    rows = [0, 3, 4, 7]
    cases = [split.case(row, store) for row in rows]
    derivations = [split.derivation(row) for row in rows]
    return cases, derivations, canvases_of(cases, derivations, [0, 1, 3, 2])


def test_first_decisions_equal_the_formula(beam) -> None:
    cases, _, canvases = beam
    policy = toy_policy()
    states = encode_cases(policy, cases)
    scores = first_scores(policy, states, canvases)
    head = policy.first
    for row, case in enumerate(cases):
        canvas, table, neighbors, words = slow_states(policy, case, canvases, row)
        expected: dict[tuple[int, int], float] = {}
        for start in range(int(canvases.lengths[row]) + 1):
            column = 0
            for x in table:
                if case.segments[column] >= 0:
                    expected[start, column] = dot(head.canvas.weight, canvas[start], head.table.weight, x)
                column += 1
            for text, encoded in zip(case.neighbors, neighbors, strict=True):
                for token, nu in zip(text, encoded, strict=True):
                    if token != MASK_ID:
                        expected[start, column] = dot(
                            head.canvas.weight, canvas[start], head.neighbor.weight, nu
                        )
                    column += 1
            for word in words:
                expected[start, column] = dot(head.canvas.weight, canvas[start], head.word.weight, word)
                column += 1
        stop = float(canvas[0] @ head.stop.detach())
        total = math.log(sum(map(math.exp, expected.values())) + math.exp(stop))
        assert float(scores.stop[row]) == pytest.approx(stop - total, abs=2e-4)
        for start in range(scores.log_probs.shape[1]):
            for column in range(scores.log_probs.shape[2]):
                found = float(scores.log_probs[row, start, column])
                if (start, column) in expected:
                    assert found == pytest.approx(expected[start, column] - total, abs=2e-4)
                else:
                    assert found == -math.inf


@pytest.mark.parametrize("conditioned", [False, True])
def test_second_decisions_equal_the_formula(beam, conditioned: bool) -> None:
    cases, _, canvases = beam
    policy = toy_policy(conditioned_second=conditioned)
    states = encode_cases(policy, cases)
    first = first_scores(policy, states, canvases)
    head = policy.second
    chosen = [(1, 2, 0, 1), (2, 1, 2, 0), (3, 0, 1 + len(cases[3].neighbors) + 7, 0), (0, 0, 1, 0)]
    rows, starts = (np.array(column) for column in list(zip(*chosen, strict=True))[:2])
    columns = np.array([states.keys[r].column(int(s), int(b)) for r, _, s, b in chosen])
    found = second_scores(policy, first, rows, starts, columns)
    for number, (row, start, source, begin) in enumerate(chosen):
        case = cases[row]
        canvas, table, neighbors, words = slow_states(policy, case, canvases, row)
        texts = [table, *neighbors]
        if source >= len(texts):
            word = policy.shape.words.index(source - len(texts))
            keys, ids, matrix, limit = words[word : word + 1], [7], head.word.weight, 1
        elif source == 0:
            keys, ids, matrix = table, case.table, head.table.weight
            limit = max(i + 1 for i in range(len(ids)) if case.segments[i] == case.segments[begin])
        else:
            keys, ids = texts[source], case.neighbors[source - 1]
            matrix, limit = head.neighbor.weight, len(ids)
        expected: dict[tuple[int, int], float] = {}
        for stop in range(start, int(canvases.lengths[row]) + 1):
            for last in range(begin, limit):
                if ids[last] == MASK_ID:
                    continue
                score = dot(head.canvas.weight, canvas[stop + 1], matrix, keys[last])
                if conditioned:
                    query, key = head.condition(canvas[start], keys[begin])
                    pulled = keys[last] @ matrix.T @ head.canvas.weight
                    score = ((canvas[stop + 1] + query) @ (pulled + key)).item()
                expected[stop, last - begin] = score
        total = math.log(sum(map(math.exp, expected.values())))
        for stop in range(found.shape[1]):
            for end in range(found.shape[2]):
                log_prob = float(found[number, stop, end])
                if (stop, end) in expected:
                    assert log_prob == pytest.approx(expected[stop, end] - total, abs=3e-4)
                else:
                    assert log_prob == -math.inf


@pytest.mark.parametrize("seed", range(4))
def test_batched_losses_equal_one_canvas_at_a_time(seed: int) -> None:
    split, store = toy_split(seed)
    policy = toy_policy(pre_norm=seed % 2 == 0, conditioned_second=seed < 2)
    rows = np.random.default_rng(seed).permutation(9)[:6]
    output = policy(policy.collate(split, store, rows))
    slow = Reference(policy)
    with torch.no_grad():
        each = [slow.loss(split.case(row, store), split.derivation(row)) for row in rows.tolist()]
    assert output.actions == sum(one.actions for one in each)
    splices = sum(len(split.derivation(row)) for row in rows.tolist())
    assert output.skipped == splices + 6 - output.actions
    assert output.first_loss.item() == pytest.approx(sum(float(x.first) for x in each), rel=1e-5)
    assert output.second_loss.item() == pytest.approx(sum(float(x.second) for x in each), rel=1e-5)
    assert output.loss.item() == pytest.approx((output.first_loss + output.second_loss).item() / 6, rel=1e-6)


def test_probabilities_sum_to_one(beam) -> None:
    cases, _, canvases = beam
    policy = toy_policy()
    first = first_scores(policy, encode_cases(policy, cases), canvases)
    total = first.log_probs.exp().sum(dim=(1, 2)) + first.stop.exp()
    assert torch.allclose(total, torch.ones(4), atol=1e-5)
    second = second_scores(policy, first, np.arange(4), np.zeros(4, dtype=int), np.full(4, 1))
    assert torch.allclose(second.exp().sum(dim=(1, 2)), torch.ones(4), atol=1e-5)


def test_masks_field_names_padding_and_cross_field_spans_have_probability_zero() -> None:
    case = Case(
        table=np.array([5, 20, 21, 6, 22], dtype=np.int32),
        segments=np.array([-1, 0, 0, -1, 1], dtype=np.int32),
        neighbors=[np.array([BEGIN_ID, MASK_ID, 23, MASK_ID, END_ID], dtype=np.int32)],
    )
    policy = toy_policy()
    lay = Splice(0, 0, 1, 0, 5)
    states = encode_cases(policy, [case, case])
    canvases = canvases_of([case, case], [[], [lay]], [0, 1])
    first = first_scores(policy, states, canvases)
    forbidden = [0, 3, 5 + 1, 5 + 3]
    assert (first.log_probs[:, :, forbidden].exp() == 0).all()
    assert (first.log_probs[1].exp().sum(dim=0)[[1, 2, 4, 5, 7, 9]] > 0).all()
    assert (first.log_probs[0, 1:].exp() == 0).all()  # the empty canvas has one gap
    # From table token 20 a span may end at 20 or 21, not at the next field's name or value.
    from_table, from_neighbor = second_scores(
        policy, first, np.array([1, 1]), np.array([2, 2]), np.array([1, 5])
    ).exp()
    assert from_table.shape == (6, 5)
    assert (from_table[:, 2:] == 0).all()
    assert (from_table[:2] == 0).all()
    assert (from_table[2:, :2] > 0).all()
    assert (from_neighbor[:, [1, 3]] == 0).all()
    assert (from_neighbor[2:, [0, 2, 4]] > 0).all()


def test_scores_do_not_depend_on_the_rest_of_the_batch(beam) -> None:
    cases, _, canvases = beam
    policy = toy_policy()
    together = first_scores(policy, encode_cases(policy, cases), canvases)
    columns = np.array([1, 1, 1, 1])
    starts = np.zeros(4, dtype=int)
    second = second_scores(policy, together, np.arange(4), starts, columns)
    for row, case in enumerate(cases):
        one = type(canvases)(
            case_of=np.zeros(1, dtype=int),
            ids=canvases.ids[row : row + 1],
            lengths=canvases.lengths[row : row + 1],
            ages=canvases.ages[row : row + 1],
            copied=canvases.copied[row : row + 1, : len(case.table)],
        )
        alone = first_scores(policy, encode_cases(policy, [case]), one)
        gaps, width = alone.log_probs.shape[1:]
        found = together.log_probs[row, :gaps, :width]
        assert torch.allclose(found.exp(), alone.log_probs[0].exp(), atol=1e-5)
        assert torch.equal(found == -math.inf, alone.log_probs[0] == -math.inf)
        assert (together.log_probs[row, gaps:] == -math.inf).all()
        assert (together.log_probs[row, :, width:] == -math.inf).all()
        own = second_scores(policy, alone, np.zeros(1, dtype=int), starts[:1], columns[:1])[0]
        assert torch.allclose(second[row, : own.shape[0], : own.shape[1]].exp(), own.exp(), atol=1e-5)


def test_encodings_at_hand_give_the_same_scores(beam) -> None:
    cases, _, canvases = beam
    policy = toy_policy()
    encodings = [policy.encode_texts(case.neighbors) for case in cases]
    fresh = first_scores(policy, encode_cases(policy, cases), canvases)
    cached = first_scores(policy, encode_cases(policy, cases, encodings), canvases)
    assert torch.allclose(fresh.log_probs.exp(), cached.log_probs.exp(), atol=1e-6)


def test_a_case_without_neighbors_has_its_table_and_the_words() -> None:
    case = Case(np.array([5, 20], dtype=np.int32), np.array([-1, 0], dtype=np.int32))
    policy = toy_policy()
    states = encode_cases(policy, [case])
    first = first_scores(policy, states, canvases_of([case], [[]], [0]))
    assert first.log_probs.shape == (1, 1, 2 + len(policy.shape.words))
    assert float(first.log_probs.exp().sum() + first.stop.exp()) == pytest.approx(1, abs=1e-6)


def test_a_table_without_values_can_still_be_written_about() -> None:
    nothing = np.zeros(0, dtype=np.int32)
    text = np.array([BEGIN_ID, 20, END_ID], dtype=np.int32)
    empty = Case(nothing, nothing, [text])
    full = Case(np.array([5, 20], dtype=np.int32), np.array([-1, 0], dtype=np.int32), [text])
    policy = toy_policy()
    first = first_scores(
        policy, encode_cases(policy, [empty, full]), canvases_of([empty, full], [[], []], [0, 0])
    )
    total = first.log_probs.exp().sum(dim=(1, 2)) + first.stop.exp()
    assert torch.allclose(total, torch.ones(2), atol=1e-5)
    assert float(first.log_probs[0, 0, 0]) == -math.inf
    split, store = one_splice_split([], [], [[2, 20, 3]], [(0, 0, 1, 0, 3)])
    batch = policy.collate(split, store, np.array([0]))
    policy(batch).loss.backward()
    assert all(torch.isfinite(w.grad).all() for w in policy.parameters() if w.grad is not None)


def one_splice_split(table, segments, neighbors, splices):
    """A split of one example."""
    split, _ = toy_split(tables=1, references=1)
    return (
        type(split)(
            table_tokens=Ragged.from_rows([table]),
            table_segments=Ragged.from_rows([segments]),
            table_of=np.zeros(1, dtype=np.int32),
            targets=Ragged.from_rows([[BEGIN_ID, END_ID]]),
            neighbors=np.arange(len(neighbors), dtype=np.int32)[None],
            splices=np.array(splices, dtype=np.int32),
            splice_offsets=np.array([0, len(splices)]),
        ),
        Ragged.from_rows(neighbors),
    )


def test_the_first_loss_sums_over_every_equal_span() -> None:
    # The span "20 21" stands in the table's value, twice in neighbor 1 and once across two values.
    split, store = one_splice_split(
        table=[5, 20, 21, 6, 20, 21],
        segments=[-1, 0, 0, -1, 1, 2],
        neighbors=[[2, 20, 21, 20, 21, 3], [2, 20, 4, 21, 3]],
        splices=[(0, 0, 1, 1, 3)],
    )
    policy = toy_policy()
    batch = policy.collate(split, store, np.array([0]))
    # Columns: 6 keys of neighbor 1, 4 of neighbor 2 (no mask), 6 words, 6 table tokens, Stop.
    empty_canvas, stop = batch.cases[0].marks.nonzero().tolist()[:3], batch.cases[0].marks[1]
    assert empty_canvas == [[0, 1], [0, 3], [0, 10 + 6 + 1]]
    assert stop.nonzero().tolist() == [[10 + 6 + 6]]


def test_a_single_word_counts_wherever_it_stands() -> None:
    split, store = one_splice_split(
        table=[5, 30, 7],
        segments=[-1, 0, 0],
        neighbors=[[2, 7, 4, 7, 3]],
        splices=[(0, 0, 2 + 7, 0, 1)],
    )
    policy = toy_policy()
    batch = policy.collate(split, store, np.array([0]))
    # Columns: 2 7 7 3 of the neighbor, words BEGIN END 7 30 12 9, table 5 30 7, Stop.
    assert batch.cases[0].marks[0].nonzero().flatten().tolist() == [1, 2, 4 + 2, 4 + 6 + 2]


def test_an_action_no_key_expresses_is_left_out_but_the_canvas_goes_on() -> None:
    split, store = one_splice_split(
        table=[5, 20],
        segments=[-1, 0],
        neighbors=[[2, 4, 3]],
        splices=[(0, 0, 1, 0, 3), (1, 2, 2 + 33, 0, 1), (1, 1, 0, 1, 2)],
    )
    policy = toy_policy()
    batch = policy.collate(split, store, np.array([0]))
    assert batch.skipped == 1
    ids = batch.canvases.ids.tolist()
    # The empty canvas, then two padded to the same width; the first masked one never appears.
    assert ids == [0, 0, *[0, 2, 33, 3, 0, 0], *[0, 2, 20, 33, 3, 0]]
    output = policy(batch)
    assert (output.actions, output.second_actions, output.skipped) == (3, 2, 1)


def test_no_gradient_is_nan_or_missing() -> None:
    split, store = toy_split(2)
    policy = toy_policy().train()
    policy(policy.collate(split, store, np.arange(9))).loss.backward()
    for name, weight in policy.named_parameters():
        assert weight.grad is not None, name
        assert torch.isfinite(weight.grad).all(), name


def test_four_derivations_are_learned_by_heart() -> None:
    split, store = toy_split(5)
    policy = new_policy(toy_shape(d_model=32, init_std=0.05), seed=0)
    assert isinstance(policy, FullPolicy)
    batch = policy.collate(split, store, np.array([0, 1, 3, 6]))
    optimizer = torch.optim.AdamW(policy.parameters(), lr=3e-3)
    losses: list[float] = []
    for _ in range(120):
        output = policy(batch)
        optimizer.zero_grad()
        output.loss.backward()
        optimizer.step()
        losses.append(output.loss.item())
    assert losses[-1] < losses[0] / 20
    assert output.second_correct == output.second_actions
    # Derivations that share the empty canvas can't all be right there.
    assert output.first_correct >= output.actions - 1


@pytest.mark.parametrize("kind", ["full", "lrt", "copy"])
def test_bfloat16_learns_what_float32_learns(kind: str) -> None:
    split, store = toy_split(tables=6)
    policy = new_policy(toy_shape(kind, d_model=32, ffn=32), seed=3).eval()
    batch = policy.collate(split, store, np.arange(len(split.table_of)))

    def loss_and_gradient() -> tuple[float, torch.Tensor]:
        policy.zero_grad()
        loss = policy(batch).loss
        loss.backward()
        gradients = [p.grad.flatten() for p in policy.parameters() if p.grad is not None]
        return loss.item(), torch.cat(gradients)

    exact, exact_gradient = loss_and_gradient()
    policy.mixed_precision = True
    mixed, mixed_gradient = loss_and_gradient()
    assert mixed != exact
    assert mixed == pytest.approx(exact, rel=1e-2)
    assert torch.cosine_similarity(mixed_gradient, exact_gradient, dim=0) > 0.99
