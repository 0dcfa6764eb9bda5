"""Values of other records are found without a lexicon; plain words and a record's own values are not."""

from __future__ import annotations

import random
from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

import textsplice
from textsplice import Table
from textsplice.corpus.table import Example
from textsplice.slots.lexicon import Lexicon
from textsplice.slots.wordings import placed_words, words_of
from textsplice.text.tokens import tokenize
from textsplice.text.yes_no import is_yes_or_no
from textsplice.trace import Gate, KnownValues, SourceTexts, Tracer
from textsplice.trace.reading import Draft

FOODS = ("Thai", "Greek", "Fast food", "Café fare", "The Roast")
RATINGS = ("high", "low", "1 out of 5", "5 out of 5")


def restaurants() -> list[Example]:
    """Forty records; prices are called high and low whatever the rating is."""
    rows: list[Example] = []
    for number in range(40):
        food, rating = FOODS[number % 5], RATINGS[number % 4]
        date = f"4 May 19{number + 10}"
        table = Table.of({"name": f"Inn {number}", "food": food, "rating": rating, "date": date})
        price = ("high", "low")[number % 3 == 0]
        text = f"Inn {number} has {food}, a {rating} rating and {price} prices. It opened on {date}."
        rows.append(Example(f"r{number}", table, text))
    return rows


@cache
def known() -> KnownValues:
    return KnownValues.of_examples(restaurants(), "words")


def foreign(text: str, **record: object) -> list[tuple[str, str]]:
    tokens = tokenize(text)
    found = known().foreign(tokens, Table.of(record))
    return [(" ".join(tokens[each.start : each.stop]), each.field) for each in found]


RECORD = {"name": "Inn 3", "food": "Greek", "rating": "5 out of 5", "date": "4 May 1913"}


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Inn 3 has Greek, a 5 out of 5 rating and high prices.", []),
        ("Inn 3 has Thai, a 5 out of 5 rating and high prices.", [("Thai", "food")]),
        ("Inn 3 has GREEK and THAI, a 5 out of 5 rating.", [("THAI", "food")]),
        ("Inn 3 has fast food, a 5 out of 5 rating.", [("fast food", "food")]),
        ("Inn 3 has Fast-food, a 5 out of 5 rating.", [("Fast - food", "food")]),
        ("Inn 3 has fast, foods, a 5 out of 5 rating.", [("fast , foods", "food")]),
        ("Inn 3 has Greek, a 1-out-of-5 rating.", [("1 - out - of - 5", "rating")]),
        ("Inn 3 has Greek, a 5-out-of-5 rating.", []),
        ("Inn 3 has Cafe fare, a 5 out of 5 rating.", [("Cafe fare", "food")]),  # without its accent
        ("Inn 3 has Roast, a 5 out of 5 rating.", [("Roast", "food")]),  # without its article
        # All its words are words of the record's own value: `5` and `out of 5`.
        ("Inn 3 has Greek, a 1 out of 5 rating.", [("1 out of 5", "rating")]),
        # Beside the record's own rating, approved texts call prices high; in its place they can't.
        ("Inn 3 has Greek, a high rating.", [("high", "rating")]),
        ("Inn 4 has Greek, a 5 out of 5 rating.", [("Inn 4", "name")]),
        ("Inn 3 opened on 4 May 1913. It has Greek.", []),  # part of a value is not another one
    ],
)
def test_a_value_of_another_record_is_found_with_its_field(text: str, found: list[tuple[str, str]]) -> None:
    assert foreign(text, **RECORD) == found


def test_a_value_for_which_the_record_has_no_field_is_foreign_unless_texts_use_it_like_that() -> None:
    assert foreign("Inn 3 has Thai.", name="Inn 3") == [("Thai", "food")]
    rows = [Example(f"p{n}", Table.of({"name": f"Pub {n}"}), f"Pub {n} has low prices.") for n in range(5)]
    more = KnownValues.of_examples([*restaurants(), *rows], "words")
    table = Table.of({"name": "Pub 9"})
    assert not list(more.foreign(tokenize("Pub 9 has low prices."), table))
    assert list(more.foreign(tokenize("Pub 9 has a low rating."), table))


def test_part_of_a_value_of_another_field_is_no_excuse_where_the_field_has_a_value() -> None:
    record = {**RECORD, "name": "The Thai Kettle"}
    assert foreign("The Thai Kettle has Thai.", **record) == [("Thai", "food")]
    assert foreign("The Thai Kettle has Greek.", **record) == []


def test_yes_no_and_stop_words_are_no_values() -> None:
    rows = [Example("a", Table.of({"dogs": "no", "of": "the"}), "No dogs.")]
    values = KnownValues.of_examples(rows, "words")
    assert not list(values.foreign(tokenize("It has no parking and the dogs."), Table.of({"name": "x"})))


