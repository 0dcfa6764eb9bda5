"""House style: what counts as a slip, and that it decides between texts without making any table abstain."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import textsplice
from textsplice import Table
from textsplice.config import SearchConfig
from textsplice.errors import ConfigError
from textsplice.oracle.sources import Sources
from textsplice.oracle.splice import Origin
from textsplice.policy.problem import Draft
from textsplice.search.style import Style
from textsplice.splicer import Splicer
from textsplice.text.linearize import linearize
from textsplice.text.tokens import tokenize

OLD = Path(__file__).parent / "data" / "version-0.1"
TABLE = linearize(Table.of({"name": "Call It Home"}))
WORDS = ("in", "the", "riverside", "area", "In", "Riverside", ".")


def slips(text: str, *avoid: str, whole_sentences: bool = False, of_table: tuple[int, ...] = ()) -> int:
    style = Style.of(SearchConfig(avoid=avoid, whole_sentences=whole_sentences), "words")
    tokens = tokenize(text)
    origins = tuple(Origin(0 if place in of_table else 1, 1, 0) for place in range(len(tokens)))
    return style.slips(Draft(tokens, origins, Sources(TABLE, (), {}), ())) if style else -1


def test_there_is_no_style_unless_it_is_set() -> None:
    assert Style.of(SearchConfig(), "words") is None


@pytest.mark.parametrize(
    ("text", "avoid", "times"),
    [
        ("It is in the riverside.", "in the riverside !area", 1),
        ("It is in the riverside", "in the riverside !area", 1),
        ("It is in the riverside area.", "in the riverside !area", 0),
        ("In the Riverside, in the riverside.", "in the riverside !area", 2),
        ("A children-friendly pub", "children-friendly", 1),
        ("A children friendly pub", "children-friendly", 0),
        ("Riversides", "riverside", 0),
        ("wow!", "!", 1),
        ("", "riverside", 0),
    ],
)
def test_wordings_are_found_as_words_in_any_case(text: str, avoid: str, times: int) -> None:
    assert slips(text, avoid) == times


def test_a_field_of_the_record_excuses_a_wording() -> None:
    """The record has a name, and says nothing of the kind of place."""
    assert slips("A restaurant.", "restaurant ?kind of place") == 1
    assert slips("A restaurant.", "restaurant ?name") == 0
    assert slips("A restaurant.", "restaurant ?kind of place ?name") == 0
    assert slips("A restaurant.", "restaurant ?kind of place ?food") == 1
    assert slips("A restaurant near it.", "restaurant !near ?kind") == 0
    assert slips("A restaurant there.", "restaurant !near ?kind") == 1


@given(st.lists(st.sampled_from(WORDS), max_size=12))
def test_an_excused_wording_is_counted_where_its_excuse_does_not_follow(words: list[str]) -> None:
    text = " ".join(words)
    plain, excused = slips(text, "the riverside"), slips(text, "the riverside area")
    assert slips(text, "the riverside !area") == plain - excused


@pytest.mark.parametrize(
    "avoid", ["", " ", " !area", "the !two-words", "the !", "the ?", "the ?name ?", " ?name"]
)
def test_what_is_no_wording_is_refused(avoid: str) -> None:
    with pytest.raises(ConfigError, match="no wording"):
        Style.of(SearchConfig(avoid=(avoid,)), "words")


@pytest.mark.parametrize(
    ("text", "times"),
    [
        ("It serves food. It is cheap.", 0),
        ("It serves food It is cheap.", 1),
        ("It serves food", 1),
        ("It serves food It is cheap", 2),
        ('He said: "Come!"', 0),
        ("What is it?", 0),
        ("", 0),
    ],
)
def test_whole_sentences_end_with_a_mark_and_do_not_run_together(text: str, times: int) -> None:
    assert slips(text, whole_sentences=True) == times


def test_a_name_may_have_a_word_that_begins_sentences() -> None:
    assert slips("Call It Home is a pub.", whole_sentences=True, of_table=(0, 1, 2)) == 0


@pytest.fixture(scope="module")
def writer() -> Splicer:
    return Splicer.load(OLD / "runs" / "copy")


def test_the_style_chooses_between_texts_and_is_said_in_the_row(writer: Splicer) -> None:
    table = next(iter(textsplice.read_corpus(str(OLD / "corpus"), "dev"))).table
    search = SearchConfig(beam=6, choose="likelihood", slots_first=False, max_splices=8, max_tokens=40)
    (first,) = writer.generate_many([table], search=search, progress=False)
    assert first.alternatives
    avoid = next(
        token for token in first.tokens if token.isalpha() and token not in table.to_record().values()
    )
    (other,) = writer.generate_many([table], search=replace(search, avoid=(avoid,)), progress=False)
    texts = [alternative.text for alternative in (*first.alternatives, first)]
    clean = [text for text in texts if slips(text, avoid) == 0]
    assert other.status == "ok"
    assert slips(other.text, avoid) == (0 if clean else 1)
    assert other.search is not None
    assert other.search["avoid"] == [avoid]
    assert first.search is not None
    assert "avoid" not in first.search


def test_where_every_text_has_a_slip_one_is_given_still(writer: Splicer) -> None:
    table = next(iter(textsplice.read_corpus(str(OLD / "corpus"), "dev"))).table
    search = SearchConfig(beam=2, choose="likelihood", slots_first=False, max_splices=8, max_tokens=40)
    everything = (".", "is", "a", "the", "in")
    (row,) = writer.generate_many([table], search=replace(search, avoid=everything), progress=False)
    assert row.status == "ok"


def test_a_wording_that_is_none_is_refused_before_anything_is_searched(writer: Splicer) -> None:
    with pytest.raises(ConfigError, match="no wording"):
        list(writer.generate_many([], search=SearchConfig(avoid=(" !area",)), progress=False))
