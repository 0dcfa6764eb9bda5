"""Each lie that a file of generations can tell, and how `verify` names it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from search_world import prepared, tables
from textsplice.errors import VerificationError
from textsplice.oracle.splice import Splice
from textsplice.search.generation import Generation
from textsplice.search.verify import check_complete, find_lie, verify
from textsplice.splicer import Splicer


@pytest.fixture(scope="module")
def plain() -> Splicer:
    return Splicer.untrained(prepared())


@pytest.fixture(scope="module")
def honest(plain: Splicer) -> Generation:
    """A generation that was offered more neighbours than it used."""
    made = plain.generate_many(tables(), progress=False)
    return next(g for g in made if len(g.sources.neighbors) > g.splices[0].neighbor)


def with_neighbor(generation: Generation, **changes: object) -> Generation:
    first = replace(generation.sources.neighbors[0], **changes)
    sources = replace(generation.sources, neighbors=(first, *generation.sources.neighbors[1:]))
    return replace(generation, sources=sources)


def test_the_truth_is_found_true(honest: Generation, plain: Splicer) -> None:
    assert find_lie(honest) is None
    assert find_lie(honest, plain.proof) is None


def test_a_changed_word(honest: Generation) -> None:
    tokens = ("Lies", *honest.tokens[1:])
    lie = find_lie(replace(honest, tokens=tokens))
    assert lie == f"token 0 is 'Lies', its splices make {honest.tokens[0]!r}"


def test_a_changed_text(honest: Generation) -> None:
    lie = find_lie(replace(honest, text=honest.text + "!"))
    assert lie == f"its text is not what its splices make: {honest.text!r}"


def test_a_changed_provenance(honest: Generation) -> None:
    first = honest.provenance[0]._replace(position=0)
    lie = find_lie(replace(honest, provenance=(first, *honest.provenance[1:])))
    assert lie == "its provenance is not what its splices make"


def test_a_neighbor_whose_tokens_are_not_its_text(honest: Generation) -> None:
    tokens = list(honest.sources.neighbors[0].tokens)
    place = next(i for i, token in enumerate(tokens) if token.isalpha())
    word, tokens[place] = tokens[place], "never"
    name = honest.sources.neighbors[0].id
    lie = find_lie(with_neighbor(honest, tokens=tuple(tokens)))
    assert lie == f"neighbour {name!r} has 'never' where its text has {word!r}"


def test_a_neighbor_that_was_changed_consistently_is_caught_by_the_run(
    honest: Generation, plain: Splicer
) -> None:
    # The last of the offered neighbours was not used: only the store knows what it said.
    last = honest.sources.neighbors[-1]
    changed = replace(last, text="Never.", tokens=("\x02", "Never", ".", "\x03"))
    sources = replace(honest.sources, neighbors=(*honest.sources.neighbors[:-1], changed))
    forged = replace(honest, sources=sources)
    assert find_lie(forged) is None
    assert find_lie(forged, plain.proof) == f"neighbour {last.id!r} has another text in the run's store"


def test_a_neighbor_that_is_not_in_the_store(honest: Generation, plain: Splicer) -> None:
    lie = find_lie(with_neighbor(honest, id="train-9999"), plain.proof)
    assert lie == "neighbour 'train-9999' is not in the run's store"


def test_a_mask_that_the_store_does_not_have(honest: Generation, plain: Splicer) -> None:
    tokens = list(honest.sources.neighbors[-1].tokens)
    place = next(i for i, token in enumerate(tokens) if token.isalpha())
    tokens[place] = "\x1a"
    last = replace(honest.sources.neighbors[-1], tokens=tuple(tokens))
    sources = replace(honest.sources, neighbors=(*honest.sources.neighbors[:-1], last))
    lie = find_lie(replace(honest, sources=sources), plain.proof)
    assert lie == f"neighbour {last.id!r} is masked otherwise in the run's store"


def test_a_splice_out_of_range(honest: Generation) -> None:
    lie = find_lie(replace(honest, splices=(Splice(0, 0, 1, 0, 999),)))
    length = len(honest.sources.neighbors[0].tokens)
    assert lie == f"splice 0 (0, 0, 1, 0, 999): span 0:999 does not fit neighbour 1 of {length} tokens"


def test_a_splice_from_a_word_that_is_not_there(honest: Generation) -> None:
    lie = find_lie(replace(honest, splices=(Splice(0, 0, 500, 0, 1),)))
    there = 1 + len(honest.sources.neighbors)
    assert lie == f"splice 0 (0, 0, 500, 0, 1): neighbour 500 does not exist: there are {there}"


def test_a_mask_left_in_the_text(honest: Generation) -> None:
    assert find_lie(replace(honest, splices=honest.splices[:1])) == "a masked word was not replaced"


def test_a_field_name_in_the_text(honest: Generation) -> None:
    forged = replace(honest, splices=(*honest.splices, Splice(1, 1, 0, 0, 1)))
    step = len(honest.splices)
    assert find_lie(forged) == f"splice {step} (1, 1, 0, 0, 1) copies more than one value of the table"


def test_a_table_that_is_not_the_source(honest: Generation) -> None:
    assert find_lie(replace(honest, table=tables()[20])) == "source 0 is not its table"


def test_a_rule_that_the_text_breaks(honest: Generation) -> None:
    word = honest.tokens[-1]
    forged = replace(honest, rules=({"rule": "forbid-words", "words": [word]},))
    name = honest.sources.neighbors[0].id
    assert find_lie(forged) == f"the rule forbid-words does not admit neighbour {name!r}"
    forged = replace(honest, rules=({"rule": "require-fields", "fields": ["summit"]},))
    assert find_lie(forged) == "a rule is broken: the required field 'summit' has no value in the table"


def test_another_run(honest: Generation, plain: Splicer) -> None:
    lie = find_lie(replace(honest, run="other"), plain.proof)
    assert lie == f"it is of run 'other', not of {plain.run!r}"


def test_an_abstention_with_a_text(honest: Generation) -> None:
    assert find_lie(replace(honest, status="abstained")) == "it abstained, yet has a text"


def test_a_missing_row() -> None:
    with pytest.raises(VerificationError) as caught:
        check_complete(["a", "c"], ["a", "b", "c"], where="out.jsonl")
    assert str(caught.value) == "out.jsonl, row 1: row 'b' is missing."


def test_the_error_names_the_row(honest: Generation) -> None:
    with pytest.raises(VerificationError) as caught:
        verify(replace(honest, table=tables()[20]), where="out.jsonl:1")
    assert str(caught.value) == f"out.jsonl:1, row {honest.id!r}: source 0 is not its table."
