from __future__ import annotations

import random
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

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

# How many sentences, and texts that have so many.
CASES: dict[str, list[tuple[int, str]]] = {
    "plain": [
        (0, ""),
        (0, "."),
        (0, "?!"),
        (0, '"."'),
        (1, "A walk"),
        (1, "A walk."),
        (2, "A walk. It is easy."),
        (2, "A walk . It is easy ."),
        (2, "A walk . It is easy"),
        (2, "a walk. it is easy."),
        (3, "Is it easy? Yes! It is."),
        (3, "is it easy ? yes ! it is ."),
        (1, "Is it easy?!"),
        (2, "Is it easy?! It is."),
        (2, "It has 40 seats. 20 of them are outside."),
        (2, "It opened in 1990. It closed in 2001."),
        (2, "Nice walk! 👍 It is easy."),
        (1, "Nice walk! 👍"),
        (2, "It is easy.. It is short."),
    ],
    "titles and names": [
        (1, "Dr. Hall"),
        (1, "Dr. Hall walks."),
        (2, "Dr. Hall walks. Mr. Mill does not."),
        (1, "Ask Mrs. A. B. Smith about it."),
        (1, "Prof. Dr. Meyer wrote it."),
        (1, "St. Ives is a town."),
        (2, "It is near St. Ives. The walk is easy."),
        (1, "The J. R. R. Tolkien walk."),
        (2, "It is in Mill St. It is easy."),
        (2, "It is in Hill Rd. The pub is cheap."),
        (1, "Mt. Everest is high."),
        (1, "Dr. He is a surgeon."),
        (1, "Gen. Lee and Lt. Col. Hill met Rev. Green."),
        (1, "Martin Luther King Jr. was there."),
        (2, "It is by Acme Inc. Dogs are welcome."),
        (1, "Acme Inc. has a pub."),
        (1, "Smith & Co. is a pub."),
        (2, "It is run by Smith & Co. It is cheap."),
        (1, "He has a Ph.D. in walking."),
        (1, "The U.S. Army camp."),
        (2, "It is in the U.S. It is easy."),
        (1, "The U.K. and the U.S. are far."),
        (2, "That is plan B. It works."),
        (1, "Ft. Worth is a town."),
    ],
    "abbreviations": [
        (1, "No. 5 Mill Lane"),
        (2, "Stay at No. 5 Mill Lane. It is cheap."),
        (2, "Stay at No. 5. It is cheap."),
        (2, "The answer is no. It is not."),
        (2, "the answer is no. it is not."),
        (1, "See p. 5 and pp. 7-9, Fig. 3 and Vol. 2."),
        (1, "Fruit, e.g. apples, is there."),
        (1, "Fruit, e.g. Italian apples, is there."),
        (1, "It is easy, i.e. It is flat."),
        (1, "Hares vs. Hounds is a pub."),
        (1, "Tea, cake, etc. are sold."),
        (2, "They sell tea, cake, etc. Dogs are welcome."),
        (2, "They sell tea, etc. It is cheap."),
        (1, "It is approx. 5 km away."),
        (1, "It was built c. 1900 by monks."),
        (1, "Tel. 555 or ext. 12."),
        (2, "It is about walks, cf. Green. It is short, etc."),
    ],
    "times, dates and units": [
        (1, "Open 5 p.m. to 9 p.m. daily."),
        (2, "Open until 5 p.m. Dogs are welcome."),
        (2, "Open until 5 p.m. It is cheap."),
        (2, "Open from 9 a.m. The pub is cheap."),
        (1, "Open until 5 P.M. on Fri. and Sat. only."),
        (2, "He sat. It was late."),
        (2, "he sat. it was late."),
        (2, "It lies in the sun. It is hot."),
        (1, "Open Sun. 9 to 5."),
        (1, "On Jan. 5 and Sept. 12 it is closed."),
        (2, "It closes in Dec. It opens in May."),
        (2, "It opens in May. It closes in June."),
        (1, "It is 5 ft. wide and 3 in. deep."),
        (2, "Come on in. It is warm."),
        (2, "come on in. it is warm."),
        (2, "It takes 2 hrs. It is easy."),
        (1, "It takes 2 hrs. or more."),
        (1, "It takes 2.5 hours."),
        (1, "It costs £3.50 or $4.25."),
        (2, "It costs £3.50. It is cheap."),
        (1, "Version 1.2.3 is out."),
        (1, "At 5.30 it closes."),
        (1, "About 300 B.C. in Rome."),
    ],
    "lists and addresses": [
        (2, "1. Walk on. 2. Turn left."),
        (1, "1. Walk on"),
        (1, "Visit www.mill-lane.com today."),
        (2, "Visit www.mill-lane.com. It is new."),
        (1, "Write to info@mill.org now."),
        (1, "Open index.html first."),
        (1, "Yahoo!, Google and others."),
    ],
    "ellipses": [
        (1, "Wait... what is it?"),
        (2, "Wait... It is easy."),
        (1, "Wait… what is it?"),
        (2, "Wait… It is easy."),
        (1, "A long . . . walk."),
        (1, "Wait..."),
        (1, "...and so on."),
    ],
    "quotes and brackets": [
        (1, 'He said "Go."'),
        (1, 'He said "Go!"'),
        (2, 'He said "Go." Then he left.'),
        (1, '"Go!" he said.'),
        (1, '"Go?" he said.'),
        (1, "“Go!” he said."),
        (2, "“Go!” He left."),
        (2, "“It is easy.” “It is not.”"),
        (2, "It is easy (and short.) It is cheap."),
        (1, "It is easy (really!) and short."),
        (2, "It is easy. (It is short.)"),
        (3, "It is easy. (It is short.) It is cheap."),
        (2, "«Ну!» Он ушёл."),
        (1, "«Стой!» – сказал он."),
        (1, "„Geh!“ sagte er."),
        (2, "It is ‘easy.’ It is short."),
        (2, "It is 'easy.' It is short."),
        (1, "It is easy [sic!]."),
    ],
    "Chinese and Japanese": [
        (1, "它很好。"),
        (2, "它很好。他来了。"),
        (3, "好吗？好！走吧。"),
        (2, "它很好｡他来了｡"),
        (1, "价格是3.5元。"),
        (2, "他说：“走。”他走了。"),
        (1, "患者被给予250毫克静脉注射头孢。"),
        (2, "安いです。近いです。"),
        (1, "「行け。」と彼は言った。"),
        (2, "「行け。」彼は言った。"),
        (1, "苹果、梨，都有。"),
        (2, "真的吗?!真的！好。".replace("真的！好。", " 真的！")),
    ],
    "Indic": [
        (1, "यह अच्छा है।"),
        (2, "यह अच्छा है। वह आया।"),
        (2, "यह अच्छा है॥ वह आया॥"),
        (1, "डॉ. शर्मा आए।"),
        (2, "এটা ভালো। সে এসেছে।"),
        (2, "இது நல்லது. அவர் வந்தார்."),
        (2, "ఇది మంచిది. అతను వచ్చాడు."),
        (2, "ਇਹ ਚੰਗਾ ਹੈ। ਉਹ ਆਇਆ।"),
    ],
    "Arabic, Urdu, Persian and Hebrew": [
        (1, "هل هو جيد؟"),
        (2, "هل هو جيد؟ نعم."),
        (2, "هو جيد. هو قريب."),
        (1, "د. محمد هنا."),
        (1, "جيد، وقريب؛ ورخيص."),
        (2, "یہ اچھا ہے۔ وہ آیا۔"),
        (1, "آیا خوب است؟"),
        (2, "זה טוב. זה קרוב."),
        (2, "האם זה טוב? כן."),
    ],
    "other scripts": [
        (2, "Սա լավ է։ Նա եկավ։"),
        (2, "ይህ ጥሩ ነው። እሱ መጣ።"),
        (2, "ဒါကောင်းတယ်။ သူလာတယ်။"),
        (2, "នេះល្អ។ គាត់មក។"),
        (2, "འདི་བཟང་། ཁོང་ཕེབས།"),
        (1, "นี่ดี"),
        (1, "เมื่อ พ.ศ. 2500 เขามา"),
        (1, "นี่ดี เขามา"),
        (2, "Είναι καλό; Ναι."),
        (2, "Είναι καλό. Ήρθε."),
        (1, "Είναι καλό· ήρθε."),
        (2, "ეს კარგია. ის მოვიდა."),
        (2, "이것은 좋다. 그가 왔다."),
        (1, "이것은 좋다"),
    ],
    "European languages": [
        (1, "Das ist z.B. gut."),
        (1, "Das ist z. B. gut, d.h. billig."),
        (2, "Am 3. Mai ist es zu. Danach nicht."),
        (1, "Dr. Müller und Hr. Meyer kommen."),
        (2, "Es kostet ca. 5 Euro. Es ist gut."),
        (1, "Obst, Brot usw. gibt es."),
        (1, "M. Dupont et Mme. Durand viennent."),
        (2, "C'est bon. Il est venu."),
        (2, "¿Es bueno? ¡Sí!"),
        (2, "¿Es bueno? Sí."),
        (1, "El Sr. López y la Sra. Gil."),
        (1, "Il Sig. Rossi e il Dott. Bianchi."),
        (1, "А. С. Пушкин жил здесь."),
        (2, "А. С. Пушкин жил здесь. Он писал."),
        (1, "Это дёшево, т.е. хорошо."),
        (1, "Он живёт на ул. Ленина."),
        (2, "To jest dobre. On przyszedł."),
        (2, "Bu iyi. O geldi."),
        (2, "Đây là tốt. Anh ấy đến."),
        (2, "Is dit goed? Ja, bijv. hier."),
    ],
}
ALL = [(count, text) for cases in CASES.values() for count, text in cases]


def test_there_are_cases_enough() -> None:
    assert len(ALL) >= 150


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
        allowed = MaxSentences(1).about(table).splices(canvas, 1, value)
        assert allowed is not None
        assert allowed[:, len(value) - 1].all()


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
