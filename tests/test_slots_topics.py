"""What a text is about: words that stand only where the record has a field."""

from __future__ import annotations

from random import Random

import pytest

from textsplice import Table
from textsplice.slots.topics import Topics

NO = ("It has no motor.", "There is no electric motor: you pedal yourself.", "You need no motor for it.")


def bicycles(count: int = 90) -> list[tuple[Table, str]]:
    """Bicycles of which two of three say whether they are electric, and every other one a colour."""
    found: list[tuple[Table, str]] = []
    for n in range(count):
        record = {"name": f"N{n}"} | ({"colour": ("red", "blue")[n % 4 // 2]} if n % 2 else {})
        text = f"The N{n} is a fine bicycle." + (f" Its paint is {record['colour']}." if n % 2 else "")
        if n % 3:
            electric = n % 5 < 3
            record["electric"] = "yes" if electric else "no"
            text += " A motor helps you uphill." if electric else f" {NO[n % 3]}"
        found.append((Table.of(record), text))
    return found


TOPICS = Topics.of(bicycles())


def test_what_a_record_does_not_have_is_told_in_whatever_words() -> None:
    bare, whole = Table.of({"name": "N7"}), Table.of({"name": "N7", "electric": "no", "colour": "red"})
    (told,) = TOPICS.added("The N7 runs by a motor.", bare)
    assert told == "it says 'motor', as only texts about electric do, which the record does not have"
    assert len(list(TOPICS.added("The N7 has a motor, and paint.", bare))) == 2
    assert not list(TOPICS.added("The N7 has a motor, and paint.", whole))
    assert not list(TOPICS.added("The N7 is a splendid thing.", bare))  # words that nobody has used
    assert not list(TOPICS.added("The Motor is a fine bicycle.", Table.of({"name": "Motor"})))  # its name


def test_a_field_that_nearly_all_texts_speak_of_is_missed() -> None:
    table = Table.of({"name": "N7", "electric": "no"})
    (told,) = TOPICS.left_out("The N7 is a fine bicycle.", table, ["electric"])
    assert told == "it does not speak of electric, as nearly all texts do"
    assert not list(TOPICS.left_out("The N7 needs no motor.", table, ["electric"]))
    assert not list(TOPICS.left_out("The N7 is a fine bicycle.", table, ["name"]))


@pytest.mark.parametrize("count", [0, 1, 8])
def test_too_few_texts_tell_nothing(count: int) -> None:
    assert Topics.of(bicycles(count)) == Topics()


def test_words_of_one_record_count_once() -> None:
    table = Table.of({"name": "N", "electric": "yes"})
    texts = [(table, "The N has a motor.")] * 50 + [(Table.of({"name": f"M{n}"}), "It.") for n in range(50)]
    assert not Topics.of(texts).fields


def test_where_it_does_not_hold_for_held_out_texts_nothing_is_told() -> None:
    found = bicycles(400)
    assert "motor" in Topics.of(found).fields
    for n, (table, text) in enumerate(found):
        # In one half a word is only about the field; in the other it stands elsewhere too.
        if n % 18 == 3 or ("electric" in dict(table.fields) and n % 2 == 0):
            found[n] = (table, f"{text} It is a novelty.")
    assert not Topics.of(found).fields


def players(count: int = 160) -> list[tuple[Table, str]]:
    """Players whose texts say what follows from a value: a country of a nationality, `she` of a woman."""
    found: list[tuple[Table, str]] = []
    draw = Random(1)
    for n in range(count):
        nation, country = draw.choice((("Dutch", "Holland"), ("Austrian", "Austria"), ("Swedish", "Sweden")))
        gender, who = draw.choice((("f", "She"), ("m", "He")))
        table = Table.of({"name": f"N{n}", "nationality": nation, "gender": gender})
        found.append((table, f"N{n} is {nation}. {who} played for {draw.choice((country, 'a club'))}."))
    return found


def test_words_tell_the_value_of_a_category() -> None:
    topics = Topics.of(players())
    table = Table.of({"name": "N7", "nationality": "Dutch", "gender": "f"})
    assert not list(topics.clashes("N7 is Dutch. She played for Holland.", table))
    assert list(topics.clashes("N7 is Dutch. He played for Austria.", table)) == [
        "it says 'austria', as texts do where nationality is Austrian, not Dutch",
        "it says 'he', as texts do where gender is m, not f",
    ]
    assert not list(topics.clashes("N7. He played for Austria.", Table.of({"name": "N7"})))
    assert not list(topics.clashes("N7 is Dutch. She played for the club.", table))  # others do, too


def test_what_texts_of_all_values_say_tells_none() -> None:
    mixed = [
        (table, text.replace("She", ("She", "He")[n % 2]).replace("He ", ("He ", "She ")[n % 2]))
        for n, (table, text) in enumerate(players())
    ]
    assert "she" not in Topics.of(mixed).tells
    assert not Topics.of(players(12)).tells
