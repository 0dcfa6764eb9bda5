"""The numbering of sources: 0 the table, then the neighbors by rank, then the vocabulary by word id."""

from __future__ import annotations

import numpy as np
import pytest

from textsplice.errors import InputError
from textsplice.oracle.numbering import (
    Numbering,
    first_words,
    in_order,
    neighbor_counts,
    neighbor_ranks,
    word_ids,
)
from textsplice.oracle.sources import OfferedNeighbor, Sources
from textsplice.oracle.splice import Splice
from textsplice.text.linearize import Linearized, Segment

NEIGHBORS = (OfferedNeighbor("p", "P.", ("p", ".")), OfferedNeighbor("q", "Q.", ("q", ".")))
SOURCES = Sources(Linearized(["name:", "Ann"], [Segment("name", 1, 2)]), NEIGHBORS, {4: "word"})


def test_sources_are_the_table_then_the_neighbors_then_the_words() -> None:
    numbering = Numbering(2)
    numbers = in_order(numbering.TABLE, map(numbering.neighbor, range(2)), map(numbering.word, range(3)))
    assert numbers == [0, 1, 2, 3, 4, 5]
    kinds = [numbering.kind(source) for source in numbers]
    assert kinds == ["table", "neighbor", "neighbor", "vocabulary", "vocabulary", "vocabulary"]
    assert numbering.first_word == 3


@pytest.mark.parametrize("neighbors", [0, 1, 20])
def test_ranks_and_word_ids_come_back_from_their_numbers(neighbors: int) -> None:
    numbering = Numbering(neighbors)
    assert [numbering.rank(numbering.neighbor(rank)) for rank in range(neighbors)] == list(range(neighbors))
    assert numbering.word_id(numbering.word(17)) == 17
    assert numbering.is_word(numbering.word(0))
    assert not any(numbering.is_word(numbering.neighbor(rank)) for rank in range(neighbors))


def test_arrays_are_numbered_as_single_sources_are() -> None:
    numbering, ids = Numbering(3), np.arange(5)
    assert numbering.word(ids).tolist() == [numbering.word(number) for number in range(5)]
    assert numbering.neighbor(ids[:3]).tolist() == [numbering.neighbor(rank) for rank in range(3)]


def test_many_examples_are_numbered_at_once() -> None:
    counts = neighbor_counts(np.array([[5, 6, -1], [7, -1, -1], [-1, -1, -1]], dtype=np.int32))
    assert counts.tolist() == [2, 1, 0]
    assert first_words(counts).tolist() == [Numbering(n).first_word for n in (2, 1, 0)]
    sources = np.array([2, 2, 1], dtype=np.int32)
    assert word_ids(sources, counts).tolist() == [-1, 0, 0]
    assert neighbor_ranks(sources, counts).tolist() == [1, -1, -1]
    table = np.zeros(3, dtype=np.int32)
    assert word_ids(table, counts).tolist() == neighbor_ranks(table, counts).tolist() == [-1, -1, -1]


def test_sources_hold_each_text_at_its_number() -> None:
    assert [list(SOURCES[source]) for source in (0, 1, 2, 7)] == [
        ["name:", "Ann"],
        ["p", "."],
        ["q", "."],
        ["word"],
    ]
    assert len(SOURCES) == 8
    assert [SOURCES.label(source, 1) for source in (0, 2, 7)] == ["name", "q", "vocabulary"]


def test_a_word_that_was_not_used_is_no_source() -> None:
    with pytest.raises(InputError, match=r"^source 3 is neither a neighbor nor a word that was used\.$"):
        SOURCES[3]


def test_sources_keep_only_the_words_that_splices_use() -> None:
    used = SOURCES.using([Splice(0, 0, 1, 0, 2), Splice(0, 1, 5, 0, 1)], ["zero", "one", "two"])
    assert used.words == {2: "two"}