@given(
    st.integers(0, 39), st.sampled_from(FOODS), st.sampled_from(["is", "and", ",", "serves", "“", "(", ""])
)
def test_no_wrong_food_in_place_of_the_right_one_passes(number: int, food: str, before: str) -> None:
    example = restaurants()[number]
    right = example.table["food"][0]
    text = str(example.text).replace(right, f"{before} {food}")
    found = [each.field for each in known().foreign(tokenize(text), example.table)]
    assert ("food" in found) == (food != right)


@given(st.text())
def test_placed_words_are_the_words(text: str) -> None:
    assert [word for word, _, _ in placed_words(text)] == words_of(text)


@given(st.text("aZéÅß漢🙂ς '’.,£7-"))
def test_placed_words_have_their_characters(text: str) -> None:
    for word, start, stop in placed_words(text):
        assert words_of(text[start:stop]) == [word]


def judged(text: str, table: Table, lexicon: Lexicon | None = None) -> list[dict[str, object]]:
    examples = restaurants()
    tracer = Tracer(SourceTexts.of_examples(examples, "words"))
    verdict = Gate(tracer, lexicon=lexicon, values=known()).judge(Draft("a", text, table, "here"))
    return [reason.to_dict() for reason in verdict.reasons if reason.why in ("value", "slot")]


def test_reasons_say_what_where_and_what_the_record_has() -> None:
    table = Table.of({"name": "Inn 3", "food": "Greek", "rating": "high"})
    assert judged("Inn 3 has 🙂 Thai, a high rating.", table) == [
        {
            "why": "value",
            "what": "'Thai' is a value of food that the record does not have; it has 'Greek'",
            "start": 12,
            "stop": 16,
            "utf16": [13, 17],
        }
    ]


def test_what_the_lexicon_knows_the_lexicon_decides_and_slots_have_places() -> None:
    table = Table.of({"name": "Inn 3", "food": "Greek", "rating": "5 out of 5"})
    lexicon = Lexicon.of_tables([Table.of({"food": ["Greek", "Thai"], "rating": RATINGS})])
    text = "Inn 3 has Thai, a 5 out of 5 rating. A rating, café, of 5 out of 5."
    assert judged(text, table, lexicon) == [
        {
            "why": "slot",
            "what": "food (Greek) is said to be Thai",
            "start": 10,
            "stop": 14,
            "utf16": [10, 14],
        },
        {
            "why": "slot",
            "what": "rating (5 out of 5) is said twice",
            "start": 56,
            "stop": 66,
            "utf16": [56, 66],
        },
    ]
    # A value that the lexicon does not know is still one of another record.
    assert [
        each["why"] for each in judged("Inn 3 has Greek, Fast food, a 5 out of 5 rating.", table, lexicon)
    ] == ["value"]


def test_no_draft_with_one_wrong_value_passes_without_a_lexicon_and_every_honest_one_does() -> None:
    train = list(textsplice.read_corpus("bundled", "train"))
    values = KnownValues.of_examples(train, "words")
    others: dict[str, set[str]] = {}
    for example in train:
        for name, given_values in example.table:
            others.setdefault(name, set()).update(given_values)
    generator = random.Random(4)
    planted = 0
    for example in textsplice.read_corpus("bundled", "dev"):
        text, table = str(example.text), example.table
        assert not list(values.foreign(tokenize(text), table)), text
        own = {value for _, each in table for value in each}
        said = [(name, v) for name, each in table for v in each if f" {v} " in text and not is_yes_or_no(v)]
        for name, value in said:
            wrong = generator.choice(sorted(others[name] - own))
            false = tokenize(text.replace(f" {value} ", f" {wrong} "))
            if false.text.count(value) == 0:
                planted += 1
                assert list(values.foreign(false, table)), (wrong, text)
    assert planted > 100


@pytest.mark.data
def test_no_wrong_value_of_e2e_passes_without_a_lexicon(e2e_folder: object) -> None:
    train = list(textsplice.read_corpus(f"e2e:{e2e_folder}", "train"))
    values = KnownValues.of_examples(train, "words")
    foods = sorted(
        {value for example in train for name, each in example.table if name == "food" for value in each}
    )
    planted = 0
    for example in textsplice.read_corpus(f"e2e:{e2e_folder}", "dev"):
        right = next((each[0] for name, each in example.table if name == "food" and each), None)
        if right and f" {right} " in str(example.text) and planted < 300:
            for wrong in foods:
                text = str(example.text).replace(right, wrong)
                planted += wrong != right
                fields = {each.field for each in values.foreign(tokenize(text), example.table)}
                assert wrong == right or "food" in fields, text
    assert planted >= 300
