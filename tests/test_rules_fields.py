from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from search_world import beginner, prepared
from textsplice import Table
from textsplice.cli import app
from textsplice.oracle.numbering import TABLE
from textsplice.oracle.sources import Sources
from textsplice.oracle.splice import Origin
from textsplice.policy.problem import Draft
from textsplice.search.rules import KeepSentences, MaxSentences, MinSentences, RequireFields, Rule
from textsplice.search.verify import find_lie
from textsplice.splicer import Splicer
from textsplice.text.delexicalize import delexicalize
from textsplice.text.linearize import linearize
from textsplice.text.tokens import tokenize
from textsplice.text.verbatim import unsaid_values


def draft(text: str, **table: object) -> Draft:
    return Draft(tokenize(text), (), Sources(linearize(Table.of(table)), (), {}), ())


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Hare Law Traverse is easy.", True),
        ("It is the Hare Law Traverse.", True),
        ("The Hare Law Traverse's end.", True),
        ("Law Hare Traverse is easy.", False),
        ("Hare is a Law of the Traverse.", False),
        ("Hare Law is a Traverse.", False),
        ("Traverse Hare Law is easy.", False),
        ("Hare Law, Traverse", False),
        ("hare law traverse is easy.", False),
        ("Hare Law Traverses are easy.", False),
    ],
)
def test_a_required_value_is_said_in_one_piece_as_written(text: str, said: bool) -> None:
    broken = RequireFields(["name"]).violation(draft(text, name="Hare Law Traverse"))
    assert broken == (None if said else "the required field 'name' (Hare Law Traverse) is not in the text")


def test_pieces_of_a_value_that_are_copied_from_the_table_do_not_make_it_whole() -> None:
    sources = Sources(linearize(Table.of({"name": "Hare Law"})), (), {})
    start = sources.table.segments[0].start
    scattered = Draft(("Law", "Hare"), (Origin(TABLE, start + 1, 1), Origin(TABLE, start, 2)), sources, ())
    assert RequireFields(["name"]).violation(scattered) is not None
    assert RequireFields(["name"]).violation(scattered._replace(tokens=("Hare", "Law"))) is None


def test_every_value_of_a_list_is_required() -> None:
    rule = RequireFields(["food"])
    assert rule.violation(draft("It has tea and cake.", food=["tea", "cake"])) is None
    missing = rule.violation(draft("It has tea.", food=["tea", "Dr. Hall's cake"]))
    assert missing == "the required field 'food' (Dr. Hall's cake) is not in the text"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("It is near Blue Spice.", False),
        ("Blue is near Blue Spice.", True),
        ("Blue Spice is near Blue.", True),
        ("Blue is nice.", True),
    ],
)
def test_a_value_is_not_said_by_a_longer_one(text: str, said: bool) -> None:
    assert (RequireFields(["name"]).violation(draft(text, name="Blue", near="Blue Spice")) is None) is said


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("It costs 20 or so.", True),
        ("It costs 20.", True),
        ("It costs 20-25.", False),
        ("It costs 15-20 or so.", False),
        ("It costs 20/25.", False),
        ("It costs 20.50.", False),
        ("It costs 20 - 25 is too much.", False),
        ("20-year-old bread", True),
        ("It costs £20'000.", False),
        ("It costs 20 000 pounds.", False),
        ("It costs 20+5.", False),
        ("It was -20 outside.", False),
        ("It was 20½ long.", False),
        ("It costs 20\u204425.", False),
        ("From 15 to 20.", True),
    ],
)
def test_a_number_is_not_said_by_a_longer_one(text: str, said: bool) -> None:
    assert (RequireFields(["price"]).violation(draft(text, price="20")) is None) is said


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("C#", "We use C# here."),
        ("C#", "We use C#."),
        (".NET", "We use .NET here."),
        ("#", "Press # twice."),
        ("-", "A - B"),
        ("(free)", "It is (free) today."),
        ("@home", "Stay @home."),
        ("5 %", "It is 5 % off."),
        ("50%", "It is 50% off."),
        ("5*", "A 5* hotel."),
        ("No. #", "It is No. # five."),
        ("£", "In £ or $ only."),
        ("...", "Wait ... what?"),
        ("« hi »", "He says « hi » now."),
    ],
)
def test_a_value_is_said_whatever_spaces_stand_around_it(value: str, text: str) -> None:
    assert RequireFields(["name"]).violation(draft(text, name=value)) is None
    table = linearize(Table.of({"name": value}))
    assert unsaid_values(tokenize(text), table) == 0
    assert "name:" in delexicalize(tokenize(text), table).split()


MARKED = Table.of({"name": "Wow! Hare Law", "start": "No. 5 Wether", "inn": "Dr. Hall"})


@pytest.mark.parametrize(
    ("kind", "rules"),
    [
        ("full", [MaxSentences(1)]),
        ("full", [MaxSentences(2), KeepSentences()]),
        *(
            (kind, rules)
            for kind in ("lrt", "copy")
            for rules in (
                [RequireFields(["name", "inn"]), MaxSentences(1)],
                [RequireFields(["name"]), MinSentences(2)],
                [RequireFields(["start", "inn"]), MaxSentences(2), KeepSentences()],
            )
        ),
    ],
)
def test_values_with_marks_cost_no_text(kind: str, rules: list[Rule]) -> None:
    generation = beginner(kind=kind).generate(MARKED, rules=rules)
    assert generation.text, generation.reason
    assert find_lie(generation) is None


def test_swap_keeps_the_rules_with_such_values() -> None:
    generation = Splicer.untrained(prepared()).generate(
        MARKED, rules=[RequireFields(["name"]), MaxSentences(2)]
    )
    assert "Hare Law" in generation.text
    assert find_lie(generation) is None


def test_look_alikes_without_a_forbidden_word_are_an_error(tmp_path: Path) -> None:
    tables = tmp_path / "tables.jsonl"
    tables.write_text('{"table": {"name": "Hare Law"}}\n', encoding="utf-8")
    folder = str(prepared().folder)
    run = CliRunner().invoke(app, ["generate", folder, str(tables), "--forbid-lookalikes"])
    assert str(run.exception) == "--forbid-lookalikes: there is no word to forbid. Name one with --forbid."
    found = CliRunner().invoke(
        app, ["generate", folder, str(tables), "--forbid", "walk", "--forbid-lookalikes", "--quiet"]
    )
    assert '{"rule": "forbid-words", "words": ["walk"], "lookalikes": true}' in found.stdout
