"""A value and the word beside it: doubled words and articles, and `a` for `an`."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from textsplice import Table
from textsplice.search.beside import ENOUGH, Beside

USUAL = Beside.of(["A moderate walk, an easy walk, a hilly one."] * ENOUGH + ["Take an hour, a house."])


def misfits(text: str, *values: str, beside: Beside = USUAL) -> list[str]:
    return list(beside.misfits(text, Table.of({"sights": list(values)})))


@pytest.mark.parametrize(
    ("text", "value", "pair"),
    [
        ("It passes the the old mill.", "the old mill", "the the"),
        ("It passes the a heronry.", "a heronry", "the a"),
        ("We saw a The Punter pub.", "The Punter", "a The"),
        ("Along Mill Lane Lane.", "Mill Lane", "Lane Lane"),
        ("It is an moderate walk.", "moderate", "an moderate"),
        ("Es liegt am am See.", "am See", "am am"),
        ("Cerca de la la plaza.", "la plaza", "la la"),
    ],
)
def test_what_does_not_go_together_is_found(text: str, value: str, pair: str) -> None:
    (found,) = misfits(text, value)
    assert repr(pair) in found


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("It passes the old mill.", "old mill"),
        ("It is a moderate walk.", "moderate"),
        ("It takes an hour.", "hour"),  # people write both before an h
        ("It is an xylophone.", "xylophone"),  # and nobody has written either before an x
        ("It has the A grade.", "A"),
        ("By Duran Duran.", "Duran Duran"),
        ("It is 5 5 km.", "5 km"),
        ("The the is not beside it: mill.", "mill"),
        ("", "mill"),
        ("Mill", ""),
    ],
)
def test_what_goes_together_or_is_not_known_is_left_alone(text: str, value: str) -> None:
    assert not misfits(text, value)


def test_a_pair_is_told_once() -> None:
    assert len(misfits("By the the mill and the the mill.", "the mill")) == 1


@given(st.text(max_size=30), st.text(max_size=10))
def test_any_text_can_be_read(text: str, value: str) -> None:
    assert all(each.startswith("it says ") for each in misfits(text, value, beside=Beside()))
