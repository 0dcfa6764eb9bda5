from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from textsplice.slots.mentions import Matcher

WORDS = st.lists(st.sampled_from(["a", "b", "the", "c"]), max_size=12)


@given(WORDS, st.lists(st.sampled_from(["a", "b", "the", "c"]), min_size=1, max_size=4))
def test_a_value_is_found_wherever_it_stands(words: list[str], value: list[str]) -> None:
    shortest = value[1:] if value[0] in ("the", "a") and len(value) > 1 else value
    said = any(words[place : place + len(shortest)] == shortest for place in range(len(words)))
    found = Matcher({}).find(words, [("name", " ".join(value))])
    assert bool(found) == said
    assert all(words[mention.start : mention.stop] in (value, shortest) for mention in found)
    assert all(one.stop <= other.start for one, other in pairwise(found))


class Counted(str):
    """A word that counts how often it is compared."""

    __slots__ = ()
    times = 0
    __hash__ = str.__hash__

    def __eq__(self, other: object) -> bool:
        Counted.times += 1
        return str.__eq__(self, other)

    def __ne__(self, other: object) -> bool:
        Counted.times += 1
        return str.__ne__(self, other)


def test_a_value_of_many_equal_words_is_found_in_linear_time() -> None:
    words = [Counted("b")] * 4000
    assert not Matcher({}).find(words, [("name", "b " * 2000 + "c")])
    assert 0 < Counted.times < 10 * 4000
