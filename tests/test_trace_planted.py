"""Words of any script that stand in no source are gaps, at their exact characters, and nothing else is."""

from __future__ import annotations

import random
from functools import cache

from hypothesis import assume, given
from hypothesis import strategies as st

import textsplice
from textsplice import Generation, Table
from textsplice.corpus.table import Example
from textsplice.text.tokens import tokenize
from textsplice.trace import SourceTexts, Tracer

SIGNS = (
    "👩‍👩‍👧",
    "🇨🇭",
    "🙂",
    "§",
    "7qzx",
    "zq'xw",
    "qx_zw",
    "€98765.43",
    "Ωmega",
    "Δ𝒜𝒞",
    "漢字",
    "שלום",
    "한글",
)


@cache
def tracer() -> Tracer:
    return Tracer(SourceTexts.of_examples(textsplice.read_corpus("bundled", "train"), "words"))


@cache
def covered() -> list[Example]:
    """References that others wrote about other records, all of whose words have a source."""
    found = textsplice.read_corpus("bundled", "dev")
    return [each for each in found if not tracer().trace(str(each.text), exact=False).gaps]


def with_plants(text: str, plants: dict[int, str]) -> tuple[str, list[tuple[int, int]]] | None:
    """The text with a plant before each of these tokens, and the plants' characters; None if they merge."""
    base = tokenize(text)
    expected: list[tuple[str, bool]] = []
    pieces: list[str] = []
    spans = base.spans
    for place, token in enumerate(base):
        start, stop = spans[place]
        space = " " if place and spans[place - 1][1] < start else ""
        if place in plants:
            expected += [(each, True) for each in tokenize(plants[place])]
            pieces += [" ", plants[place], " "]
            space = ""
        expected.append((token, False))
        pieces += [space, base.text[start:stop]]
    tokens = tokenize("".join(pieces))
    if list(tokens) != [token for token, _ in expected]:
        return None
    ranges: list[tuple[int, int]] = []
    for place, (start, stop) in enumerate(tokens.spans):
        if expected[place][1]:
            goes_on = place > 0 and expected[place - 1][1]
            ranges.append((ranges.pop()[0] if goes_on else start, stop))
    return tokens.text, ranges


def assert_exact(trace: Generation, ranges: list[tuple[int, int]]) -> None:
    assert [(gap.start, gap.stop) for gap in trace.gaps] == ranges
    for gap in trace.gaps:
        quoted = trace.text.encode("utf-16-le")[2 * gap.utf16[0] : 2 * gap.utf16[1]].decode("utf-16-le")
        assert quoted == trace.text[gap.start : gap.stop]
    inside = sum(start <= a < stop for start, stop in ranges for a, _ in tokenize(trace.text).spans)
    assert trace.traced is not None
    assert round(trace.traced.covered * len(trace.tokens)) == len(trace.tokens) - inside


def test_two_hundred_texts_with_planted_words() -> None:
    generator = random.Random(5)
    texts = 0
    while texts < 200:
        example = generator.choice(covered())
        table: Table | None = generator.choice([None, example.table])
        places = generator.sample(range(len(tokenize(str(example.text)))), k=generator.randint(1, 3))
        letters = "".join(generator.choices("qxzwj", k=6))
        made = with_plants(str(example.text), {at: generator.choice((*SIGNS, letters)) for at in places})
        if made is None or tracer().trace(str(example.text), table, exact=False).gaps:
            continue
        texts += 1
        assert_exact(tracer().trace(made[0], table, exact=texts % 10 == 0), made[1])


@given(st.text(min_size=1, max_size=12), st.integers(0, 10**6))
def test_whatever_is_planted_is_a_gap_as_far_as_no_source_has_it(plant: str, where: int) -> None:
    example = covered()[where % len(covered())]
    tokens = tokenize(plant)
    assume(tokens and not any(token in tracer().sources.numbers for token in tokens))
    made = with_plants(str(example.text), {where % len(tokenize(str(example.text))): tokens.text})
    assume(made is not None)
    assert made is not None
    assert_exact(tracer().trace(made[0], exact=False), made[1])
