"""Rules that name texts of the store: never this one, start from that one."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from search_world import beginner, prepared, tables
from textsplice.cli import app
from textsplice.errors import InputError
from textsplice.search.generation import Generation
from textsplice.search.rules import NeverNeighbors, StartFrom, rules_from_dicts
from textsplice.splicer import Splicer, verify

DRAFTS = 'search.proposers=["drafts"]'


def maker(kind: str) -> Splicer:
    if kind == "swap":
        return Splicer.untrained(prepared())
    return beginner(0.0, 0, DRAFTS, kind="copy") if kind == "drafts" else beginner(kind=kind)


def used(generation: Generation) -> set[str]:
    numbering = generation.sources.numbering
    sources = {place.source for place in generation.provenance if numbering.is_neighbor(place.source)}
    return {generation.sources.neighbors[numbering.rank(source)].id for source in sources}


def first(generation: Generation) -> str:
    numbering = generation.sources.numbering
    return generation.sources.neighbors[numbering.rank(generation.splices[0].neighbor)].id


@pytest.mark.parametrize("rule", [NeverNeighbors(["b", "a"]), StartFrom("a")])
def test_they_are_read_back_from_json(rule: NeverNeighbors | StartFrom) -> None:
    assert rules_from_dicts([json.loads(json.dumps(rule.to_dict()))], "file") == (rule,)


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ({"rule": "never-neighbors", "ids": "a"}, "needs 'ids', a list of strings"),
        ({"rule": "start-from", "id": ["a"]}, "needs 'id', a string"),
        ({"rule": "start-from", "id": "a", "whole": ["b"]}, "does not have the setting 'whole'"),
    ],
)
def test_what_is_wrong_with_them_is_a_sentence(data: object, said: str) -> None:
    with pytest.raises(InputError, match=said):
        rules_from_dicts([data], "file")


@pytest.mark.parametrize("kind", ["swap", "full", "lrt", "drafts"])
def test_a_text_is_never_used_again_once_it_is_forbidden(kind: str) -> None:
    splicer = maker(kind)
    for table in tables()[:4]:
        free = splicer.generate(table)
        assert used(free)
        rule = NeverNeighbors(sorted(used(free)))
        bound = splicer.generate(table, rules=[rule])
        assert bound.text
        assert rule.ids.isdisjoint(neighbor.id for neighbor in bound.sources.neighbors)
        assert rule.ids.isdisjoint(used(bound))
        assert verify(bound, splicer, rules=[rule]) == 1


@settings(max_examples=15, deadline=None)
@given(st.data())
def test_swap_starts_from_the_text_that_is_named_or_says_why_not(data: st.DataObject) -> None:
    splicer = maker("swap")
    name = data.draw(st.sampled_from(splicer.store.ids))
    table = data.draw(st.sampled_from(tables()[:10]))
    found = splicer.generate(table, rules=[StartFrom(name)])
    if found.finished:
        assert first(found) == name
    else:
        assert found.reason is not None
        assert "no neighbor can be used" in found.reason
    assert verify(found, splicer, rules=[StartFrom(name)]) == 1


def test_swap_starts_from_a_text_however_far_it_is() -> None:
    splicer = maker("swap")
    table = tables()[0]
    near = {neighbor.id for neighbor in splicer.generate(table).sources.neighbors}
    texts = [
        splicer.generate(table, rules=[StartFrom(name)]) for name in splicer.store.ids if name not in near
    ]
    started = [found for found in texts if found.text]
    assert started
    assert all(first(found) not in near for found in started)


def test_full_starts_from_the_text_that_is_named_and_others_are_offered_too() -> None:
    splicer = beginner()
    names = splicer.store.ids[5:200:40]
    rows = {name: list(splicer.generate_many(tables()[:4], rules=[StartFrom(name)])) for name in names}
    ended = [(name, row) for name, found in rows.items() for row in found if row.text]
    assert len(ended) >= 10  # a beginner does not end all of its texts
    for name, row in ended:
        assert (first(row), row.sources.neighbors[0].id) == (name, name)
        assert len(row.sources.neighbors) == splicer.config.neighbors.k
        assert verify(row, splicer, rules=[StartFrom(name)]) == 1


def test_full_gives_the_same_text_alone_and_in_a_batch() -> None:
    splicer = beginner()
    rule = StartFrom(splicer.store.ids[7])
    together = [row.text for row in splicer.generate_many(tables()[:5], rules=[rule], progress=False)]
    assert together == [splicer.generate(table, rules=[rule]).text for table in tables()[:5]]


def test_where_nothing_is_started_from_the_reason_says_so() -> None:
    table, rule = tables()[0], StartFrom(prepared().store.ids[0])
    for kind in ("lrt", "drafts"):
        found = maker(kind).generate(table, rules=[rule])
        assert (found.status, found.reason) == ("abstained", f"it does not start from {rule.id!r}")


def test_a_text_that_is_forbidden_is_not_started_from() -> None:
    name = prepared().store.ids[0]
    found = maker("swap").generate(tables()[0], rules=[NeverNeighbors([name]), StartFrom(name)])
    assert found.reason == "no text of the store may be spliced from"


def test_the_command_line_has_both(tmp_path: Path) -> None:
    splicer = maker("swap")
    record = tables()[0]
    free = splicer.generate(record)
    (tmp_path / "one.jsonl").write_text(json.dumps(record.to_record()) + "\n", encoding="utf-8")
    folder, out = str(prepared().folder), tmp_path / "out.jsonl"

    def run(*options: str) -> dict[str, object]:
        given = ["generate", folder, str(tmp_path / "one.jsonl"), "--out", str(out), "-q", *options]
        done = CliRunner().invoke(app, given, catch_exceptions=False)
        assert done.exit_code == 0, done.output
        row = json.loads(out.read_text(encoding="utf-8"))
        checked = ["verify", str(out), "--run", folder, *options]
        assert CliRunner().invoke(app, checked, catch_exceptions=False).exit_code == 0
        out.unlink()
        return row

    never = run("--never", first(free), "--never", "no such text")
    assert never["text"] == splicer.generate(record, rules=[NeverNeighbors([first(free)])]).text != free.text
    other = next(
        name for name in splicer.store.ids if splicer.generate(record, rules=[StartFrom(name)]).status == "ok"
    )
    assert run("--start", other)["text"] == splicer.generate(record, rules=[StartFrom(other)]).text


def test_a_start_that_is_not_there_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "one.jsonl").write_text('{"name": "Hare Law"}\n', encoding="utf-8")
    given = ["generate", str(prepared().folder), str(tmp_path / "one.jsonl"), "--start", "nobody"]
    done = CliRunner().invoke(app, given)
    assert str(done.exception) == "--start: the run has no text with the id 'nobody'."
