"""No text may say, in whatever words, another value than its table has."""

from __future__ import annotations

import pytest

from search_world import prepared, tables
from textsplice import Table, rules
from textsplice.errors import InputError, TextspliceError
from textsplice.oracle.sources import Sources
from textsplice.policy.problem import Draft
from textsplice.search.rules import rule_from_dict
from textsplice.search.verify import verify
from textsplice.slots.check import check_slots
from textsplice.slots.lexicon import Lexicon
from textsplice.splicer import Splicer
from textsplice.text import linearize, tokenize

RULE = rules.NoContradictions("e2e")
PUB = Table.of({"name": "Aromi", "familyFriendly": "yes", "priceRange": "£20-25"})


def draft(text: str, table: Table = PUB) -> Draft:
    return Draft(tokenize(text), (), Sources(linearize(table), (), {}), ())


@pytest.mark.parametrize("text", ["Aromi is not family-friendly.", "Aromi has high prices."])
def test_words_that_say_another_value_break_the_rule(text: str) -> None:
    assert "is said to be" in (RULE.violation(draft(text)) or "")


@pytest.mark.parametrize(
    "text", ["Aromi is family-friendly.", "It costs £20-25.", "Aromi by the riverside serves Thai food."]
)
def test_the_tables_own_values_and_fields_that_it_lacks_are_no_contradiction(text: str) -> None:
    assert RULE.violation(draft(text)) is None


def test_an_unfinished_text_may_still_go_on() -> None:
    contradicting = draft("Aromi is not family-friendly")
    assert RULE.mendable(contradicting)
    assert not RULE.mendable(draft("Aromi is not family-friendly . It is a place that is very nice indeed ."))


def test_no_text_contradicts_its_table_and_verify_checks_it() -> None:
    lexicon, rule = Lexicon.load("bundled"), rules.NoContradictions("bundled")
    maker = Splicer.untrained(prepared())

    def contradicts(text: str, table: Table) -> bool:
        return any(slot.status == "wrong" for slot in check_slots(text, table, lexicon).slots)

    free = list(maker.generate_many(tables(), progress=False))
    assert any(contradicts(row.text, row.table) for row in free if row.status == "ok")
    bound = [row for row in maker.generate_many(tables(), progress=False, rules=[rule]) if row.status == "ok"]
    assert len(bound) > 20
    for row in bound:
        assert not contradicts(row.text, row.table)
        assert row.rules == ({"rule": "no-contradictions", "lexicon": "bundled"},)
        verify(row, maker.proof)


def test_the_rule_is_read_as_it_is_written_and_names_a_lexicon_that_is_not_there() -> None:
    assert rule_from_dict(RULE.to_dict(), "here") == RULE
    with pytest.raises(TextspliceError, match="one of bundled, e2e"):
        rules.NoContradictions("nowhere")


def test_a_row_makes_no_other_file_be_opened() -> None:
    with pytest.raises(InputError, match="is no lexicon"):
        rules.NoContradictions.from_dict({"lexicon": "/etc/passwd"}, "row 1")
    assert rules.NoContradictions.from_dict({"lexicon": "e2e"}, "row 1") == RULE
