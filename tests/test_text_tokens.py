"""Tokens and back."""

from __future__ import annotations

import csv
import unicodedata
from itertools import accumulate
from pathlib import Path

import pytest
import regex
from hypothesis import example, given
from hypothesis import strategies as st

from textsplice.text import (
    BEGIN,
    END,
    MASK,
    Tokenizer,
    detokenize,
    detokenize_with_spans,
    mask,
    normalize,
    tokenize,
)


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("a family-friendly pub.", ["a", "family", "-", "friendly", "pub", "."]),
        ("The Mill - a pub", ["The", "Mill", " - ", "a", "pub"]),
        ("Zizzi's menu isn't bad", ["Zizzi", "'s", "menu", "isn't", "bad"]),
        ("from £20-25, or £10.50!", ["from", "£20", "-", "25", ",", "or", "£10.50", "!"]),
        ("10,000 people (1/5)", ["10,000", "people", "(", "1", "/", "5", ")"]),
        ('the "best" one', ["the", '"', "best", '"', "one"]),
        ("food , and", ["food", " ,", "and"]),
        ("Café Adriatic", ["Café", "Adriatic"]),
        ("हिन्दी में", ["हिन्दी", "में"]),
        ("東京 Tower", ["東", "京", "Tower"]),
        ("", []),
    ],
)
def test_text_is_split_where_values_can_be_matched_and_joins_back(text: str, tokens: list[str]) -> None:
    assert tokenize(text) == tokens
    assert detokenize(tokens) == text


def test_composed_and_decomposed_letters_are_the_same_token() -> None:
    assert tokenize(unicodedata.normalize("NFD", "Café")) == tokenize("Café") == ["Café"]


def test_corpora_that_come_tokenised_are_split_at_spaces_only() -> None:
    assert tokenize("born -lrb- 1954 -rrb- .", "spaces") == ["born", "-lrb-", "1954", "-rrb-", "."]
    assert detokenize(["born", ","], "spaces") == "born ,"


@given(st.text())
def test_no_text_can_forge_a_special_token(text: str) -> None:
    for tokenizer in ("words", "spaces"):
        assert not {BEGIN, END, MASK} & set("".join(tokenize(text, tokenizer)))


@given(st.text())
def test_no_character_is_lost_but_spaces(text: str) -> None:
    assert "".join(tokenize(text)).replace(" ", "") == normalize(text).replace(" ", "")


# All of Unicode, and more often than by chance what is hard in it.
HARD = (
    "\u200d\u200c\u00ad\ufe0f\ufe0e\u094d\u0915ب\u0301\u0323\u0e33\u17d2ខ\u1039မ👩🏽🇩1#\u20e3\U0001f3f4\U000e0067\U000e007f"
    "'’s.-!?£$5 a東ー。\u0600\u3099\u034f\uff9e\u1160\u3164\u2028\u00a0\u3000"
)
ANY_TEXT = st.text(st.characters(exclude_categories=("Cs",)) | st.sampled_from(HARD))


@given(ANY_TEXT, st.sampled_from(["words", "spaces"]))
def test_any_text_comes_back_exactly_as_it_was_written(text: str, tokenizer: Tokenizer) -> None:
    tokens = tokenize(text, tokenizer)
    assert detokenize(tokens, tokenizer) == tokens.text == normalize(text)
    assert [tokens.text[a:b] for a, b in tokens.spans] == [token.strip(" ") for token in tokens]


@given(ANY_TEXT)
def test_normalizing_twice_changes_nothing_more(text: str) -> None:
    once = normalize(text)
    assert normalize(once) == once
    assert unicodedata.is_normalized("NFC", once)


@given(st.text(st.characters(exclude_categories=("Cs",))))
def test_no_character_that_people_see_as_one_is_cut(text: str) -> None:
    tokens = tokenize(text)
    ends = set(accumulate(map(len, regex.findall(r"\X", tokens.text))))
    assert all(stop in ends or tokens.text[stop : stop + 1] == " " for _, stop in tokens.spans)


@given(st.text(st.characters(max_codepoint=255)) | st.text("a5'’s.£-!? ²_é"))
def test_the_faster_pattern_finds_the_same_tokens(text: str) -> None:
    # The other pattern is used because of the first word.
    tokens = tokenize(f"ω x {text}")
    assert tokens == ["ω", *tokenize(f"x {text}")]


