"""Rows that no run can have made, and that `verify` refuses: known forgeries, and any one change to a row."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

import textsplice
from search_world import beginner, prepared, tables
from textsplice.cli import app
from textsplice.config import SearchConfig
from textsplice.corpus.table import Table
from textsplice.errors import TextspliceError
from textsplice.oracle.numbering import Numbering
from textsplice.oracle.sources import OfferedNeighbor, Sources
from textsplice.oracle.splice import Splice
from textsplice.policy.full import FULL
from textsplice.search.generation import Generation, make_generation
from textsplice.search.rows import row_text
from textsplice.search.rules import (
    ApprovedNeighbors,
    ForbidWords,
    KeepSentences,
    MaxSentences,
    MinSentences,
    NeighborsWhere,
    RequireFields,
    Rule,
)
from textsplice.search.shapes import misshapen
from textsplice.search.verify import find_lie
from textsplice.splicer import Splicer
from textsplice.text.linearize import linearize
from textsplice.text.vocabulary import BEGIN_ID, END_ID

Row = dict[str, Any]
KINDS = ("swap", "full", "lrt", "copy")


@cache
def maker(kind: str) -> Splicer:
    return Splicer.untrained(prepared()) if kind == "swap" else beginner(kind=kind)


@cache
def honest(kind: str) -> Generation:
    """A text of each way to make them, with alternatives where it has some."""
    return next(g for g in maker(kind).generate_many(tables()[:12], progress=False) if g.splices)


def changed_row(text: str, **changes: object) -> str:
    return json.dumps(json.loads(text) | changes)


def row_of(kind: str) -> Row:
    return json.loads(row_text(honest(kind)))


def verdict(
    tmp_path: Path,
    content: str | Row,
    kind: str | None = None,
    rules: Sequence[Rule] | None = None,
    search: SearchConfig | None = None,
) -> str | None:
    """What `verify` says of a file with this row, without the place; None if it accepts it."""
    path = tmp_path / "rows.jsonl"
    path.write_text(content if isinstance(content, str) else json.dumps(content) + "\n", encoding="utf-8")
    try:
        textsplice.verify(path, None if kind is None else maker(kind), rules=rules, search=search)
    except TextspliceError as error:
        return str(error).removeprefix(str(path)).removeprefix(":1").lstrip(", ").removeprefix(": ")
    return None


def spelled(kind: str, ids: Sequence[int], words: dict[int, str] | None = None) -> Generation:
    """A row whose text is made only of vocabulary words."""
    true = honest(kind)
    neighbors = true.sources.neighbors
    numbering = Numbering(len(neighbors))
    spelling = prepared().vocabulary.words
    whole = (BEGIN_ID, *ids, END_ID)
    found = {number: spelling[number] for number in whole if number < len(spelling)} | (words or {})
    return make_generation(
        id=true.id,
        table=true.table,
        sources=Sources(true.sources.table, neighbors, found),
        splices=[Splice(at, at, numbering.word(n), 0, 1) for at, n in enumerate(whole)],
        score=true.score,
        status="ok",
        policy=kind,
        run=true.run,
        tokenizer=true.tokenizer,
        attribution=true.attribution,
        search=true.search,
        weights=true.weights,
    )


@pytest.mark.parametrize("kind", KINDS)
def test_what_was_made_is_accepted_alone_and_with_its_run(tmp_path: Path, kind: str) -> None:
    assert verdict(tmp_path, row_of(kind)) is None
    assert verdict(tmp_path, row_of(kind), kind, []) is None


@pytest.mark.parametrize("kind", KINDS)
def test_words_that_the_policy_may_not_generate(kind: str) -> None:
    vocabulary = prepared().vocabulary
    proof = maker(kind).proof
    closed = [
        n
        for n in range(5, len(vocabulary))
        if n not in proof.generable[kind] and not vocabulary.words[n].endswith(":")
    ][:3]
    assert closed
    word = BEGIN_ID if kind == "swap" else closed[0]
    lie = f"{kind!r} may not generate word {word} of the vocabulary, {vocabulary.words[word]!r}"
    assert find_lie(spelled(kind, closed), proof) == lie


@pytest.mark.parametrize("number", [0, 1, 4])
def test_reserved_words(number: int) -> None:
    lie = find_lie(spelled("full", [20, number]), maker("full").proof)
    word = prepared().vocabulary.words[number]
    assert lie == f"word {number}, {word!r}, is not one word"


def test_a_word_that_is_a_whole_sentence() -> None:
    sentence = "Everything here is free."
    for proof in (None, maker("full").proof):
        lie = find_lie(spelled("full", [999_999], {999_999: sentence}), proof)
        assert lie == f"word 999999, {sentence!r}, is not one word"


def test_a_word_that_is_not_in_the_vocabulary() -> None:
    lie = find_lie(spelled("full", [20], {20: "free"}), maker("full").proof)
    assert lie == "word 20 of the vocabulary is not 'free'"


def test_a_word_that_no_splice_uses(tmp_path: Path) -> None:
    row = row_of("full")
    row["sources"]["words"]["20"] = "free"
    assert str(verdict(tmp_path, row)).endswith("no splice uses word 20, 'free'.")


def with_neighbors(kind: str, neighbors: Sequence[OfferedNeighbor]) -> Generation:
    """Other neighbors, of which splices use only those that are as they were."""
    true = honest(kind)
    shift = len(neighbors) - len(true.sources.neighbors)
    numbering = true.sources.numbering
    splices = [s._replace(neighbor=s.neighbor + shift * numbering.is_word(s.neighbor)) for s in true.splices]
    made = make_generation(
        **{
            **{f: getattr(true, f) for f in ("id", "table", "score", "policy", "run", "tokenizer")},
            **{f: getattr(true, f) for f in ("attribution", "search", "weights")},
        },
        status="ok",
        sources=replace(true.sources, neighbors=tuple(neighbors)),
        splices=splices,
    )
    return made.with_doubts(true.doubts or ())


@pytest.mark.parametrize("kind", ["full", "lrt"])
def test_neighbors_that_the_run_does_not_offer(kind: str) -> None:
    run = maker(kind)
    offered = honest(kind).sources.neighbors
    store = run.store
    stranger = next(
        run.proof.offers.neighbor(row)
        for row in range(len(store))
        if run.proof.offers.neighbor(row).tokens not in {n.tokens for n in offered}
    )
    lie = f"it names {len(offered) + 1} neighbors, but the run offers {len(offered)}"
    assert find_lie(with_neighbors(kind, (*offered, stranger)), run.proof) == lie
    lie = find_lie(with_neighbors(kind, (*offered, offered[0])), run.proof)
    assert lie == "two of its neighbors are the same text"


def test_neighbors_in_another_order_or_too_few() -> None:
    run, true = maker("full"), honest("full")
    offered = true.sources.neighbors
    used = {s.neighbor - 1 for s in true.splices}
    one, two = [rank for rank in range(len(offered)) if rank not in used][:2]
    changed = list(offered)
    changed[one], changed[two] = changed[two], changed[one]
    lie = f"neighbor {one + 1} is {offered[two].id!r}, but the run offers {offered[one].id!r} there"
    assert find_lie(with_neighbors("full", changed), run.proof) == lie
    if max(used) < len(offered) - 1:
        lie = f"it names {len(offered) - 1} neighbors, but the run offers {len(offered)}"
        assert find_lie(with_neighbors("full", offered[:-1]), run.proof) == lie


def splicer_over(**changes: Any) -> Splicer:
    """The policy over a changed store."""
    run = maker("full")
    return Splicer(
        store=replace(run.store, **changes),
        vocabulary=run.vocabulary,
        config=run.config,
        policy=run.policy,
        run=run.run,
    )


def test_a_neighbor_that_is_in_the_store_but_not_offered() -> None:
    first = honest("full").sources.neighbors[0]
    offered = maker("full").store.offered.copy()
    offered[maker("full").store.rows_of[first.id]] = False
    lie = find_lie(honest("full"), splicer_over(offered=offered).proof)
    assert lie == f"neighbor {first.id!r} is in the run's store, but may not be spliced from"


def test_a_corpus_that_repeats_an_id_does_not_make_its_rows_false() -> None:
    run = splicer_over(ids=["same"] * len(maker("full").store))
    for generation in run.generate_many(tables()[:6], progress=False):
        assert find_lie(generation, run.proof) is None


def test_more_splices_or_tokens_than_the_search_allows(tmp_path: Path) -> None:
    for kind, name, key in [("full", "splices", "max_splices"), ("lrt", "tokens", "max_tokens")]:
        row = row_of(kind)
        count = len(row[name])
        row["search"][key] = count - 1
        assert str(verdict(tmp_path, row)).endswith(f"it has {count} {name} where {key} is {count - 1}.")
        del row["search"]
        lie = find_lie(Generation.from_dict(row), maker(kind).proof)
        assert lie == "it does not say its search settings"


def test_more_tokens_than_the_policy_can_read() -> None:
    for kind, count in (("full", len(honest("full").tokens) + 2), ("lrt", len(honest("lrt").tokens))):
        run = maker(kind)
        proof = replace(run.proof, config=run.config.with_values([f"policy.max_positions={count + 1}"]))
        assert str(find_lie(honest(kind), proof)).endswith(
            f"more than the {count - 1} that its policy can read"
        )


def test_derivations_of_another_shape() -> None:
    true = honest("full")
    for kind, lie in [
        ("lrt", "its splices do not append one token each, as 'lrt' writes"),
        ("swap", "its first splice does not place a whole neighbor, as swap does"),
    ]:
        source = honest("lrt") if kind == "swap" else true
        forged = replace(source, policy=kind, attribution="most-probable" if kind == "lrt" else "exact")
        assert find_lie(forged) == lie
    late = replace(honest("lrt"), policy="full", attribution="exact")
    assert find_lie(replace(late, search={**(late.search or {}), "max_splices": 500})) is None


@pytest.mark.parametrize(
    ("step", "change", "lie"),
    [
        (0, {"begin": 1}, "does not place begin"),
        (1, {"start": 0, "stop": 0}, "places begin, or goes before it"),
    ],
)
def test_splices_that_no_beam_makes(step: int, change: dict[str, int], lie: str) -> None:
    splices = list(honest("full").splices)
    splices[step] = splices[step]._replace(**change)
    forged = replace(honest("full"), splices=tuple(splices))
    assert str(misshapen(forged, FULL, None, None)).endswith(lie)


def test_end_is_placed_once_and_stays() -> None:
    true = honest("full")
    first = true.splices[0]
    size = len(true.sources[first.neighbor])
    whole = first._replace(end=size)
    for late in (
        Splice(size - 1, size, first.neighbor, size - 1, size),
        Splice(size, size, 0, 1, 2),
        Splice(1, 2, first.neighbor, size - 1, size),
    ):
        lie = misshapen(replace(true, splices=(whole, late)), FULL, None, None)
        past = "goes past the end, replaces it, or places it inside the text"
        assert lie == f"splice 1 {tuple(late)} {past}"
    mask = true.sources[first.neighbor].index("\x1a")
    late = Splice(1, 1, first.neighbor, mask, mask + 1)
    lie = misshapen(replace(true, splices=(whole, late)), FULL, None, None)
    assert lie == f"splice 1 {tuple(late)} begins or ends with a mask"


def test_removed_rules(tmp_path: Path) -> None:
    rules = [RequireFields(["name"]), KeepSentences()]
    row = json.loads(row_text(next(maker("full").generate_many(tables()[:1], rules=rules, progress=False))))
    assert verdict(tmp_path, row, "full", rules) is None
    assert "its rules are not those that were asked for" in str(verdict(tmp_path, row, "full", rules[:1]))
    del row["rules"][1]
    lie = 'it was not made under the rule {"rule": "keep-sentences"}'
    assert lie in str(verdict(tmp_path, row, "full", rules))
    row["rules"][0]["by"] = "us"
    lie = "its rules: the rule 'require-fields' does not have the setting 'by'. Known: fields."
    assert lie in str(verdict(tmp_path, row))
    row["rules"][0] = {"fields": ["name"], "rule": "require-fields"}
    assert verdict(tmp_path, row) is None  # the order of keys says nothing
    row["rules"][0] = {"rule": "approved-neighbors", "ids": ["b", "a"]}
    lie = 'the rule approved-neighbors is not written as {"rule": "approved-neighbors", "ids": ["a", "b"]}'
    assert lie in str(verdict(tmp_path, row))


def test_a_rule_that_chooses_neighbors_leaves_a_trace_when_it_is_removed() -> None:
    run, true = maker("full"), honest("full")
    word = next(token for token in true.sources.neighbors[0].tokens if token.isalpha())
    made = run.generate(true.table, rules=[ForbidWords([word])])
    assert find_lie(made, run.proof) is None
    assert "but the run offers" in str(find_lie(replace(made, rules=()), run.proof))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda t: t.replace('"id":', '"id": "x", "id":', 1), "is not JSON: the key 'id' is there twice."),
        (
            lambda t: t.replace('"source":', '"source": 1, "source":', 1),
            "is not JSON: the key 'source' is there twice.",
        ),
        (lambda t: t.replace('"score": -', '"score": NaN, "x": -', 1), "NaN is not a number in JSON."),
        (lambda t: t.replace('"id": "', '"id": "\\ud800', 1), "half a character (a lone surrogate)"),
        (lambda _: "[" * 200_000, "is nested too deeply."),
        (
            lambda t: t.replace('"score": -', '"score": ' + "9" * 400 + ', "x": -', 1),
            "not a number that can be used.",
        ),
        (lambda t: t.replace('"words": {', '"words": {"٣": "a"}, "x": {', 1), "words must map ids to words."),
        (
            lambda t: t.replace('"words": {', '"words": {"03": "a"}, "x": {', 1),
            "words must map ids to words.",
        ),
        (lambda t: t.replace('"id":', '"note": "approved", "id":', 1), "note should not be there."),
        (lambda t: t.replace('"start": 0,', '"start": 0, "by": "us",', 1), ".by should not be there."),
        (
            lambda t: changed_row(t, status="ok", reason="", doubts=[]),
            "it is ok, yet has a reason not to be.",
        ),
        (lambda _: "", "has no rows. Give a file that `textsplice generate` wrote."),
        (lambda _: "\n \n", "has no rows. Give a file that `textsplice generate` wrote."),
    ],
)
def test_files_that_no_one_wrote(tmp_path: Path, change: Callable[[str], str], message: str) -> None:
    said = verdict(tmp_path, change(row_text(honest("full"))))
    assert said is not None
    assert said.endswith(message) or message in said


def test_a_file_that_is_not_utf_8(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_bytes(row_text(honest("full")).encode("utf-16"))
    with pytest.raises(TextspliceError, match=r"rows.jsonl:1: is not UTF-8 text\.$"):
        textsplice.verify(path)


def test_a_row_that_is_too_long_to_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("textsplice.search.rows.MOST_BYTES", 1 << 10)
    said = verdict(tmp_path, row_of("full"))
    assert said == "this row has more than 0 MB, the most that is read."


def test_too_many_splices_are_not_replayed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("textsplice.search.verify.MOST_SPLICES", 1)
    count = len(honest("full").splices)
    lie = f"it has {count} splices, more than the 1 that are replayed"
    assert find_lie(honest("full")) == lie


def test_a_canvas_that_is_far_longer_than_its_row_is_not_spelled() -> None:
    true = honest("full")
    long = replace(true.sources.neighbors[0], text="a " * 1000, tokens=("\x02", *["a"] * 1000, "\x03"))
    sources = replace(true.sources, neighbors=(long, *true.sources.neighbors[1:]))
    splices = (true.splices[0]._replace(neighbor=1, end=1), *[Splice(1, 1, 1, 1, 1001)] * 50_000)
    lie = find_lie(replace(true, sources=sources, splices=splices))
    assert lie == f"it has {len(true.tokens)} tokens, its splices make 49999999"


@pytest.mark.parametrize(
    ("change", "lie"),
    [
        ({"beam": 0}, "its search settings: search.beam = 0 must be a whole number from 1 to 4,096"),
        ({"beam": True}, "its search settings: search.beam = True must be a whole number from 1 to 4,096"),
        ({"choose": "luck"}, "search.choose = 'luck' is not one of 'likelihood', 'consensus', 'typical'."),
        ({"temperature": 2}, "its search settings: 'temperature' is not known"),
        ({"device": "cpu"}, "its search settings: 'device' does not belong to them"),
        ({"max_splices": None}, "its search settings: search.max_splices = None must be a whole number"),
    ],
)
def test_search_settings_that_no_search_has(tmp_path: Path, change: Row, lie: str) -> None:
    row = row_of("full")
    row["search"] |= change
    assert lie.removesuffix(".") in str(verdict(tmp_path, row))


def test_the_command_takes_rules_as_generate_does_and_says_what_it_did_not_check(tmp_path: Path) -> None:
    path, rules = tmp_path / "rows.jsonl", tmp_path / "rules.json"
    made = maker("full").generate(tables()[0], rules=[RequireFields(["name"])])
    path.write_text(row_text(made), encoding="utf-8")

    def run(*options: str) -> tuple[int, str]:
        done = CliRunner().invoke(app, ["verify", str(path), *options])
        if isinstance(done.exception, TextspliceError):  # `main` prints it and exits with 2
            return 2, str(done.exception)
        return done.exit_code, done.output

    code, said = run("--require", "name")
    assert code == 0
    assert said.splitlines()[1] == (
        "Not checked: scores; alternatives; whether these search settings were asked for; "
        "what only --run can tell; whether rows are missing (--tables)."
    )
    assert "whether these rules were asked for" in run()[1]
    assert run("--keep-sentences")[1].endswith('made under the rule {"rule": "keep-sentences"}.')
    for content, message in [
        ('[{"rule": "require-fields", "fields": ["name"]}]', None),
        ("[]", "its rules are not those that were asked for."),
        ("{}", "is not a list of rules. Write them as"),
        ("[", "is not JSON"),
        ('[{"rule": "no-such"}]', "there is no rule 'no-such'"),
    ]:
        rules.write_text(content, encoding="utf-8")
        code, said = run("--rules", str(rules))
        assert code == (2 if message else 0), said
        assert (message or "") in said.replace("\n", " ")


def test_a_row_of_format_1_of_a_run_that_never_wrote_one(tmp_path: Path) -> None:
    row = row_of("full") | {"format": "textsplice.generation/1"}
    for place in row["provenance"]:
        del place["utf16"]
    assert verdict(tmp_path, row) == "row '0': it says its seams, which no row of format 1 does."
    del row["seams"]
    assert verdict(tmp_path, row) is None
    lie = "it is of 'textsplice.generation/1', which only version 0.1 wrote: its run is of a later one."
    assert str(verdict(tmp_path, row, "full")).endswith(lie)
    assert find_lie(Generation.from_dict(row), replace(maker("full").proof, old=True)) is None
    said = CliRunner().invoke(app, ["verify", str(tmp_path / "rows.jsonl")]).output
    assert "; whether a version that wrote format 1 made 1 row of that format (--run)." in said


@pytest.mark.parametrize("kind", ["full", "lrt", "copy"])
def test_rows_of_version_0_1_are_still_accepted_with_their_runs(kind: str) -> None:
    old = Path(__file__).with_name("data") / "version-0.1"
    assert textsplice.verify(old / f"{kind}.jsonl", old / "runs" / kind) > 0


@pytest.mark.parametrize(
    ("name", "said", "own"),
    [
        ("max_splices", 500, "16"),
        ("max_tokens", 500, "120"),
        ("max_table_tokens", 1_000_000, "{limit}"),
        ("marginalize", False, "True"),
    ],
)
def test_a_row_can_not_claim_more_than_its_run_allows(name: str, said: int, own: str) -> None:
    run, true = maker("full"), honest("full")
    forged = replace(true, search={**(true.search or {}), name: said})
    own = own.format(limit=run.config.corpus.max_table_tokens)
    value = str(said).lower()
    assert find_lie(forged, run.proof) == (
        f"its search.{name} is {said!r}, the run's {own}: "
        f"if that was asked for, ask for it here too, --set search.{name}={value}"
    )
    asked = run.config.with_values([f"search.{name}={value}"]).search
    assert find_lie(forged, run.proof, search=asked) is None
    assert find_lie(true, run.proof, search=asked) == (
        f"its search.{name} is {getattr(run.config.search, name)!r}, not {said!r} as asked for"
    )
    assert find_lie(true, run.proof, search=run.config.search) is None


def test_settings_that_only_choose_may_be_claimed_but_not_against_what_was_asked() -> None:
    run, true = maker("full"), honest("full")
    for name, said in [("start_neighbors", 50), ("choose", "likelihood"), ("slots_first", False)]:
        forged = replace(true, search={**(true.search or {}), name: said})
        assert find_lie(forged, run.proof) is None
        assert f"its search.{name} is {said!r}, not" in str(
            find_lie(forged, run.proof, search=run.config.search)
        )
    judged = replace(true, search={**(true.search or {}), "judge": "0123456789ab"})
    lie = find_lie(judged, run.proof, search=run.config.search)
    assert lie == "its search.judge is '0123456789ab', not '' as asked for"
    lie = find_lie(replace(true, search=None, weights=None), run.proof, search=None)
    assert lie == "it does not say its search settings"


def test_a_table_that_is_too_long_abstains_and_says_why() -> None:
    run, true = maker("full"), honest("full")
    short = run.config.with_values(["search.max_table_tokens=3"]).search
    made = next(run.generate_many([true.table], search=short, progress=False))
    assert (made.status, find_lie(made, run.proof)) == ("abstained", None)
    count = len(true.sources.table.tokens)
    why = f"the table has {count} tokens; search.max_table_tokens allows 3"
    forged = replace(true, search={**(true.search or {}), "max_table_tokens": 3})
    assert find_lie(forged, run.proof) == f"it does not abstain although {why}"
    lie = find_lie(replace(made, reason="nobody knows"), run.proof)
    assert lie == f"it does not abstain although {why}"
    offered = replace(made, sources=replace(made.sources, neighbors=true.sources.neighbors))
    assert find_lie(offered, run.proof) == "it names neighbors although its table is too long"


@pytest.mark.parametrize("kind", ["full", "lrt", "swap"])
def test_neighbors_of_a_predicate_are_found_again_if_it_is_given(tmp_path: Path, kind: str) -> None:
    run, true = maker(kind), honest(kind)
    first = true.sources.neighbors[0].id
    rule = NeighborsWhere("another", lambda neighbor: neighbor.id != first)
    made = run.generate(true.table, rules=[rule])
    row = json.loads(row_text(made))
    assert verdict(tmp_path, row, kind, [rule]) is None
    assert verdict(tmp_path, row, kind) is None
    forged = replace(true, rules=(rule.to_dict(),))
    assert find_lie(forged, run.proof) is None  # nothing in a file can tell
    lie = find_lie(forged, run.proof, asked=[rule])
    assert lie == f"the rule neighbors-where does not admit neighbor {first!r}"
    other = NeighborsWhere("another", lambda _: True)
    lie = find_lie(made, run.proof, asked=[other])
    assert "the run offers" in str(lie) or "swapping again" in str(lie)
    said = CliRunner().invoke(app, ["verify", str(tmp_path / "rows.jsonl")]).output
    assert "; whether neighbors-where admits the neighbors of 1 row, and only these." in said


def test_settings_without_a_run_are_refused_by_the_command(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text(row_text(honest("full")), encoding="utf-8")
    done = CliRunner().invoke(app, ["verify", str(path), "--set", "search.max_splices=20"])
    said = "--set: the other settings of the search are those of a run. Name it with --run."
    assert str(done.exception) == said


# One random change

# What can't be known, and why (docs/formats.md); everything else must be refused.
FREE = {
    "id": "only --tables knows it",
    "score": "only the policy knows it",
    "alternatives": "only the policy knows them",
}
FREE_IF_ABSTAINED = {"reason": "only a new search knows which obstacle was the last"}
FREE_IF_CHECKED = {"doubts": "what the checker and the judge said is not asked again"}

# Ways to make a row: the policy, and the rules.
CASES: dict[str, tuple[str, list[Rule]]] = {
    **{kind: (kind, []) for kind in KINDS},
    **{
        f"{kind} under rules": (kind, [RequireFields(["name"]), ForbidWords(["zebra"]), MaxSentences(3)])
        for kind in ("swap", "full")
    },
    "full, approved": ("full", [ApprovedNeighbors([n.id for n in honest("full").sources.neighbors])]),
    "swap, abstained": ("swap", [ForbidWords(["."])]),
    "lrt, abstained": ("lrt", [MinSentences(40)]),
}


@cache
def made_in(case: str) -> str:
    """The row of a case as JSON."""
    kind, rules = CASES[case]
    found = maker(kind).generate_many(tables()[:12], rules=rules, progress=False)
    wanted = "abstained" if "abstained" in case else "ok"
    return row_text(next(g for g in found if (g.status == "abstained") == (wanted == "abstained")))


def places(value: object, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """The paths of all values inside a value."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        yield (*path, key)
        yield from places(inner, (*path, key))


SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 40),
    st.integers(),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(max_size=8),
    st.sampled_from(["\x00", "\x02", "\x03", "\x1a", " ", "the", "ok", "full", "swap", "exact"]),
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
)


def changed(draw: st.DrawFn, row: Row) -> tuple[tuple[str | int, ...], Row]:
    """A copy of a row with one change, and where it was made."""
    row = copy.deepcopy(row)
    path = draw(
        st.sampled_from(sorted(places(row), key=lambda p: (p[0] in ("provenance", "sources"), str(p))))
    )
    if draw(st.booleans()):  # most paths are in provenance and sources
        path = path[:1]
    holder: Any = row
    for key in path[:-1]:
        holder = holder[key]
    last = path[-1]
    value = holder[last]
    match draw(st.sampled_from(["delete", "replace", "nudge", "add", "swap", "type"])):
        case "delete":
            del holder[last]
        case "replace":
            holder[last] = draw(VALUES)
        case "nudge" if isinstance(value, bool):
            holder[last] = not value
        case "nudge" if isinstance(value, (int, float)):
            holder[last] = value + draw(st.sampled_from([-1, 1, 2, 0.5]))
        case "nudge" if isinstance(value, str):
            holder[last] = draw(
                st.sampled_from([value + " ", value[1:], value + value, value.upper(), f"\u00ad{value}"])
            )
        case "add" if isinstance(value, dict):
            value[draw(st.text(max_size=4))] = draw(VALUES)
        case "add" if isinstance(value, list):
            new = (
                copy.deepcopy(draw(st.sampled_from(value))) if value and draw(st.booleans()) else draw(VALUES)
            )
            value.insert(draw(st.integers(0, len(value))), new)
        case "swap" if isinstance(holder, list):
            other = draw(st.integers(0, len(holder) - 1))
            holder[last], holder[other] = holder[other], holder[last]
        case "swap":
            other = draw(st.sampled_from(sorted(holder)))
            holder[last], holder[other] = holder[other], holder[last]
        case _:
            holder[last] = draw(st.sampled_from([[value], {"value": value}, str(value), None]))
    return path, row


