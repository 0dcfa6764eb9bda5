from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from textsplice import Table
from textsplice.errors import InputError
from textsplice.oracle.sources import OfferedNeighbor, Sources
from textsplice.policy.problem import Draft
from textsplice.search.rules import ForbidWords, rules_from_dicts
from textsplice.search.rules.lookalikes import LATIN
from textsplice.text.linearize import linearize
from textsplice.text.tokens import BEGIN, END, Tokenizer, tokenize

INVISIBLE = (
    "\u00ad\u034f\u061c\u115f\u180e\u200b\u200c\u200d\u200e"
    "\u202e\u2060\u2063\u2066\ufe0f\ufeff\ufff9\U000e0061"
)
HYPHENS = "-\u2010\u2011\u2012\u2013\u2014\u2015\u2212\ufe58\ufe63\uff0d\u2043\u058a\u30a0\u207b"


def found(forbidden: str, text: str, tokenizer: Tokenizer = "words", *, lookalikes: bool = False) -> bool:
    tokens = (BEGIN, *tokenize(text, tokenizer), END)
    rule = ForbidWords([forbidden], lookalikes=lookalikes)
    return not rule.admits(OfferedNeighbor("n", text, tokens))


THERE = [
    ("cheap", "_cheap_ food"),
    ("cheap", "cheap_flights"),
    ("cheap", "*cheap* food"),
    ("cheap", "**Cheap**!"),
    ("cheap", "~cheap~"),
    ("cheap", "<b>cheap</b>"),
    ("cheap", "#cheap"),
    ("cheap", "ＣＨＥＡＰ food"),
    ("cheap", "ｃｈｅａｐ"),
    ("cheap", "𝐜𝐡𝐞𝐚𝐩"),
    ("cheap", "𝓒𝓱𝓮𝓪𝓹"),
    ("cheap", "ⓒⓗⓔⓐⓟ"),
    ("cheap", "ᶜʰᵉᵃᵖ"),
    ("cheap", "c\u0336h\u0336e\u0336a\u0336p\u0336"),
    ("cheap", "c\u0332h\u0332e\u0332a\u0332p\u0332"),
    ("cheap", "cheap™ food"),
    ("cheap", "cheap² food"),
    ("cheap", "很cheap的"),
    ("cheap™", "cheap™ food"),
    ("office", "the oﬃce"),
    ("straße", "STRASSE"),
    ("strasse", "Straße"),
    ("STRAẞE", "straße"),
    ("istanbul", "İSTANBUL"),
    ("İstanbul", "istanbul"),
    ("ışık", "IŞIK"),
    ("ΣΟΦΟΣ", "σοφός".replace("ό", "ο")),
    ("дешево", "ДЕШЕВО!"),
    ("café", "CAFE\u0301"),
    ("O'Neill", "O\u02bcNeill"),
    ("O'Neill", "O`Neill"),
    ("O'Neill", "O´Neill"),
    ("O'Neill", "O＇Neill"),
    ("foo_bar", "foo_bar"),
    ("R&B", "some R&B music"),
    ("便宜", "很便宜的"),
    ("便宜", "便宜"),
    ("ถูก", "อาหารถูกมาก"),
    ("安い", "とても安いです"),
    ("of about", "of\u00a0about"),
    ("of about", "of\u3000about"),
    ("№ 5", "No 5"),
    ("don't", "don’t"),
    ("don’t", "DON'T"),
    ("fish and chips", "fish\u202fand\u2009chips"),
    ("fish and chips", "Fish\nand\tchips"),
    ("οδος", "ΟΔΟΣ"),
    ("weiß", "WEISS"),
    ("cheap", "\u202echeap\u202c"),
    ("cheap", "\u2066cheap\u2069"),
    ("cheap", "(cheap)"),
    ("cheap", "“cheap”"),
    ("cheap", "cheap-ish"),
    ("cheap", "cheap's"),
    ("cheap", "cheap/free"),
    ("cheap", "cheap👍"),
    ("便宜", "便\u200b宜"),
    ("AT&T", "ＡＴ＆Ｔ"),
    ("mill.com", "www.mill.com"),
    ("50%", "50 %"),
    ("5°C", "5 °C"),
]
NOT_THERE = [
    ("cheap", "cheaply"),
    ("cheap", "uncheap"),
    ("cheap", "cheap3"),
    ("cheap", "che ap"),
    ("cheap", "chéap"),
    ("cheap", "сһеар"),
    ("family-friendly", "family friendly"),
    ("family-friendly", "family-friendlyish"),
    ("3", "3.5 miles"),
    ("ill", "III"),
    ("café", "cafes"),
    ("可爱", "爱可"),
    ("cheap", "c-h-e-a-p"),
    ("cheap", "c h e a p"),
    ("cheap", "c.h.e.a.p"),
    ("cheap", "ch3ap"),
    ("chéap", "cheap"),
    ("50", "1,050"),
    ("fish and chips", "fish, and chips"),
]