@example("0ˇ")
@given(st.text(st.characters(max_codepoint=0x2FF)) | st.text("abS1é£$.,;:-()[] !?s%/'\"’“”–"))
def test_scripts_with_spaces_are_cut_as_version_1_cut_them(text: str) -> None:
    text = normalize(text)
    assert tokenize(text) == tokenize(text, "words/1")


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("患者被给予250.5毫克。", ["患", "者", "被", "给", "予", "250.5", "毫", "克", "。"]),
        ("ラーメン屋", ["ラ", "ー", "メ", "ン", "屋"]),
        ("パ\u3099", ["パ\u3099"]),
        ("สวัสดีครับ", ["ส", "วั", "ส", "ดี", "ค", "รั", "บ"]),
        ("ភាសាខ្មែរ", ["ភា", "សា", "ខ្មែ", "រ"]),
        ("ພາສາ", ["ພ", "າ", "ສ", "າ"]),
        ("မြန်မာ", ["မြ", "န်", "မာ"]),
        ("iPhone用", ["iPhone", "用"]),
        ("한국어 텍스트", ["한국어", "텍스트"]),
        ("مَرْحَبًا שָׁלוֹם", ["مَرْحَبًا", "שָׁלוֹם"]),
        ("👨‍👩‍👧🇩🇪🇫🇷👍🏽1️⃣❤️", ["👨‍👩‍👧", "🇩🇪", "🇫🇷", "👍🏽", "1️⃣", "❤️"]),
    ],
)
def test_scripts_without_spaces_are_cut_into_what_people_see_as_one_character(
    text: str, tokens: list[str]
) -> None:
    assert tokenize(text) == tokens


def test_a_character_of_a_script_without_spaces_is_masked_only_with_its_neighbors() -> None:
    value = tokenize("中国菜")
    assert mask(tokenize("这里有中国菜"), [value]) == ["这", "里", "有", MASK, MASK, MASK]
    assert mask(tokenize("中间"), [value]) == ["中", "间"]
    assert mask(tokenize("茶很好"), [tokenize("茶")]) == [MASK, "很", "好"]


INVISIBLE = [
    *"\u00ad\u034f\u061c\u115f\u1160\u17b4\u180b\u180e\u200b\u200c\u200d\u200e\u200f\u202a\u202e\u2060\u2061",
    *"\u2064\u2066\u2069\u206a\u3164\ufe00\ufe0e\ufe0f\ufeff\uffa0\ufff9\ufffb\U0001bca0\U0001d173\U000e0001",
    *"\U000e0061\U000e007f\U000e0100\U000e01ef",
]


@pytest.mark.parametrize("character", INVISIBLE, ids=lambda character: f"U+{ord(character):04X}")
@pytest.mark.parametrize("word", ["cheap", "дёшево", "便宜", "ถูก", "זול"])
def test_an_invisible_character_hides_no_word(word: str, character: str) -> None:
    for place in range(len(word) + 1):
        assert tokenize(word[:place] + character + word[place:]) == tokenize(word)
        assert tokenize(f"{word[:place]}{character * 3}{word[place:]}", "spaces") == [word]


@pytest.mark.parametrize(
    "text",
    [
        "می‌خواهم",
        "क्‍ष",
        "ශ්‍රී",
        "র‍্যা",
        "👨‍👩‍👧",
        "👩🏽‍🚀",
        "🏳️‍🌈",
        "🏴‍☠️",
        "❤️",
        "☎︎",
        "#️⃣",
        "🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f",
        "ᠮᠣᠩᠭᠣᠯ\u180b",
    ],
)
def test_an_invisible_character_that_changes_what_is_seen_is_kept(text: str) -> None:
    assert normalize(text) == text
    assert tokenize(text) == [text]


@given(st.text())
def test_spans_say_where_each_token_stands(text: str) -> None:
    tokens = tokenize(text)
    joined = detokenize_with_spans(tokens)
    assert [joined.text[a:b] for a, b in joined.spans] == [token.strip(" ") for token in tokens]


@pytest.mark.data
def test_all_references_of_e2e_come_back_as_written_and_are_cut_as_before(e2e_folder: Path) -> None:
    references: list[str] = []
    for name in ("trainset.csv", "devset.csv", "testset_w_refs.csv"):
        with (e2e_folder / name).open(encoding="utf-8", newline="") as file:
            references += [row["ref"] for row in csv.DictReader(file)]
    assert len(references) == 42_061 + 4_672 + 4_693
    for reference in references:
        tokens = tokenize(reference)
        assert detokenize(tokens) == " ".join(unicodedata.normalize("NFC", reference).split())
        assert tokens == tokenize(reference, "words/1")


@given(st.lists(st.sampled_from([*"ab.,-&'\"(#東。é@", " - ", "# ", "'s", " .", "www"]), max_size=8))
def test_the_text_of_tokens_is_the_same_with_and_without_spans(tokens: list[str]) -> None:
    assert detokenize(tokens) == detokenize_with_spans(tokens).text
