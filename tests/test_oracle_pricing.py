"""The fewest splices over a whole corpus: equal to what all rows give at once, whatever rows came first."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from oracle_references import least_splices, parse_cost, texts_of
from textsplice.errors import InputError
from textsplice.oracle import Numbering, derive, pricing, replay
from textsplice.oracle.numbering import in_order
from textsplice.oracle.pricing import LeastDerivation, Pricing
from textsplice.ragged import Ragged

MASK, NAME, IDS = 4, 11, 12
Row = tuple[int, ...]


def linearized(values: list[Row]) -> tuple[list[int], list[int]]:
    """Each value after a field's name."""
    tokens = [token for value in values for token in (NAME, *value)]
    segments = [n for number, value in enumerate(values) for n in (-1, *([number] * len(value)))]
    return tokens, segments


def priced(
    target: Row, corpus: list[Row], values: list[Row], rows: list[int], allow: list[bool] | None = None
) -> LeastDerivation:
    table = tuple(np.array(part, dtype=np.int32) for part in linearized(values))
    pricing = Pricing(Ragged.from_rows(corpus), MASK)
    allowed = None if allow is None else np.array(allow, dtype=np.bool_)
    return pricing.least(target, rows, table=(table[0], table[1]), allow=allowed)


def letters(row: Row) -> tuple[str, ...]:
    return tuple(map(str, row))


def check(target: Row, corpus: list[Row], values: list[Row], rows: list[int], allow: list[bool]) -> None:
    found = priced(target, corpus, values, rows, allow)
    offered = [row for row, is_allowed in zip(corpus, allow, strict=True) if is_allowed]
    # A mask is a token of its own each time, so it matches nothing.
    texts = [tuple(t if t != MASK else -1 for t in text) for text in (*values, *offered)]
    standing = {token for text in texts for token in text}
    foreign = [q for q, token in enumerate(target) if token not in standing]
    words = [(token,) for token in sorted({target[q] for q in foreign})]
    sources = tuple(map(letters, (*texts, *words)))
    assert found.cost == parse_cost(letters(target), sources)
    assert found.cost == len(derive(letters(target), sources))
    assert found.foreign == tuple(foreign)
    assert found.certificate.rows == len(offered)
    assert found.certificate.proved
    assert all(allow[row] for row in found.rows)
    used = in_order(
        linearized(values)[0], [corpus[row] for row in found.rows], [[word] for word in range(IDS)]
    )
    assert tuple(replay(found.splices, used)) == target
    numbering = Numbering(len(found.rows))
    assert sum(numbering.is_word(splice.neighbor) for splice in found.splices) == len(foreign)


@st.composite
def corpora(draw: st.DrawFn) -> tuple[Row, list[Row], list[Row], list[int], list[bool]]:
    kinds = draw(st.sampled_from([[5, 6], [5, 6, 7], [5, 6, 7, 8, 9]]))
    target = draw(st.lists(st.sampled_from([*kinds, 10]), max_size=9).map(tuple))
    row = st.lists(st.sampled_from([*kinds, MASK]), max_size=8).map(tuple)
    corpus = draw(st.lists(row, max_size=12))
    values = draw(st.lists(st.lists(st.sampled_from(kinds), min_size=1, max_size=3).map(tuple), max_size=2))
    rows = draw(st.lists(st.integers(0, len(corpus) - 1), max_size=3)) if corpus else []
    return (
        target,
        corpus,
        values,
        rows,
        draw(st.lists(st.sampled_from([True, True, False]), min_size=len(corpus), max_size=len(corpus))),
    )


Case = tuple[Row, list[Row], list[Row], list[int], list[bool]]


@given(corpora())
@settings(max_examples=600)
def test_the_certified_cost_is_that_of_all_rows(case: Case):
    check(*case)


@pytest.mark.slow
@given(corpora())
@settings(max_examples=10_000)
def test_the_certified_cost_is_that_of_all_rows_in_ten_thousand_corpora(case: Case):
    check(*case)


