from __future__ import annotations

import random
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sentence_cases import CASES
from textsplice import Table
from textsplice.oracle.sources import OfferedNeighbor, Sources
from textsplice.policy.problem import Draft
from textsplice.search.rules import KeepSentences, MaxSentences, MinSentences
from textsplice.search.sentences import (
    Marks,
    count_after_splices,
    count_sentences,
    latest_stop,
    sentence_spans,
)
from textsplice.text.linearize import linearize
from textsplice.text.tokens import BEGIN, END, MASK, Tokenizer, tokenize

ALL = [(count, text) for cases in CASES.values() for count, text in cases]


def test_there_are_cases_enough() -> None:
    assert len({text for _, text in ALL}) >= 250


@pytest.mark.parametrize("tokenizer", ["words", "spaces"])
@pytest.mark.parametrize(("count", "text"), ALL)
def test_sentences_are_counted_as_people_count_them(count: int, text: str, tokenizer: Tokenizer) -> None:
    tokens = tokenize(text, tokenizer)
    assert count_sentences(tokens) == count
    assert count_sentences((BEGIN, *tokens, END)) == count


def test_a_masked_value_is_a_word_and_may_begin_a_sentence() -> None:
    assert count_sentences((BEGIN, "It", "is", MASK, ".", MASK, MASK, "is", "near", ".", END)) == 2
    assert count_sentences((BEGIN, "Dr", ".", MASK, "walks", ".", END)) == 1


def test_what_closes_after_a_mark_belongs_to_the_sentence() -> None:
    assert sentence_spans(tokenize('He said "Go." "No." It is.')) == [(0, 6), (6, 10), (10, 13)]
    assert sentence_spans(tokenize("(It is.) It is.")) == [(0, 5), (5, 8)]


def marks(*values: str, tokenizer: Tokenizer = "words") -> Marks:
    return Marks.of(linearize(Table.of({"values": list(values)}), tokenizer))


@pytest.mark.parametrize("tokenizer", ["words", "spaces"])
@pytest.mark.parametrize(
    ("count", "value", "text"),
    [
        (1, "Wow! Café", "Wow! Café is cheap."),
        (2, "Wow! Café", "Visit Wow! Café. It is cheap."),
        (1, "Yahoo!", "Yahoo! is cheap."),
        (2, "Yahoo!", "It is near Yahoo! It is cheap."),
        (1, "Who? What? Where?", "The Who? What? Where? is a pub."),
        (1, "Mill. Lane. Pub", "Mill. Lane. Pub is cheap."),
        (1, "Acme Inc.", "Acme Inc. is cheap."),
        (1, "A walk. It is easy", "It says: A walk. It is easy"),
        (1, "Wow! Café Nord", "We like Wow! Café"),
        (1, "好。店", "好。店 很便宜。"),
    ],
)
def test_a_value_is_one_piece_whatever_marks_it_has(
    count: int, value: str, text: str, tokenizer: Tokenizer
) -> None:
    tokens = tokenize(text, tokenizer)
    known = marks(value, tokenizer=tokenizer)
    assert count_sentences(tokens, known) == count
    sources = Sources(linearize(Table.of({"name": value}), tokenizer), (), {})
    draft = Draft(tokens, (), sources, ())
    assert MaxSentences(count).violation(draft) is None
    assert MinSentences(count).violation(draft) is None
    assert MinSentences(count + 1).violation(draft) is not None


def test_the_rules_say_how_many_sentences_there_are() -> None:
    draft = Draft(tokenize("Dr. Hall walks."), (), Sources(linearize(Table.of({"a": "b"})), (), {}), ())
    assert MinSentences(2).violation(draft) == "1 sentence where at least 2 are wanted"
    spaced = draft._replace(tokens=tokenize("A walk . It is easy ."))
    assert MaxSentences(1).violation(spaced) == "2 sentences where at most 1 are wanted"


def test_a_neighbor_is_admitted_by_its_sentences() -> None:
    tokens = (BEGIN, *tokenize("Dr. Hall lives at No. 5."), END)
    neighbor = OfferedNeighbor("n", "Dr. Hall lives at No. 5.", tokens)
    assert MaxSentences(1).admits(neighbor)
    assert not MinSentences(2).admits(neighbor)


def test_a_value_with_marks_may_be_placed_on_a_canvas_that_has_all_its_sentences() -> None:
    canvas = (BEGIN, *tokenize("It is a pub."), END)
    table = linearize(Table.of({"name": "Wow! Café", "host": "Dr. Hall"}))
    for value in table.value_tokens():
        allowed = MaxSentences(1).about(Sources(table, (), {})).splices(canvas, 1, value)
        assert allowed is not None
        assert allowed[:, len(value) - 1].all()


