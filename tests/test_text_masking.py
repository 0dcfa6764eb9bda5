"""Masks, shapes, linearised tables, vocabulary."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from textsplice.corpus import Table
from textsplice.errors import StorageError
from textsplice.text import (
    BEGIN_ID,
    MASK,
    MASK_ID,
    UNKNOWN_ID,
    Vocabulary,
    linearize,
    mask,
    masked_fields,
    tokenize,
)
from textsplice.text.delexicalize import delexicalize
from textsplice.text.masking import is_said, mask_runs

PUB = Table.of({"name": "The Old Mill", "rating": "5 out of 5", "tags": ["quiet", "by the river"]})


def masked(text: str, table: Table = PUB) -> list[str]:
    return mask(tokenize(text), linearize(table).value_tokens())


def test_each_run_that_stands_in_a_value_is_masked_token_by_token() -> None:
    assert masked("At the old mill it is quiet") == ["At", MASK, MASK, MASK, "it", "is", MASK]


def test_many_marks_in_a_row_are_looked_at_once() -> None:
    """Each begins a run that is no word; followed from each of them, these took minutes."""
    begun = process_time()
    assert mask([","] * 400, [[","] * 2000, ["a"]]) == [","] * 400
    assert mask([*[","] * 400, "a"], [[*[","] * 2000, "a"]]) == [MASK] * 401
    assert process_time() - begun < 10


MARKS = st.lists(st.sampled_from(["mill", "Old", "the", ",", " ,", "-"]), max_size=8)


@given(MARKS, st.lists(MARKS, max_size=3))
def test_runs_are_the_longest_that_stand_in_a_value(words: list[str], values: list[list[str]]) -> None:
    folded, start = [word.casefold() for word in words], 0
    runs: list[tuple[int, int]] = []
    while start < len(words):
        lengths = [
            length
            for value in values
            for place in range(len(value))
            for length in range(1, min(len(value) - place, len(words) - start) + 1)
            if all(
                is_said(folded[start + n], [v.casefold() for v in value], place + n) for n in range(length)
            )
        ]
        length = max(lengths, default=0)
        counts = length > 1 or (length == 1 and words[start] != "the")
        if counts and any(word.isalnum() for word in words[start : start + length]):
            runs.append((start, start + length))
        start = runs[-1][1] if runs and runs[-1][1] > start else start + 1
    assert mask_runs(words, values) == runs


def test_a_part_of_a_value_is_masked_too() -> None:
    assert masked("The Mill rates 5") == ["The", MASK, "rates", MASK]


def test_a_single_stop_word_stays() -> None:
    assert masked("out of the way") == [MASK, MASK, "the", "way"]
    assert masked("one of them") == ["one", "of", "them"]


def test_a_run_never_joins_two_values() -> None:
    assert masked("quiet by the river") == [MASK] * 4
    assert masked("mill quiet") == [MASK, MASK]


@given(st.lists(st.sampled_from("the mill old 5 quiet - , of".split())))
def test_masking_keeps_length_and_touches_only_words_of_values(tokens: list[str]) -> None:
    values = linearize(PUB).value_tokens()
    result = mask(tokens, values)
    words = {word.casefold() for value in values for word in value}
    assert len(result) == len(tokens)
    for before, after in zip(tokens, result, strict=True):
        assert after == before or (after == MASK and before.casefold() in words)


def test_a_linearised_table_knows_which_tokens_may_be_copied() -> None:
    table = linearize(PUB)
    assert table.tokens == "name: The Old Mill rating: 5 out of 5 tags: quiet by the river".split()
    assert table.segment_numbers() == [-1, 0, 0, 0, -1, 1, 1, 1, 1, -1, 2, 3, 3, 3]
    assert [segment.field for segment in table.segments] == ["name", "rating", "tags", "tags"]


def test_empty_fields_leave_no_trace_in_the_linearised_table() -> None:
    assert linearize(Table.of({"name": "Mill", "area": []})).tokens == ["name:", "Mill"]


def test_the_shape_of_a_text_names_fields_instead_of_values() -> None:
    shape = delexicalize(tokenize("The Old Mill is Quiet, rated 5 out of 5."), linearize(PUB))
    assert shape == "name: is tags: , rated rating: ."


def test_each_masked_word_has_the_field_of_its_value() -> None:
    words = tokenize("At the old mill, by the river, it rates 5.")
    fields = dict.fromkeys("the old mill".split(), "name") | {"river": "tags", "5": "rating"}
    by_word = [fields.get(word) for word in words]
    by_word[5:7] = ["tags", "tags"]  # "by the river"
    assert masked_fields(words, linearize(PUB)) == by_word


def test_a_word_of_two_values_has_the_field_of_the_first() -> None:
    table = Table.of({"name": "Blue Spice", "near": "Blue Mill", "colour": "blue"})
    said = masked_fields(tokenize("blue spice, blue mill, blue"), linearize(table))
    assert said == ["name", "name", None, "near", "near", None, "name"]


@given(
    st.dictionaries(st.sampled_from("abc"), st.text("ab C#.'漢字ß-ẞİ", min_size=1), min_size=1),
    st.text("ab C#.'漢字ß-ẞİ"),
)
def test_a_word_has_a_field_if_and_only_if_it_is_masked(record: dict[str, str], text: str) -> None:
    own, words = linearize(Table.of(record)), tokenize(text)
    hidden = [token == MASK for token in mask(words, own.value_tokens())]
    assert [field is not None for field in masked_fields(words, own)] == hidden


def test_words_are_numbered_by_frequency_then_by_themselves() -> None:
    vocabulary = Vocabulary.build(Counter("b b a c c".split()), embed_min_count=2, extra=["z", "a"])
    assert vocabulary.words[5:] == ("b", "c", "a", "z")
    assert vocabulary.encode(["b", "z", "never"]) == [5, 8, UNKNOWN_ID]
    assert vocabulary.embedded == 7


def test_a_vocabulary_comes_back_from_its_file(tmp_path: Path) -> None:
    built = Vocabulary.build(Counter("\x1a £20 café".split()), embed_min_count=1)
    vocabulary = Vocabulary(built.words, built.embedded, (2, 3), (5,))
    vocabulary.save(tmp_path / "vocab.json")
    assert Vocabulary.load(tmp_path / "vocab.json") == vocabulary
    assert vocabulary.id("\x02") == BEGIN_ID
    assert vocabulary.id(MASK) == MASK_ID


def test_a_vocabulary_of_another_format_is_refused(tmp_path: Path) -> None:
    (tmp_path / "vocab.json").write_text('{"format": 99}')
    with pytest.raises(StorageError, match="is a vocabulary of format 99; this version reads 1"):
        Vocabulary.load(tmp_path / "vocab.json")


@pytest.mark.parametrize("name", ["D'Arcy", "O’Neill", "l'Arche", "Qur'an", "rock'n'roll"])
@pytest.mark.parametrize("ending", ["'s", "’s", "'ll", "'S", "'d"])
def test_a_name_with_an_apostrophe_is_masked_before_a_clitic(name: str, ending: str) -> None:
    assert mask(tokenize(f"It is {name}{ending} café."), [tokenize(name)])[2:4] == [MASK, ending]
