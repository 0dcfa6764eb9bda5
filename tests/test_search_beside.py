"""A value and the word beside it: doubled words and articles, and `a` for `an`."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from textsplice import Table
from textsplice.search.beside import ENOUGH, Beside

WALK = Table.of({"name": "Mill Round"})
WALKS = ["A moderate walk, an easy walk, a hilly one."] * ENOUGH + ["Take an hour, a house."]
USUAL = Beside.of((WALK, text) for text in WALKS)


def misfits(text: str, *values: str, beside: Beside = USUAL) -> list[str]:
    return list(beside.misfits(text, Table.of({"sights": list(values)})))


def flats(texts: dict[str, str], each: int = 12) -> Beside:
    """Texts of flats with one to four rooms, by their number; `N` for any but one."""
    tables = [Table.of({"rooms": str(number), "floor": "3"}) for number in (1, 2, 3, 4) for _ in range(each)]
    numbers = [dict(table.fields)["rooms"][0] for table in tables]
    return Beside.of(
        (table, texts["1" if n == "1" else "N"].replace("N", n))
        for table, n in zip(tables, numbers, strict=True)
    )


ENGLISH = flats({"1": "There is 1 room on floor 3.", "N": "There are N rooms on floor 3."})
GERMAN = flats({"1": "Das Haus hat 1 Zimmer und 1 Bad.", "N": "Das Haus hat N Zimmer und 1 Bad."})
SPANISH = flats({"1": "Tiene 1 habitación.", "N": "Tiene N habitaciones."})
IN_WORDS = flats({"1": "It has a single room.", "N": "It has N rooms."})


@pytest.mark.parametrize(
    ("beside", "rooms", "text", "pairs"),
    [
        (ENGLISH, "1", "There is 1 rooms on floor 3.", ["1 rooms"]),
        (ENGLISH, "1", "There are 1 rooms on floor 3.", ["are 1", "1 rooms"]),
        (ENGLISH, "2", "There are 2 room on floor 3.", ["2 room"]),
        (ENGLISH, "7", "There is 7 rooms on floor 3.", ["is 7"]),
        (ENGLISH, "1", "There is 1 room on floor 3.", []),
        (ENGLISH, "7", "There are 7 rooms on floor 3.", []),
        (ENGLISH, "1", "There is 1 bright room on floor 3.", []),  # nobody has said "bright" of any number
        (ENGLISH, "3", "There are 3 rooms on floor 3.", []),  # "floor 3" is the floor's
        (GERMAN, "1", "Das Haus hat 1 Zimmer und 1 Bad.", []),
        (GERMAN, "5", "Das Haus hat 5 Zimmer und 1 Bad.", []),
        (SPANISH, "1", "Tiene 1 habitaciones.", ["1 habitaciones"]),
        (SPANISH, "2", "Tiene 2 habitación.", ["2 habitación"]),
        (IN_WORDS, "1", "It has 1 rooms.", ["has 1", "1 rooms"]),  # nobody says it in digits
        (flats({"1": "It has 1 rooms.", "N": "It has N rooms."}), "1", "It has 1 rooms.", []),  # all do
        (
            flats({"1": "It has 1 room.", "N": "It has N rooms."}, each=2),
            "1",
            "It has 1 rooms.",
            [],
        ),  # too few
    ],
)
def test_a_number_goes_with_the_words_beside_it_as_the_texts_have_it(
    beside: Beside, rooms: str, text: str, pairs: list[str]
) -> None:
    table = Table.of({"rooms": rooms, "floor": "3"})
    assert list(beside.misfits(text, table)) == [f"it says {p!r}, which hardly reads well" for p in pairs]


def test_numbers_that_are_exchanged_are_told() -> None:
    said = [(str(n % 5), str(n % 3 + 6)) for n in range(60)]
    beside = Beside.of(
        (
            Table.of({"parts": parts, "gallery": gallery}),
            f"It has {parts} parts. See it in Gallery {gallery}.",
        )
        for parts, gallery in said
    )
    table = Table.of({"parts": "4", "gallery": "7"})
    assert not list(beside.misfits("It has 4 parts. See it in Gallery 7.", table))
    told = list(beside.misfits("It has 7 parts. See it in Gallery 4.", table))
    assert "it says '7 parts', as texts say of parts, which is 4" in told
    assert "it says 'Gallery 4', as texts say of gallery, which is 7" in told
    again = list(beside.misfits("It has 7 parts. See it in Gallery 4. It has 7 parts.", table))
    assert again == told  # each once
    both = Table.of({"parts": "4", "gallery": "4"})
    assert not list(beside.misfits("It has 4 parts. See it in Gallery 4.", both))


def test_none_is_said_in_other_words_where_people_do() -> None:
    said = [("0", "No rooms."), ("1", "Has 1 room."), ("2", "Has 2 rooms."), ("3", "Has 3 rooms.")] * 12
    beside = Beside.of((Table.of({"rooms": number}), text) for number, text in said)
    assert len(list(beside.misfits("Has 0 rooms.", Table.of({"rooms": "0"})))) == 2
    assert not list(beside.misfits("Has 2 rooms.", Table.of({"rooms": "2"})))


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


def test_a_text_begins_with_a_capital_letter_if_nearly_all_do() -> None:
    (told,) = misfits("globe of oak.", "globe")
    assert told == "it begins with a small letter, as hardly any text does: 'globe'"
    small = Beside.of((WALK, text) for text in ["iPhones are here.", "Walks are there."] * ENOUGH)
    assert not misfits("globe of oak.", "globe", beside=small)
    assert not misfits("3 globes of oak.", "3")
    for others in ("京都で作られました。", "3 globes of oak."):  # which begin with neither
        assert not misfits("globe of oak.", "globe", beside=Beside.of([(WALK, others)] * 50))


@given(st.text(max_size=30), st.text(max_size=10))
def test_any_text_can_be_read(text: str, value: str) -> None:
    assert all(each.startswith("it says ") for each in misfits(text, value, beside=Beside()))


def wines(count: int = 240) -> list[tuple[Table, str]]:
    """Wines, of which only sweet ones are called lusciously so, with cells in small letters."""
    found: list[tuple[Table, str]] = []
    for n in range(count):
        style, by = ("dry", "sweet")[n % 2], ("oak", "steel")[n % 3 == 0]
        said = ("lusciously sweet" if n % 4 == 1 else "sweet") if style == "sweet" else "dry"
        table = Table.of({"style": style, "aged in": by})
        found.append((table, f"This wine is {said}. {by.capitalize()} is where it lay."))
    return found


def test_a_word_that_only_goes_with_another_category_is_told() -> None:
    beside = Beside.of(wines())
    dry, sweet = (Table.of({"style": style, "aged in": "oak"}) for style in ("dry", "sweet"))
    (told,) = beside.misfits("This wine is lusciously dry. Oak is where it lay.", dry)
    assert told == "it says 'lusciously dry', which hardly reads well"
    assert not list(beside.misfits("This wine is lusciously sweet. Oak is where it lay.", sweet))
    assert not list(beside.misfits("This wine is quite dry. Oak is where it lay.", dry))  # a word of none
    few = Beside.of(wines(12))
    assert not list(few.misfits("This wine is lusciously dry. Oak is where it lay.", dry))


def test_a_sentence_begins_with_a_capital_letter_if_nearly_all_do_but_for_names() -> None:
    table = Table.of({"style": "dry", "aged in": "oak"})
    (told,) = Beside.of(wines()).misfits("This wine is dry. oak is where it lay.", table)
    assert told == "a sentence begins with a small letter: 'oak'"
    known = Beside.of([*wines(), (table, "It is dry. id East made it.")])
    assert not list(known.misfits("It is dry. id East made it.", table))
    small = Beside.of((table, text.replace(". Oak", ". oak")) for table, text in wines())
    assert not list(small.misfits("This wine is dry. steel is where it lay.", table))
