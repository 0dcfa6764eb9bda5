"""From any canvas to a text: least against all sequences of splices, and against the equations as written."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracle_references import IMPOSSIBLE, Text, parse_cost, texts_of
from textsplice.errors import InputError
from textsplice.oracle import Continuing, CostToGo, Numbering, Splice, derive
from textsplice.oracle.stretches import Stretches, Target
from textsplice.ragged import Ragged


def all_splices(canvas: Text, neighbors: tuple[Text, ...]) -> dict[Splice, Text]:
    """Every splice that fits, and the canvas it makes."""
    return {
        Splice(start, stop, n, begin, end): canvas[:start] + text[begin:end] + canvas[stop:]
        for start in range(len(canvas) + 1)
        for stop in range(start, len(canvas) + 1)
        for n, text in enumerate(neighbors)
        for begin in range(len(text))
        for end in range(begin + 1, len(text) + 1)
    }


def searched_costs(canvas: Text, neighbors: tuple[Text, ...], targets: set[Text]) -> dict[Text, int]:
    """Breadth-first search over splices, which knows nothing of kept tokens; canvases may have any length."""
    costs = {canvas: 0} if canvas in targets else {}
    seen, frontier, step = {canvas}, {canvas}, 0
    while len(costs) < len(targets):
        step += 1
        frontier = {made for each in frontier for made in all_splices(each, neighbors).values()} - seen
        seen |= frontier
        costs |= dict.fromkeys(targets & frontier, step)
    return costs


def literal_cost(canvas: Text, target: Text, neighbors: tuple[Text, ...]) -> int:
    """`P` as the docstring of the kernel has it, with an end that is always kept."""

    @cache
    def kept(b: int, t: int) -> int:
        if (b, t) == (0, 0):
            return 0
        is_end = (b, t) == (len(target) + 1, len(canvas) + 1)
        if not is_end and not (
            0 < b <= len(target) and 0 < t <= len(canvas) and canvas[t - 1] == target[b - 1]
        ):
            return IMPOSSIBLE
        return min(
            (
                kept(c, u) + parse_cost(target[c : b - 1], neighbors)
                for c in range(b)
                for u in range(t)
                if c < b - 1 or (c == b - 1 and u == t - 1)
            ),
            default=IMPOSSIBLE,
        )

    return kept(len(target) + 1, len(canvas) + 1)


def check_all_canvases(neighbors: tuple[Text, ...], longest_target: int, longest_canvas: int) -> int:
    targets = {
        text
        for text in texts_of("ab", longest_target, 1)
        if set(text) <= set("".join(map("".join, neighbors)))
    }
    continuing = {target: Continuing(target, neighbors) for target in targets}
    count = 0
    for canvas in texts_of("abx", longest_canvas):
        for target, cost in searched_costs(canvas, neighbors, targets).items():
            assert continuing[target].cost(canvas) == cost, (canvas, target, neighbors)
            count += 1
    return count


@pytest.mark.parametrize(
    "neighbors", [("a", "b"), ("ab",), ("ba", "a"), ("aab",), ("abb", "ba"), ("axb", "ba"), ("xa", "bx")]
)
def test_no_sequence_of_splices_from_a_canvas_is_shorter(neighbors: tuple[str, ...]):
    assert check_all_canvases(tuple(map(tuple, neighbors)), 3, 2) == 14 * 13


@pytest.mark.slow
def test_no_sequence_of_splices_is_shorter_from_any_canvas_of_three_letters():
    texts = texts_of("ab", 2, 1)
    for left in texts:
        for right in texts:
            if {*left, *right} == {"a", "b"}:
                check_all_canvases((left, right), 4, 3)


@st.composite
def cases(draw: st.DrawFn) -> tuple[Text, Text, tuple[Text, ...]]:
    letters = draw(st.sampled_from(["ab", "abc", "abcd"]))
    text = st.lists(st.sampled_from(letters), max_size=7).map(tuple)
    target = draw(st.lists(st.sampled_from(letters), min_size=1, max_size=7).map(tuple))
    canvas = draw(st.lists(st.sampled_from(letters + "x"), max_size=7).map(tuple))
    neighbors = tuple(draw(st.lists(text, max_size=3)))
    missing = sorted(set(target) - {letter for neighbor in neighbors for letter in neighbor})
    return canvas, target, (*neighbors, *((letter,) for letter in missing))


@given(cases())
@settings(max_examples=400)
def test_the_cost_to_go_is_what_the_equations_say(case: tuple[Text, Text, tuple[Text, ...]]):
    canvas, target, neighbors = case
    assert Continuing(target, neighbors).cost(canvas) == literal_cost(canvas, target, neighbors)


SMALL = settings(max_examples=150)


@given(cases())
@SMALL
def test_exactly_the_best_next_splices_reduce_the_cost_by_one(case: tuple[Text, Text, tuple[Text, ...]]):
    canvas, target, neighbors = case
    continuing = Continuing(target, neighbors)
    cost = continuing.cost(canvas)
    made = all_splices(canvas, neighbors)
    costs = dict(zip(made, continuing.costs(made.values()), strict=True))
    assert min(costs.values()) >= cost - 1
    best = continuing.best_next(canvas, limit=100_000)
    assert len(set(best)) == len(best)
    assert {costs[splice] for splice in best} <= {cost - 1}
    assert (best == []) == (canvas == target)
    for splice in costs:
        if costs[splice] == cost - 1:
            assert any(is_inside(each, splice) for each in best), splice


def is_inside(small: Splice, large: Splice) -> bool:
    """Whether one copies no more, and replaces no less, than the other."""
    return (
        small.neighbor == large.neighbor
        and large.begin <= small.begin
        and small.end <= large.end
        and small.start <= large.start
        and large.stop <= small.stop
    )


@given(cases(), st.integers(1, 20))
@SMALL
def test_a_limit_cuts_the_list(case: tuple[Text, Text, tuple[Text, ...]], limit: int):
    canvas, target, neighbors = case
    continuing = Continuing(target, neighbors)
    assert continuing.best_next(canvas, limit) == continuing.best_next(canvas, 100_000)[:limit]


@given(cases())
@SMALL
def test_from_the_empty_canvas_it_is_a_derivation(case: tuple[Text, Text, tuple[Text, ...]]):
    _, target, neighbors = case
    continuing = Continuing(target, neighbors)
    assert continuing.cost(()) == len(derive(target, neighbors))
    canvas: Text = ()
    for _ in range(continuing.cost(())):
        canvas = all_splices(canvas, neighbors)[continuing.best_next(canvas)[0]]
    assert canvas == target


def test_a_splice_replaces_what_is_between_the_tokens_that_stay():
    continuing = Continuing("< a b >".split(), ["< _ b >".split(), "z a z".split()])
    assert continuing.best_next("< x y b >".split()) == [Splice(1, 3, 1, 1, 2)]


def test_an_empty_target_can_only_be_reached_from_the_empty_canvas():
    continuing = Continuing((), (("a",),))
    assert continuing.cost(()) == 0
    assert continuing.best_next(()) == []
    with pytest.raises(InputError) as error:
        continuing.cost(("a",))
    assert str(error.value) == "no splice can empty a canvas. Give a target that has a token."


def test_no_splices_can_be_asked_for():
    with pytest.raises(InputError) as error:
        Continuing("ab", ["ab"]).best_next("a", 0)
    assert str(error.value) == "0 splices were asked for. Ask for at least one."


def test_a_token_that_no_neighbor_has_is_named_as_in_derive():
    with pytest.raises(InputError, match="target position 1: token 'c' is in no neighbor"):
        Continuing("ac", ["ab"])


def test_ids_come_from_values_rows_and_the_vocabulary_and_a_mask_matches_nothing():
    target = Target.of(np.array([2, 5, 6, 9, 3], dtype=np.int32), 12)
    table = (np.array([11, 5, 11, 6], dtype=np.int32), np.array([-1, 0, -1, 1], dtype=np.int32))
    store = Ragged.from_rows([[8], [2, 4, 4, 3]])
    stretches = Stretches.solve(
        target, table=table, store=store, rows=np.array([1], dtype=np.int32), mask_id=4
    )
    to_go = CostToGo(stretches, Numbering(1))
    canvases = [[], [2, 4, 4, 3], [2, 5, 4, 3], [2, 5, 6, 3], [2, 5, 6, 9, 3], [2, 99, -1, 9, 3]]
    assert to_go.costs(Ragged.from_rows(canvases)).tolist() == [4, 3, 2, 1, 0, 2]
    assert to_go.best_next(np.array([2, 5, 6, 3], dtype=np.int32)) == [Splice(3, 3, 2 + 9, 0, 1)]
    # The row's masks stand for nothing, so its two ends are all that it gives: values and a word go between.
    assert to_go.best_next(np.array([2, 4, 9, 3], dtype=np.int32)) == [
        Splice(1, 2, 0, 1, 2),
        Splice(1, 2, 0, 3, 4),
    ]
