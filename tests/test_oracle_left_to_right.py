"""The two oracles that only append."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from textsplice.errors import InputError
from textsplice.oracle import Place, Splice, lrt_oracle, replay, span_oracle, token_places

TEXT = st.lists(st.sampled_from("abc"), max_size=9)


def fewest_spans(target: list[str], neighbors: list[list[str]]) -> int:
    spans = {tuple(n[k:m]) for n in neighbors for k in range(len(n)) for m in range(k + 1, len(n) + 1)}
    best = [0]
    for end in range(1, len(target) + 1):
        best.append(min(1 + best[begin] for begin in range(end) if tuple(target[begin:end]) in spans))
    return best[-1]


@given(TEXT, st.lists(TEXT, max_size=4))
@settings(max_examples=400)
def test_spans_are_as_few_as_any_cover_from_left_to_right(target: list[str], neighbors: list[list[str]]):
    neighbors = [*neighbors, ["a"], ["b"], ["c"]]
    splices = span_oracle(target, neighbors)
    assert replay(splices, neighbors) == target
    assert not any(splice.replaces for splice in splices)
    assert len(splices) == fewest_spans(target, neighbors)


@given(TEXT, st.lists(TEXT, max_size=4))
@settings(max_examples=200)
def test_the_token_oracle_appends_one_token_a_splice(target: list[str], neighbors: list[list[str]]):
    neighbors = [*neighbors, ["a"], ["b"], ["c"]]
    splices = lrt_oracle(target, neighbors)
    assert replay(splices, neighbors) == target
    assert [(s.start, s.stop, s.end - s.begin) for s in splices] == [(i, i, 1) for i in range(len(target))]


def test_a_token_is_copied_from_the_first_source_that_has_it():
    assert lrt_oracle(["b", "a"], [["x", "b"], ["a", "b", "a"]]) == [
        Splice(0, 0, 0, 1, 2),
        Splice(1, 1, 1, 0, 1),
    ]


def test_every_place_of_a_token_is_found():
    assert token_places(["a", "z"], [["x", "a"], ["a", "b", "a"]]) == [
        [Place(0, 1), Place(1, 0), Place(1, 2)],
        [],
    ]


@pytest.mark.parametrize("oracle", [lrt_oracle, span_oracle])
def test_a_token_without_a_source_is_named(oracle: object):
    with pytest.raises(InputError, match="target position 0: token 'z' is in no neighbor"):
        oracle(["z"], [["a"]])  # type: ignore[operator]