@pytest.mark.parametrize("tokenizer", ["words", "spaces"])
@pytest.mark.parametrize(("forbidden", "text"), THERE)
def test_a_forbidden_word_is_found_in_any_spelling(forbidden: str, text: str, tokenizer: Tokenizer) -> None:
    assert found(forbidden, text, tokenizer)
    assert found(forbidden, f"It is {text} , really", tokenizer)
    assert found(forbidden, text, tokenizer, lookalikes=True)


@pytest.mark.parametrize("tokenizer", ["words", "spaces"])
@pytest.mark.parametrize(("forbidden", "text"), NOT_THERE)
def test_another_word_is_not_the_forbidden_one(forbidden: str, text: str, tokenizer: Tokenizer) -> None:
    assert not found(forbidden, text, tokenizer)


@pytest.mark.parametrize("tokenizer", ["words", "spaces"])
@pytest.mark.parametrize("hyphen", HYPHENS)
def test_every_hyphen_and_dash_is_one(hyphen: str, tokenizer: Tokenizer) -> None:
    assert found("family-friendly", f"A Family{hyphen}Friendly pub", tokenizer)
    assert found("family-friendly", f"A family {hyphen} friendly pub", tokenizer)
    assert found(f"family{hyphen}friendly", "A family-friendly pub", tokenizer)
    assert found("friendly", f"A family{hyphen}friendly pub", tokenizer)


@pytest.mark.parametrize("tokenizer", ["words", "spaces"])
@pytest.mark.parametrize("hidden", INVISIBLE)
def test_an_invisible_character_hides_no_word(hidden: str, tokenizer: Tokenizer) -> None:
    assert found("cheap", f"It is ch{hidden}eap.", tokenizer)
    assert found("cheap", f"It is c{hidden}h{hidden}{hidden}e{hidden}ap.", tokenizer)
    assert found("cheap", f"It is {hidden}cheap{hidden} .", tokenizer)
    assert found("it is", f"It{hidden} {hidden}is cheap", tokenizer)
    assert found("family-friendly", f"A family{hidden}-{hidden}friendly pub", tokenizer)
    assert found(f"ch{hidden}eap", "It is cheap.", tokenizer)


def test_an_invisible_character_inside_a_token_does_not_part_a_longer_word() -> None:
    for tokenizer in ("words", "spaces", "spaces/1"):
        assert not found("cheap", "cheap\u00adly", tokenizer)
    # Stores of version 0.1 have such tokens. Now they are taken out at reading, and a soft hyphen is none.
    assert found("family-friendly", "family\u00adfriendly", "spaces/1")
    assert not found("family-friendly", "family\u00adfriendly", "spaces")


@pytest.mark.parametrize("tokenizer", ["words", "spaces"])
@pytest.mark.parametrize(
    ("forbidden", "text"),
    [
        ("cheap", "сһеар"),
        ("cheap", "СНЕАР"),
        ("cheap", "cheар"),
        ("cheap", "chéáp"),
        ("cheap", "c\u0327he\u0301ap"),
        ("cheap", "ᴄʜᴇᴀᴘ"),
        ("cheap", "🅲🅷🅴🅰🅿"),
        ("pill", "pIll"),
        ("pill", "pi11"),
        ("Pill", "PӏӀΙ"),
        ("bio", "bι0"),
        ("οοο", "ooo"),
        ("дешево", "дeшeвo"),
        ("νερο", "ΝΕΡΟ"),
    ],
)
def test_look_alike_letters_are_found_if_that_is_wanted(
    forbidden: str, text: str, tokenizer: Tokenizer
) -> None:
    assert found(forbidden, text, tokenizer, lookalikes=True)
    assert found(forbidden, f"It is {text}!", tokenizer, lookalikes=True)


@pytest.mark.parametrize(
    ("forbidden", "text"), [("cheap", "cheaply"), ("10", "io"), ("cheap", "сһеарly"), ("cat", "cut")]
)
def test_look_alikes_are_not_found_inside_other_words(forbidden: str, text: str) -> None:
    assert not found(forbidden, text, lookalikes=True)