@pytest.mark.parametrize(
    "text",
    [
        "See http://a.b/c?d=e&f=g for more.",
        "Write to mill.xyz or to hall.walks today.",
        "It runs on node.js and is at v.2 now.",
        "Open notes.md!final here.",
    ],
)
def test_a_mark_inside_a_word_of_a_neighbor_ends_no_sentence(text: str) -> None:
    tokens = (BEGIN, *tokenize(text), END)
    neighbor = OfferedNeighbor("n", text, tokens)
    sources = Sources(linearize(Table.of({"a": "b"})), (neighbor,), {})
    assert MaxSentences(1).admits(neighbor)
    assert not MinSentences(2).admits(neighbor)
    assert MaxSentences(1).violation(Draft(tokens[1:-1], (), sources, ())) is None
    allowed = MaxSentences(1).about(sources).splices((BEGIN, END), 1, tokens[1:-1])
    assert allowed is not None
    assert allowed[:, -1].all()


def test_a_space_that_was_forgotten_parts_sentences() -> None:
    text = "It is a walk.It is easy."
    neighbor = OfferedNeighbor("n", text, (BEGIN, *tokenize(text), END))
    assert MinSentences(2).admits(neighbor)
    assert not MaxSentences(1).admits(neighbor)


def test_no_whole_sentence_is_replaced_but_a_part_of_one_with_an_abbreviation_is() -> None:
    canvas = (BEGIN, *tokenize("Dr. Hall walks. It is."), END)
    assert latest_stop(canvas, 1) == 5
    allowed = KeepSentences().splices(canvas, 1, ("x",))
    assert allowed is not None
    assert allowed[:, 0].tolist() == [True] * 5 + [False] * (len(canvas) - 5)


SIMPLE = [*'. . ! ? ... 。 , " It Hall walk easy 他 12 mill Dr No etc'.split(), MASK]
WORDS = [
    *SIMPLE,
    *". … ; ( ) “ ” - 👍 e.g 5 1 よ と com A B p m ft Inc Mai καλό walk. Dr.".split(),
    " .",
    "- ",
]
TEXTS = st.lists(st.sampled_from(WORDS), max_size=14)


@settings(max_examples=400, deadline=None)
@given(TEXTS)
def test_spans_are_in_order_and_hold_every_word(tokens: list[str]) -> None:
    spans = sentence_spans((BEGIN, *tokens, END))
    inside = [place for start, stop in spans for place in range(start, stop)]
    assert inside == sorted(set(inside))
    assert all(start < stop for start, stop in spans)
    words = {place for place, token in enumerate(tokens, 1) if any(c.isalnum() for c in token)}
    assert words <= set(inside)


@settings(max_examples=400, deadline=None)
@given(TEXTS, st.sampled_from([(), ("Dr . Hall",), ("walk ! It", "easy .")]))
def test_a_text_never_loses_a_sentence_by_going_on(tokens: list[str], values: Sequence[str]) -> None:
    known = marks(*values)
    counts = [count_sentences(tokens[:size], known) for size in range(len(tokens) + 1)]
    assert counts == sorted(counts)


def ended(tokens: Sequence[str], known: Marks) -> int:
    """The sentences of a canvas that have ended, marks without a word included."""
    return count_after_splices(tokens, len(tokens), ("x",), known)[0]


@settings(max_examples=400, deadline=None)
@given(
    st.lists(st.sampled_from(WORDS), max_size=10),
    st.lists(st.sampled_from(WORDS), min_size=1, max_size=6),
    st.randoms(use_true_random=False),
    st.booleans(),
    st.sampled_from(
        [(), ("Dr . Hall",), ("walk ! It", "easy ."), ("A . B", "12 . 5 .", "よ。と", "walk. It")]
    ),
)
def test_all_splices_are_counted_as_each_canvas_is(
    inner: list[str], rest: list[str], rng: random.Random, closed: bool, values: Sequence[str]
) -> None:
    known = marks(*values)
    canvas = [BEGIN, *inner, *([END] if closed else [])]
    start = rng.randint(1, len(canvas))
    before, after = count_after_splices(canvas, start, rest, known)
    assert before == ended(canvas, known)
    for stop in range(start, len(canvas) + 1):
        for size in range(1, len(rest) + 1):
            made = [*canvas[:start], *rest[:size], *canvas[stop:]]
            assert after[stop - start, size - 1] == ended(made, known), made