@pytest.mark.parametrize("case", CASES)
@given(data=st.data())
@settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))
def test_any_one_change_is_refused_or_is_of_what_can_not_be_known(
    tmp_path: Path, case: str, data: st.DataObject
) -> None:
    kind, rules = CASES[case]
    true = json.loads(made_in(case))
    path, row = data.draw(st.composite(changed)(true))
    assume(json.dumps(row, sort_keys=True) != json.dumps(true, sort_keys=True))
    for key in ("score",):  # -1 and -1.0 are one number
        assume(row.get(key) != true[key] or type(row.get(key)) is type(true[key]) or path[0] != key)
    said = verdict(tmp_path, row, kind, rules, maker(kind).config.search)
    for key in ("seams", "doubts"):
        if row.get(key) is None and row == {each: true[each] for each in true if each != key}:
            assert key == "seams" or said is not None or not true["doubts"]
            return  # a row of an earlier version does not say them
    free = FREE | (FREE_IF_ABSTAINED if true["status"] == "abstained" else {})
    if any(doubt["why"] in ("slot", "judge") for doubt in true.get("doubts") or ()):
        free |= FREE_IF_CHECKED
    if said is None and path[0] not in free:
        # Empty fields and the white space of values that are not copied are no part of what a policy reads.
        assert path[0] == "table", (path, row)
        now, then = (Table.from_record(each["table"]) for each in (row, true))
        assert linearize(now) == linearize(then)


