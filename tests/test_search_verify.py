"""Each lie that a file of generations can tell, and how `verify` names it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from search_world import prepared, tables
from textsplice import Table
from textsplice.errors import VerificationError
from textsplice.oracle.sources import OfferedNeighbor
from textsplice.oracle.splice import Splice
from textsplice.policy.kind import Attribution
from textsplice.search.generation import Generation, Status
from textsplice.search.rules import ApprovedNeighbors
from textsplice.search.verify import check_complete, find_lie, verify
from textsplice.splicer import Splicer


@pytest.fixture(scope="module")
def plain() -> Splicer:
    return Splicer.untrained(prepared())


@pytest.fixture(scope="module")
def honest(plain: Splicer) -> Generation:
    """A generation that was offered more neighbors than it used."""
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
    assert lie == f"neighbor {name!r} has 'never' where its text has {word!r}"


def test_a_neighbor_that_was_changed_consistently_is_caught_by_the_run(
    honest: Generation, plain: Splicer
) -> None:
    # The last of the offered neighbors was not used: only the store knows what it said.
    last = honest.sources.neighbors[-1]
    changed = replace(last, text="Never.", tokens=("\x02", "Never", ".", "\x03"))
    sources = replace(honest.sources, neighbors=(*honest.sources.neighbors[:-1], changed))
    forged = replace(honest, sources=sources)
    assert find_lie(forged) is None
    assert find_lie(forged, plain.proof) == f"neighbor {last.id!r} has another text in the run's store"


def test_a_neighbor_that_is_not_in_the_store(honest: Generation, plain: Splicer) -> None:
    lie = find_lie(with_neighbor(honest, id="train-9999"), plain.proof)
    assert lie == "neighbor 'train-9999' is not in the run's store"


def test_a_mask_that_the_store_does_not_have(honest: Generation, plain: Splicer) -> None:
    tokens = list(honest.sources.neighbors[-1].tokens)
    place = next(i for i, token in enumerate(tokens) if token.isalpha())
    tokens[place] = "\x1a"
    last = replace(honest.sources.neighbors[-1], tokens=tuple(tokens))
    sources = replace(honest.sources, neighbors=(*honest.sources.neighbors[:-1], last))
    lie = find_lie(replace(honest, sources=sources), plain.proof)
    assert lie == f"neighbor {last.id!r} is masked otherwise in the run's store"


def test_a_splice_out_of_range(honest: Generation) -> None:
    lie = find_lie(replace(honest, splices=(Splice(0, 0, 1, 0, 999),)))
    length = len(honest.sources.neighbors[0].tokens)
    assert lie == f"splice 0 (0, 0, 1, 0, 999): span 0:999 does not fit neighbor 1 of {length} tokens"


def test_a_splice_from_a_word_that_is_not_there(honest: Generation) -> None:
    lie = find_lie(replace(honest, splices=(Splice(0, 0, 500, 0, 1),)))
    there = 1 + len(honest.sources.neighbors)
    assert lie == f"splice 0 (0, 0, 500, 0, 1): neighbor 500 does not exist: there are {there}"


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
    assert find_lie(forged) == f"the rule forbid-words does not admit neighbor {name!r}"
    forged = replace(honest, rules=({"rule": "require-fields", "fields": ["summit"]},))
    assert find_lie(forged) == "a rule is broken: the required field 'summit' has no value in the table"


def test_another_run(honest: Generation, plain: Splicer) -> None:
    lie = find_lie(replace(honest, run="other"), plain.proof)
    assert lie == f"it is of run 'other', not of {plain.run!r}"


def test_an_abstention_with_a_text(honest: Generation) -> None:
    assert find_lie(replace(honest, status="abstained")) == "it abstained, yet has a text"


def test_an_abstention_is_compared_like_any_other_row(plain: Splicer) -> None:
    rule = ApprovedNeighbors(["?"])
    abstained = plain.generate(tables()[0], rules=[rule])
    assert (abstained.status, find_lie(abstained, plain.proof)) == ("abstained", None)
    abstained = replace(abstained, rules=())
    lie = f"its status is 'abstained', but swapping again gives {plain.generate(tables()[0]).status!r}"
    assert find_lie(abstained, plain.proof) == lie
    assert find_lie(replace(abstained, table=tables()[20])) == "source 0 is not its table"
    lie = find_lie(replace(abstained, run="other"), plain.proof)
    assert lie == f"it is of run 'other', not of {plain.run!r}"
    stranger = OfferedNeighbor("?", "Never.", ("\x02", "Never", ".", "\x03"))
    offered = replace(abstained, sources=replace(abstained.sources, neighbors=(stranger,)))
    assert find_lie(offered, plain.proof) == "neighbor '?' is not in the run's store"
    forbidden = replace(offered, rules=({"rule": "forbid-words", "words": ["never"]},))
    assert find_lie(forbidden) == "the rule forbid-words does not admit neighbor '?'"
    assert find_lie(replace(abstained, reason=None)) == "it abstained without a reason"


@pytest.mark.parametrize(
    ("status", "reason", "lie"),
    [
        ("ok", "it grew late", "it is ok, yet has a reason not to be"),
        ("unfinished", None, "it is unfinished without a reason"),
    ],
)
def test_a_reason_that_does_not_go_with_the_status(
    honest: Generation, status: Status, reason: str | None, lie: str
) -> None:
    assert find_lie(replace(honest, status=status, reason=reason)) == lie


@pytest.mark.parametrize(
    ("policy", "attribution", "marginalize", "true"),
    [
        ("swap", "most-probable", None, False),
        ("oracle", "most-probable", None, False),
        ("of a plugin that is not here", "most-probable", True, True),
        ("of a plugin that is not here", "exact", True, True),
        ("full", "most-probable", True, False),
        ("full", "exact", True, True),
        ("lrt", "most-probable", None, True),
        ("lrt", "exact", None, True),
        ("lrt", "exact", True, False),
        ("copy", "most-probable", False, False),
        ("copy", "most-probable", True, True),
    ],
)
def test_an_attribution_that_the_policy_can_not_have(
    honest: Generation, policy: str, attribution: Attribution, marginalize: bool | None, true: bool
) -> None:
    search = None if marginalize is None else {**(honest.search or {}), "marginalize": marginalize}
    forged = replace(honest, policy=policy, attribution=attribution, search=search)
    lie = f"its attribution is not {attribution!r}, as {policy!r} chose its words"
    assert (find_lie(forged) != lie) == true


def test_a_policy_or_weights_or_a_tokenizer_that_the_run_does_not_have(plain: Splicer) -> None:
    proof = plain.proof
    made = plain.generate({"name": "Aromi"}, rules=[ApprovedNeighbors(["?"])])
    assert find_lie(replace(made, policy="full"), proof) == "its policy is 'full', the run's swap"
    heavy = replace(made, weights="0123456789ab")
    assert find_lie(heavy, proof) == "it is of swap, which has no weights, yet names some"
    lie = "its tokenizer is 'spaces', the run's 'words'"
    assert find_lie(replace(made, tokenizer="spaces"), proof) == lie


def test_rows_are_those_of_all_the_tables() -> None:
    tables = {name: Table.of({"name": name}) for name in "abc"}
    check_complete(tables.items(), tables.items(), where="out.jsonl")
    for rows, lie in [
        ({"a": tables["a"], "c": tables["c"]}, "row 1: row 'b' is missing."),
        ({"a": tables["a"]}, "row 1: row 'b' is missing."),
        ({**tables, "d": tables["a"]}, "row 3: row 'd' is of no table."),
        ({**tables, "b": tables["a"]}, "row 1: row 'b' has another table."),
    ]:
        with pytest.raises(VerificationError) as caught:
            check_complete(rows.items(), tables.items(), where="out.jsonl")
        assert str(caught.value) == f"out.jsonl, {lie}"


def test_the_error_names_the_row(honest: Generation) -> None:
    with pytest.raises(VerificationError) as caught:
        verify(replace(honest, table=tables()[20]), where="out.jsonl:1")
    assert str(caught.value) == f"out.jsonl:1, row {honest.id!r}: source 0 is not its table."
