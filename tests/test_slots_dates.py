"""Days that texts write in any form, and parts of them."""

from __future__ import annotations

import pytest

from textsplice import Table
from textsplice.corpus.table import Example
from textsplice.oracle.numbering import TABLE
from textsplice.oracle.sources import OfferedNeighbor, Sources
from textsplice.search.swap import swap_values
from textsplice.slots.check import check_slots
from textsplice.slots.dates import Day, day_of, days_in
from textsplice.slots.forms import find_forms
from textsplice.slots.kinds import find_kinds, kinds_of
from textsplice.slots.lexicon import Lexicon
from textsplice.slots.wordings import words_of
from textsplice.text import linearize, tokenize
from textsplice.text.masking import mask
from textsplice.text.tokens import BEGIN, END

MONTHS = "January February March April May June July August September October November December".split()
DAY = Day(1987, 3, 14)


@pytest.mark.parametrize(
    ("value", "day"),
    [
        ("1987-03-14", DAY),
        ("1987-03-14 00:00:00", DAY),
        ("14.3.1987", DAY),
        ("14/03/1987", DAY),
        ("14 March 1987", DAY),
        ("March 14, 1987", DAY),
        ("14th of March 1987", DAY),
        ("14 mar 1987", DAY),
        ("03/04/1987", None),  # in March or in April?
        ("1987", None),
        ("March 1987", None),
        ("1987-13-14", None),
        ("from 14 March 1987", None),
        ("", None),
    ],
)
def test_a_value_is_a_day_or_not(value: str, day: Day | None) -> None:
    assert day_of(value) == day


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("Born on 14 March 1987, she", [DAY]),
        ("Born on March 14th, 1987", [DAY]),
        ("(14.03.1987)", [DAY]),
        ("on 1987-03-14", [DAY]),
        ("in March 1987", [Day(1987, 3, 0)]),
        ("on 14 March", [Day(0, 3, 14)]),
        ("It may rain. You may march.", []),
        ("In 1987, 14 people", []),
    ],
)
def test_days_are_found_in_texts(text: str, days: list[Day]) -> None:
    assert [said.day for said in days_in(words_of(text))] == days


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("Born on March 14, 1987, it opened on 2 May 2001.", "ok"),
        ("Born in 1987, it opened in May 2001.", "ok"),
        ("Born on 15 March 1987, it opened in 2001.", "born (1987-03-14) is said to be 15 march 1987"),
        ("It opened on 2 May 2001.", "born (1987-03-14) is missing"),
        ("Born on 14 March 1987, it opened in June 1999.", "opened (2001-05-02) is said to be june 1999"),
    ],
)
def test_another_day_is_wrong_and_less_of_the_same_is_not(text: str, told: str) -> None:
    table = Table.of({"born": "1987-03-14", "opened": "2001-05-02"})
    lexicon = Lexicon.of_tables([table], {"born": "date", "opened": "date"})
    assert told in str(check_slots(text, table, lexicon))


def lives(count: int = 60) -> list[Example]:
    """People born on a day that every third text writes in another way."""
    examples: list[Example] = []
    for n in range(count):
        day, month, year = 1 + n % 28, n % 12, 1930 + n
        written = (f"{day} {MONTHS[month]} {year}", f"{MONTHS[month]} {day}, {year}", str(year))[n % 3]
        record = {"name": f"N{n}", "born": f"{year}-{month + 1:02}-{day:02}", "goals": str(n % 31)}
        text = f"N{n} was born ({written}) and scored {n % 31} times."
        examples.append(Example(str(n), Table.of(record), text))
    return examples


def test_dates_that_texts_write_in_several_ways_are_a_kind_and_get_the_most_common_form() -> None:
    assert kinds_of(find_kinds(lives()))["born"] == "date"
    assert find_forms(lives()) == ("born=day month year",)


def test_the_day_of_a_birth_is_not_how_many_goals_somebody_scored() -> None:
    examples = lives()
    lexicon = Lexicon.of_tables([e.table for e in examples], kinds_of(find_kinds(examples)))
    assert not [e for e in examples if check_slots(e.text or "", e.table, lexicon).errors]


def test_swap_puts_in_the_same_part_of_a_day() -> None:
    own, new = (
        linearize(Table.of({"name": name, "born": day}))
        for name, day in (("Ann", "12 May 1962"), ("Bea", "3 July 1990"))
    )
    text = "Ann was born in May 1962, on May 12."
    tokens = tokenize(text)
    masked = mask(tokens, own.value_tokens())
    sources = Sources(new, (OfferedNeighbor("n", text, (BEGIN, *masked, END)),), {})
    splices = swap_values(sources, 0, own, "words", ["born"])
    assert splices is not None
    said = [new.tokens[s.begin : s.end] for s in splices if s.neighbor == TABLE]
    assert [" ".join(each) for each in said] == ["Bea", "July 1990", "July", "3"]