@st.composite
def long_cases(draw: st.DrawFn) -> Case:
    """Targets whose positions need two and three machine words."""
    seed = draw(st.integers(0, 10**6))
    random = np.random.default_rng(seed)
    kinds = draw(st.integers(2, 40))
    target = random.integers(5, 5 + kinds, draw(st.integers(40, 150)))
    corpus = [random.integers(5, 5 + kinds, random.integers(1, 60)) for _ in range(draw(st.integers(1, 20)))]
    for row in corpus[::2]:  # pieces of the target, with something between them
        cut = np.sort(random.integers(0, len(target), 4))
        row[:] = np.resize(
            np.concatenate((target[cut[0] : cut[1]], row[:2], target[cut[2] : cut[3]], row)), len(row)
        )
    rows = [tuple(row.tolist()) for row in corpus]
    return tuple(target.tolist()), rows, [], [], [True] * len(rows)


@given(long_cases())
@settings(max_examples=40)
def test_long_texts_are_priced_in_several_machine_words(case: Case):
    target, corpus, _, rows, _ = case
    standing = {token for row in corpus for token in row}
    words = [(token,) for token in sorted(set(target) - standing)]
    found = Pricing(Ragged.from_rows(corpus), -1).least(target, rows)
    assert found.cost == len(derive(target, [*corpus, *words]))


@given(long_cases(), st.integers(1, 7))
@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_the_fewest_are_the_same_however_many_rows_are_priced_before_solving_again(
    monkeypatch: pytest.MonkeyPatch, case: Case, slab: int
):
    target, corpus, _, rows, _ = case
    found = Pricing(Ragged.from_rows(corpus), -1).least(target, rows)
    monkeypatch.setattr(pricing, "SLAB", slab)
    again = Pricing(Ragged.from_rows(corpus), -1).least(target, rows)
    assert (again.cost, again.foreign) == (found.cost, found.foreign)
    assert again.certificate.proved


def test_no_sequence_of_splices_is_shorter():
    """Against a breadth-first search over splices; the letter 7 is foreign to every corpus."""
    texts = [tuple(5 if letter == "a" else 6 for letter in text) for text in texts_of("ab", 3, 1)]
    count = 0
    for left in texts:
        for right in texts[::3]:
            named = (letters(left), letters(right), ("7",))
            for target, cost in least_splices(named, 4).items():
                found = priced(tuple(map(int, target)), [left, right], [], [])
                assert found.cost == cost, (target, left, right)
                assert len(found.foreign) == target.count("7")
                count += 1
    assert count == 7_930


def test_a_gap_stands_at_its_exact_place_and_the_row_goes_on_behind_it():
    found = priced((2, 5, 9, 10, 6, 3), [(2, 5, 7, 6, 3)], [], [])
    assert found.foreign == (2, 3)
    assert found.splices == ((0, 0, 1, 0, 5), (2, 3, 2 + 9, 0, 1), (3, 3, 2 + 10, 0, 1))


def test_a_word_of_a_row_that_was_not_looked_at_is_not_foreign():
    found = priced((5, 6), [(5, 7), (7, 8), (6,)], [], [0])
    assert (found.foreign, found.rows) == ((), (0, 2))


def test_without_pricing_the_certificate_says_so():
    corpus = Ragged.from_rows([(5,), (6,), (5, 6)])
    fast = Pricing(corpus, MASK).least((5, 6), [0, 1], exact=False)
    assert fast.cost == 2
    assert (fast.certificate.looked_at, fast.certificate.proved) == (2, False)
    exact = Pricing(corpus, MASK).least((5, 6), [0, 1])
    assert (exact.cost, exact.rows, exact.certificate.proved) == (1, (2,), True)


def test_an_empty_corpus_leaves_everything_foreign():
    found = priced((5, 6, 5), [], [], [])
    assert (found.cost, found.foreign) == (3, (0, 1, 2))


def test_an_empty_target_costs_nothing():
    assert priced((), [(5,)], [], []).splices == ()


@pytest.mark.parametrize(
    ("target", "rows", "allow", "sentence"),
    [
        (
            (5,) * 1025,
            [],
            None,
            "a text of 1025 tokens is too long to trace; 1024 is the most. Split it into paragraphs.",
        ),
        ((5,), [3], None, "a row is not one of the 2 rows of the corpus."),
        (
            (5,),
            [],
            [True],
            "the allowed rows are bool[1], not bool[2]. Give one truth value for each row of the corpus.",
        ),
        ((-1,), [], None, "a token's id is not below 7."),
    ],
)
def test_what_cannot_be_priced_is_a_sentence(
    target: Row, rows: list[int], allow: list[bool] | None, sentence: str
):
    with pytest.raises(InputError) as error:
        priced(target, [(5,), (6,)], [], rows, allow)
    assert str(error.value) == sentence
