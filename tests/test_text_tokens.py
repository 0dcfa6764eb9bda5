"""Tokens and back."""

from __future__ import annotations

import csv
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from textsplice.text import BEGIN, END, MASK, detokenize, detokenize_with_spans, normalize, tokenize


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


@given(st.text(alphabet="abS1é£$.,;:-()[] !?s%/'\""))
def test_tokenising_what_was_detokenised_changes_nothing_more(text: str) -> None:
    once = detokenize(tokenize(text))
    assert detokenize(tokenize(once)) == once


@given(st.text())
def test_spans_say_where_each_token_stands(text: str) -> None:
    tokens = tokenize(text)
    joined = detokenize_with_spans(tokens)
    assert [joined.text[a:b] for a, b in joined.spans] == [token.strip(" ") for token in tokens]


@pytest.mark.data
def test_nearly_all_training_references_of_e2e_come_back_as_written(e2e_folder: Path) -> None:
    with (e2e_folder / "trainset.csv").open(encoding="utf-8", newline="") as file:
        references = [row["ref"] for row in csv.DictReader(file)]
    assert len(references) == 42_061
    same = sum(detokenize(tokenize(reference)) == normalize(reference) for reference in references)
    assert same / len(references) > 0.995