@pytest.mark.parametrize("other", [chr(code) for code in LATIN])
def test_each_look_alike_stands_for_its_letter(other: str) -> None:
    letter = LATIN[ord(other)].casefold()
    assert found(f"x{letter}x", f"x{other}x", "spaces", lookalikes=True)


@pytest.mark.parametrize(
    "pieces", [("family", "-", "friendly"), ("family-", "friendly"), ("family", " - ", "friendly")]
)
def test_a_phrase_is_found_across_seams(pieces: tuple[str, ...]) -> None:
    sources = Sources(linearize(Table.of({"name": "x"})), (), {})
    broken = ForbidWords(["family-friendly"]).violation(Draft(("A", *pieces, "pub"), (), sources, ()))
    assert broken == "the forbidden 'family-friendly' appears in the text"


def test_a_word_of_the_vocabulary_is_judged_as_a_text_is() -> None:
    rule = ForbidWords(["cheap", "of about"])
    words = ["cheap", "ＣＨＥＡＰ", "ch\u00adeap", "_cheap_", "cheaply", "of", "about"]
    assert [rule.permits(word, "vocabulary") for word in words] == [False] * 4 + [True] * 3


WORDS = st.from_regex(r"[a-z]{2,8}", fullmatch=True)


@settings(max_examples=300, deadline=None)
@given(WORDS, st.lists(st.sampled_from(INVISIBLE), max_size=4), st.data())
def test_a_word_is_found_whatever_is_done_to_it(word: str, hidden: list[str], data: st.DataObject) -> None:
    letters = [chr(0xFEE0 + ord(c)) if data.draw(st.booleans()) else c for c in word]
    letters = [c.upper() if data.draw(st.booleans()) else c for c in letters]
    for character in hidden:
        letters.insert(data.draw(st.integers(0, len(letters))), character)
    text = unicodedata.normalize(data.draw(st.sampled_from(["NFC", "NFD"])), "".join(letters))
    assert found(word, f"it was {text} then", data.draw(st.sampled_from(["words", "spaces"])))
    assert not found(word, f"zz{word} {word}zz")


@settings(max_examples=300, deadline=None)
@given(st.text(min_size=1, max_size=12), st.booleans())
def test_every_phrase_is_found_in_itself_or_refused(phrase: str, lookalikes: bool) -> None:
    try:
        rule = ForbidWords([phrase], lookalikes=lookalikes)
    except InputError:
        return
    for tokenizer in ("words", "spaces"):
        tokens = (BEGIN, *tokenize(phrase, tokenizer), END)
        assert not rule.admits(OfferedNeighbor("n", phrase, tokens))


@pytest.mark.parametrize("word", ["\u200b", "\u00ad \u2060", "\ufe0f"])
def test_a_word_that_nobody_can_see_is_refused(word: str) -> None:
    with pytest.raises(InputError) as caught:
        ForbidWords([word])
    assert str(caught.value) == f"{word!r} is no word to forbid. Give a word or a phrase."


def test_the_rule_is_written_as_before_unless_look_alikes_are_wanted() -> None:
    assert ForbidWords(["cheap"]).to_dict() == {"rule": "forbid-words", "words": ["cheap"]}
    wanted = {"rule": "forbid-words", "words": ["cheap"], "lookalikes": True}
    assert ForbidWords(["cheap"], lookalikes=True).to_dict() == wanted
    assert rules_from_dicts([wanted], "file") == (ForbidWords(["cheap"], lookalikes=True),)
    assert ForbidWords(["cheap"]) != ForbidWords(["cheap"], lookalikes=True)


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (
            {"rule": "forbid-words", "words": ["a"], "lookalikes": "yes"},
            "the rule 'forbid-words' needs 'lookalikes', true or false.",
        ),
        (
            {"rule": "forbid-words", "words": ["a"], "look-alikes": True},
            "the rule 'forbid-words' does not have the setting 'look-alikes'. Known: words, lookalikes.",
        ),
        (
            {"rule": "min-sentences", "count": 2, "max": 3},
            "the rule 'min-sentences' does not have the setting 'max'. Known: count.",
        ),
        (
            {"rule": "keep-sentences", "marks": []},
            "the rule 'keep-sentences' does not have the setting 'marks'. It has none.",
        ),
    ],
)
def test_a_setting_that_would_be_ignored_is_an_error(data: dict[str, object], said: str) -> None:
    with pytest.raises(InputError) as caught:
        rules_from_dicts([data], "file:1")
    assert str(caught.value) == f"file:1: {said}"