@pytest.mark.parametrize("case", CASES)
def test_the_rows_that_are_changed_are_honest(tmp_path: Path, case: str) -> None:
    kind, rules = CASES[case]
    assert verdict(tmp_path, made_in(case), kind, rules, maker(kind).config.search) is None


def test_a_row_without_settings_is_refused_if_some_were_asked_for() -> None:
    run = maker("full")
    lie = find_lie(replace(honest("full"), search=None), run.proof, search=run.config.search)
    assert lie == "it does not say its search settings"


def test_a_derivation_that_comes_back_to_a_canvas() -> None:
    true = honest("full")
    origin = true.provenance[0]
    other = next(
        (source, position)
        for source in range(1, 1 + len(true.sources.neighbors))
        for position, token in enumerate(true.sources[source])
        if token == true.tokens[0] and (source, position) != origin[:2]
    )
    again = Splice(1, 2, other[0], other[1], other[1] + 1)
    row = make_generation(
        id=true.id,
        table=true.table,
        sources=true.sources,
        splices=(*true.splices, again),
        score=true.score,
        status="ok",
        policy=true.policy,
        run=true.run,
        tokenizer=true.tokenizer,
        search={**(true.search or {}), "max_splices": 50},
        weights=true.weights,
    )
    assert str(find_lie(row)).endswith("makes a canvas that was there before")


@pytest.mark.parametrize(
    "word", ["This.Is-a,whole!sentence?", "in\u2800one word", "\u200b", "x\u202ey", "e\u0301", "日本語の文。"]
)
def test_words_that_are_not_one_token(word: str) -> None:
    lie = find_lie(spelled("full", [999_999], {999_999: word}))
    assert lie == f"word 999999, {word!r}, is not one word"
