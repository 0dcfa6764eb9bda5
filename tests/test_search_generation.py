from __future__ import annotations

import json
from typing import cast

import pytest

from search_world import prepared, tables
from textsplice import Table
from textsplice.errors import InputError
from textsplice.oracle.sources import OfferedNeighbor, Sources
from textsplice.oracle.splice import Splice
from textsplice.search.generation import Generation, make_generation
from textsplice.splicer import Splicer
from textsplice.text.linearize import linearize
from textsplice.text.tokens import BEGIN, END, MASK

TABLE = Table.of({"name": "Blue Spice", "price": "£20"})
NEIGHBOR = OfferedNeighbor(
    "t1", "Aromi costs £5, and is good.", (BEGIN, MASK, "costs", MASK, ",", "and", "is", "good", ".", END)
)


def blue_spice() -> Generation:
    """`Blue Spice costs £20, and is nice.`: a neighbor, two values, one word of the vocabulary."""
    return make_generation(
        id="a",
        table=TABLE,
        sources=Sources(linearize(TABLE), (NEIGHBOR,), {7: "nice"}),
        splices=[
            Splice(0, 0, 1, 0, 10),
            Splice(1, 2, 0, 1, 3),
            Splice(4, 5, 0, 4, 5),
            Splice(8, 9, 9, 0, 1),
        ],
        score=-0.25,
        status="ok",
        policy="full",
        run="r",
        tokenizer="words",
    )


def test_text_is_what_the_splices_make() -> None:
    assert blue_spice().text == "Blue Spice costs £20, and is nice."


def test_each_token_knows_its_source_its_splice_and_its_characters() -> None:
    generation = blue_spice()
    assert generation.provenance[0] == (0, 1, 1, 0, 4)
    assert generation.provenance[2] == (1, 2, 0, 11, 16)
    assert generation.provenance[7] == (9, 0, 3, 29, 33)
    for token, place in zip(generation.tokens, generation.provenance, strict=True):
        assert generation.text[place.start : place.stop] == token


def test_steps_say_what_was_replaced() -> None:
    steps = blue_spice().steps()
    assert [step.removed for step in steps] == [(), (MASK,), (MASK,), ("good",)]
    assert steps[1].canvas[:5] == (BEGIN, "Blue", "Spice", "costs", MASK)


def test_sources_are_named_for_people() -> None:
    sources = blue_spice().sources
    assert [sources.label(0, 1), sources.label(1, 2), sources.label(9, 0)] == ["name", "t1", "vocabulary"]


def test_json_and_back_is_the_same_generation() -> None:
    for generation in (blue_spice(), *Splicer.untrained(prepared()).generate_many(tables()[:5])):
        assert Generation.from_dict(json.loads(json.dumps(generation.to_dict()))) == generation


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"format": "textsplice.generation/9"}, "row: is of format 'textsplice.generation/9'; "),
        ({"text": 5}, "row: 'text' is missing or not text."),
        ({"splices": [[1, 2]]}, "row: 'splices' is missing or not made of 5 whole numbers each."),
        ({"status": "fine"}, "row: 'status' is missing or not one of ok, doubtful, unfinished, abstained."),
        ({"sources": None}, "row: 'sources' is missing or not an object."),
        ({"rules": [5]}, "row: rules: is not a JSON object."),
        ({"search": [5]}, "row: 'search' is missing or not an object."),
        ({"weights": 5}, "row: 'weights' is missing or not text."),
    ],
)
def test_a_row_that_is_no_generation_is_refused_with_a_sentence(
    change: dict[str, object], message: str
) -> None:
    with pytest.raises(InputError) as caught:
        Generation.from_dict({**blue_spice().to_dict(), **change}, "row")
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize("segments", [[5], [[]], [["name", 1]], [["name", 1, 3, 4]], [[5, 1, 3]], ["abc"]])
def test_segments_that_are_none_are_refused_with_a_sentence(segments: list[object]) -> None:
    row = blue_spice().to_dict()
    sources = {**cast("dict[str, object]", row["sources"]), "table": {"tokens": [], "segments": segments}}
    with pytest.raises(InputError, match=r"^row: 'segments' is "):
        Generation.from_dict({**row, "sources": sources}, "row")


def test_a_row_without_the_later_keys_is_read_and_written_as_it_was() -> None:
    row = blue_spice().to_dict()
    assert not {"search", "weights"} & row.keys()
    later = {**row, "search": {"beam": 3}, "weights": "0123456789ab"}
    assert Generation.from_dict(later).to_dict() == later
