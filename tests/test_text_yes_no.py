"""Words for yes and no, of which there is one list."""

from __future__ import annotations

import pytest

from textsplice.corpus import Table
from textsplice.neighbors import yes_no_fields
from textsplice.slots.check import check_slots
from textsplice.slots.lexicon import Lexicon
from textsplice.text import linearize, tokenize
from textsplice.text.verbatim import unsaid_values
from textsplice.text.yes_no import PLAIN, SHORT


@pytest.mark.parametrize("value", [word for pair in PLAIN for word in (*pair, pair[0].upper())])
def test_a_yes_or_no_is_never_expected_word_for_word(value: str):
    table = Table.of({"name": "Loop", "dogs": value})
    assert unsaid_values(tokenize("The Loop."), linearize(table)) == 0
    assert check_slots("The Loop.", table, Lexicon.of_tables([table])).errors == ()


@pytest.mark.parametrize("value", [word for pair in SHORT for word in pair])
def test_a_word_that_can_mean_something_else_is_expected(value: str):
    table = Table.of({"name": "Loop", "laps": value})
    assert unsaid_values(tokenize("The Loop."), linearize(table)) == 1
    assert len(check_slots("The Loop.", table, Lexicon.of_tables([table])).errors) == 1


@pytest.mark.parametrize(("no", "yes"), [*PLAIN, *SHORT])
def test_a_field_of_nothing_but_opposites_is_a_yes_no_field(no: str, yes: str):
    tables = [Table.of({"dogs": no}), Table.of({"dogs": yes.upper()})]
    assert yes_no_fields(tables) == {"dogs"}
    assert yes_no_fields(tables[:1]) == frozenset()
    assert yes_no_fields([*tables, Table.of({"dogs": "perhaps"})]) == frozenset()
