"""A search ends at the next round, table or text once nobody waits for it; asking changes nothing."""

from __future__ import annotations

import pytest

from search_world import beginner, prepared, tables
from textsplice.search.rules.words import ForbidWords
from textsplice.splicer import Splicer
from textsplice.stopping import StoppedError, stop_if_unwanted, stopping_if

KINDS = {
    "swap": lambda: Splicer.untrained(prepared()),
    "full": lambda: beginner(0.0, 0),
    "lrt": lambda: beginner(0.0, 0, kind="lrt"),
    "copy": lambda: beginner(0.0, 0, kind="copy"),
    "drafts": lambda: beginner(0.0, 0, 'search.proposers=["drafts"]', kind="copy"),
}


class Asked:
    """Counts how often it is asked; from some time on, nobody waits."""

    def __init__(self, most: int | None = None) -> None:
        self.times, self.most = 0, most

    def __call__(self) -> bool:
        self.times += 1
        return self.most is not None and self.times > self.most


@pytest.mark.parametrize("rules", [(), (ForbidWords(("zorblish",)),)], ids=["free", "rule"])
@pytest.mark.parametrize("kind", KINDS)
def test_a_search_stops_between_rounds(kind: str, rules: tuple[ForbidWords, ...]) -> None:
    splicer, some = KINDS[kind](), tables()[:3]
    expected = [row.to_dict() for row in splicer.generate_many(some, rules=rules, progress=False)]
    every = Asked()
    with stopping_if(every):
        watched = [row.to_dict() for row in splicer.generate_many(some, rules=rules, progress=False)]
    assert watched == expected
    assert every.times > len(some)  # more often than once a table
    for most in (0, 1, every.times - 1):
        asked = Asked(most)
        with pytest.raises(StoppedError), stopping_if(asked):
            list(splicer.generate_many(some, rules=rules, progress=False))
        assert asked.times == most + 1
    again = [row.to_dict() for row in splicer.generate_many(some, rules=rules, progress=False)]
    assert again == expected  # nothing is left of what was stopped


def test_a_trace_stops() -> None:
    splicer = Splicer.untrained(prepared())
    text = splicer.generate(tables()[0]).text
    with pytest.raises(StoppedError), stopping_if(Asked(0)):
        splicer.trace(text, tables()[0])
    assert splicer.trace(text, tables()[0]).text == text


def test_without_anybody_to_ask_work_goes_on() -> None:
    with stopping_if(lambda: True), pytest.raises(StoppedError):
        stop_if_unwanted()
    stop_if_unwanted()
