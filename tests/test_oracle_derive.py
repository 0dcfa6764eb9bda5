"""Least derivations: shortest against two independent references, and the choice among the shortest."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracle_references import Text, least_splices, most_kept, parse_cost, texts_of
from textsplice.errors import InputError
from textsplice.oracle import Splice, derive, provenance, replay, span_oracle


@st.composite
def cases(draw: st.DrawFn) -> tuple[Text, tuple[Text, ...]]:
    letters = draw(st.sampled_from(["ab", "abc", "abcd", "abcdef"]))
    text = st.lists(st.sampled_from(letters), max_size=8).map(tuple)
    target = draw(text)
    neighbors = tuple(draw(st.lists(text, max_size=4)))
    missing = sorted(set(target) - {letter for neighbor in neighbors for letter in neighbor})
    return target, (*neighbors, *((letter,) for letter in missing))


def check_against_the_grammar(target: Text, neighbors: tuple[Text, ...]) -> None:
    splices = derive(target, neighbors)
    assert tuple(replay(splices, neighbors)) == target
    assert len(splices) == parse_cost(target, neighbors)
    assert len(splices) <= len(span_oracle(target, neighbors)) <= len(target)


@given(cases())
@settings(max_examples=800)
def test_a_derivation_replays_and_costs_what_the_grammar_says(case: tuple[Text, tuple[Text, ...]]):
    check_against_the_grammar(*case)


@pytest.mark.slow
@given(cases())
@settings(max_examples=12_000)
def test_twelve_thousand_derivations_cost_what_the_grammar_says(case: tuple[Text, tuple[Text, ...]]):
    check_against_the_grammar(*case)


def check_against_all_splices(longest_neighbor: int) -> int:
    texts = texts_of("ab", longest_neighbor)
    count = 0
    for i, left in enumerate(texts):
        for right in texts[i:]:
            for target, cost in least_splices((left, right), 5).items():
                assert len(derive(target, (left, right))) == cost, (target, left, right)
                assert len(derive(target, (right, left))) == cost, (target, right, left)
                count += 1 if left == right else 2
    return count


def test_no_sequence_of_splices_is_shorter():
    assert check_against_all_splices(longest_neighbor=2) == 2_113


@pytest.mark.slow
def test_no_sequence_of_splices_is_shorter_in_all_instances_of_two_letters():
    assert check_against_all_splices(longest_neighbor=4) == 57_745


def test_an_empty_target_needs_no_splice():
    assert derive([], [["a"]]) == []
    assert derive([], []) == []


def test_tokens_are_anything_hashable():
    assert derive([3, None, ("x", 1)], [[None, ("x", 1)], [3]]) == [
        Splice(0, 0, 1, 0, 1),
        Splice(1, 1, 0, 0, 2),
    ]


def test_a_token_that_no_neighbor_has_is_named():
    with pytest.raises(InputError) as error:
        derive(["a", "cosy", "pub"], [["a", "pub"]])
    assert str(error.value) == (
        "target position 1: token 'cosy' is in no neighbor. "
        "Add a neighbor that has it, such as the token alone."
    )


def test_a_text_too_long_to_derive_is_refused():
    with pytest.raises(InputError) as error:
        derive(["a"] * 4096, [["a"]])
    assert str(error.value) == (
        "target 0: a text of 4096 tokens is too long to derive; 4095 is the most. Truncate or split it."
    )


def spliced(target: str, *neighbors: str) -> list[tuple[int, ...]]:
    return [tuple(splice) for splice in derive(target.split(), [n.split() for n in neighbors])]


def test_gaps_of_a_laid_neighbor_are_replaced_depth_first_from_left_to_right():
    assert spliced("< A runs x y to B >", "< _ runs to _ >", "A", "x", "y", "B") == [
        (0, 0, 0, 0, 6),
        (1, 2, 1, 0, 1),
        (3, 3, 2, 0, 1),
        (4, 4, 3, 0, 1),
        (6, 7, 4, 0, 1),
    ]


def test_of_several_pieces_in_a_gap_the_first_replaces_and_the_others_insert():
    assert spliced("< A B C >", "< _ _ >", "A", "B", "C") == [
        (0, 0, 0, 0, 4),
        (1, 3, 1, 0, 1),
        (2, 2, 2, 0, 1),
        (3, 3, 3, 0, 1),
    ]


def test_the_first_splice_lays_the_neighbor_that_keeps_most_tokens():
    assert spliced("< a b c d >", "< a >", "< a b d >", "c", "b c d")[0] == (0, 0, 1, 0, 5)


def test_the_better_ranked_neighbor_wins_where_both_keep_as_many():
    assert spliced("< a b >", "< a _ >", "< a . >", "b") == [(0, 0, 0, 0, 4), (2, 3, 2, 0, 1)]


def test_a_gap_is_filled_from_a_neighbor_already_used():
    # `b` stands in neighbors 1 and 2; neighbor 2 has already given `a`.
    assert [s[2] for s in spliced("< a x y z b >", "< x y z >", "b", "a _ b")] == [0, 2, 2]


def test_the_neighbor_that_has_most_of_what_is_missing_fills_gaps_first():
    # `a` stands in neighbors 1 and 2, `b` only in 2: taking both from 2 uses fewer neighbors.
    assert [s[2] for s in spliced("< a x y z b >", "< x y z >", "a", "a _ b")] == [0, 2, 2]


WRAPPED = st.lists(st.sampled_from("abc"), min_size=1, max_size=7).map(lambda text: ("<", *text, ">"))


@given(WRAPPED, st.lists(WRAPPED, min_size=1, max_size=4))
@settings(max_examples=300)
def test_between_begin_and_end_tokens_the_first_splice_lays_a_whole_neighbor(
    target: Text, neighbors: list[Text]
):
    first = derive(target, [*neighbors, *"abc"])[0]
    assert first[:2] == (0, 0)
    assert first[3:] == (0, len(neighbors[first.neighbor]))


SHORT = st.lists(st.sampled_from("abc"), min_size=1, max_size=4).map(lambda text: ("<", *text, ">"))


@given(SHORT, st.lists(SHORT, min_size=1, max_size=3))
@settings(max_examples=200)
def test_no_first_splice_would_keep_more_tokens(target: Text, drawn: list[Text]):
    neighbors = (*drawn, ("a",), ("b",), ("c",))
    origins = provenance(derive(target, neighbors), neighbors)
    assert sum(origin.step == 0 for origin in origins) == most_kept(target, neighbors)


@given(cases())
@settings(max_examples=200)
def test_a_splice_starts_right_of_what_is_finished(case: tuple[Text, tuple[Text, ...]]):
    target, neighbors = case
    splices = derive(target, neighbors)
    for number, splice in enumerate(splices):
        assert replay(splices[:number], neighbors)[: splice.start] == list(target[: splice.start])
    assert [splice.start for splice in splices] == sorted(splice.start for splice in splices)
