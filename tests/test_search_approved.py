"""An approved text of the very same record is given as it is; of any other record it is one neighbor."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

import textsplice
from textsplice import Example, Table
from textsplice.cli import app
from textsplice.errors import VerificationError
from textsplice.oracle.splice import Splice
from textsplice.rules import (
    ApprovedNeighbors,
    CopyOnly,
    ForbidWords,
    KeepSentences,
    MaxSentences,
    MinSentences,
    NeighborsWhere,
    RequireFields,
)
from textsplice.runs import Run
from textsplice.search.generation import Generation
from textsplice.splicer import Splicer
from textsplice.trace import uses
from textsplice.trace.add import add

OLD = Path(__file__).parent / "data" / "version-0.1"
RUNS = OLD / "runs"

# Values as the record has them, in other letters, in part, and not at all: none of it is made otherwise.
RECORD = {"name": "Quill Loft", "craft": "glass blowing", "town": "Tamsford", "day": "Friday"}
FIRST = "Glass blowing? At QUILL LOFT, of course: every Friday."
NEWEST = "The Loft of Tamsford teaches how to blow glass. Come on Friday!"


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run with two approved texts of one record."""
    folder = tmp_path_factory.mktemp("approved")
    table = Table.of(RECORD)
    add(RUNS / "full", [Example("first", table, FIRST)], folder / "one")
    add(folder / "one", [Example("newest", table, NEWEST)], folder / "two")
    return folder / "two"


@pytest.fixture(scope="module")
def splicer(run: Path) -> Splicer:
    return Splicer.load(run)


def changed(splicer: Splicer, *values: str) -> Any:
    return splicer.config.with_values(values).search


def test_the_newest_approved_text_of_the_record_is_the_text(splicer: Splicer) -> None:
    out = splicer.generate(RECORD)
    assert (out.text, out.status, out.policy, out.attribution) == (NEWEST, "ok", "approved", "exact")
    assert [neighbor.id for neighbor in out.sources.neighbors] == ["newest"]
    assert out.splices == (Splice(0, 0, 1, 0, len(out.tokens) + 2),)
    assert {place.source for place in out.provenance} == {1}
    assert out.seams is not None
    assert out.seams.count == 0
    (use,) = uses(out, {"newest"})
    assert (use.start, use.stop) == (0, len(NEWEST))
    assert Generation.from_dict(json.loads(json.dumps(out.to_dict()))) == out


def test_swap_and_every_policy_give_it(run: Path, tmp_path: Path) -> None:
    assert Splicer.untrained(run).generate(RECORD).text == NEWEST
    for kind in ("lrt", "copy"):
        add(RUNS / kind, [Example("a", Table.of(RECORD), FIRST)], tmp_path / kind)
        out = Splicer.load(tmp_path / kind).generate(RECORD)
        assert (out.text, out.policy, out.attribution) == (FIRST, "approved", "exact")
        assert textsplice.verify(out, tmp_path / kind) == 1


def test_a_record_is_the_same_whatever_the_order_of_its_fields_and_with_empty_ones(splicer: Splicer) -> None:
    turned = dict(reversed([*RECORD.items(), ("price", "")]))
    assert splicer.generate(turned).text == NEWEST


ALMOST = (
    {**RECORD, "name": "Quill loft"},
    {**RECORD, "day": "friday"},
    {**RECORD, "town": "Tamsford "},  # read without the space: the same record
    {**RECORD, "price": "low"},
    {**RECORD, "day": ["Friday", "Saturday"]},
    {name: value for name, value in RECORD.items() if name != "day"},
    {("Name" if name == "name" else name): value for name, value in RECORD.items()},
)


@pytest.mark.parametrize("record", ALMOST)
def test_a_record_that_only_nearly_matches_is_written_by_the_policy(
    splicer: Splicer, record: dict[str, object]
) -> None:
    same = Table.of(record) == Table.of(RECORD)
    out = splicer.generate(record)
    assert (out.policy == "approved") == same
    assert same == (record.get("town") == "Tamsford ")


@settings(max_examples=50)
@given(
    st.dictionaries(st.sampled_from([*RECORD, "x"]), st.sampled_from([*RECORD.values(), "", "x"]), min_size=1)
)
def test_it_is_given_for_that_record_alone(record: dict[str, str]) -> None:
    table = Table.of(record)
    store = _store()
    assert bool(store.approved_of(table)) == (table == Table.of(RECORD))


def _store() -> Any:
    store = Run.open(RUNS / "full").store
    tokens = type(store.tokens).from_rows([store.tokens[0]])
    return store.plus(
        ids=["a"],
        texts=["x"],
        tokens=tokens,
        tables=[Table.of(RECORD)],
        offered=store.offered[:1],
        commonness=store.index.row_commonness[:1],
        approved=(len(store),),
    )


def test_texts_of_the_corpus_win_only_if_they_are_approved(tmp_path: Path) -> None:
    store = Run.open(RUNS / "full").store
    example = Example("again", store.tables[5], store.texts[5])
    assert Splicer.untrained(RUNS / "full").generate(example.table).policy == "swap"
    added = add(RUNS / "full", [example], tmp_path / "new")
    assert (added.ids, added.approved, added.duplicates) == ((), (store.ids[5],), 1)
    out = Splicer.untrained(tmp_path / "new").generate(example.table)
    assert (out.text, out.policy, out.sources.neighbors[0].id) == (example.text, "approved", store.ids[5])
    # What was made before is verified by the store as it was before.
    before = Splicer.untrained(RUNS / "full").generate(example.table)
    assert textsplice.verify([before, out], tmp_path / "new") == 2


def test_an_older_text_that_is_approved_again_is_the_newest(run: Path, tmp_path: Path) -> None:
    added = add(run, [Example("x", Table.of(RECORD), FIRST)], tmp_path / "new")
    assert (added.ids, added.approved) == ((), ("first",))
    assert Splicer.untrained(tmp_path / "new").generate(RECORD).text == FIRST


@pytest.mark.parametrize("exclude", ["same-table", "self", "none"])
def test_what_is_excluded_in_training_does_not_matter(splicer: Splicer, exclude: str) -> None:
    config = splicer.config.with_values([f"neighbors.exclude={exclude}"])
    made = Splicer(
        store=splicer.store,
        vocabulary=splicer.vocabulary,
        config=config,
        policy=splicer.policy,
        run=splicer.run,
    )
    assert made.generate(RECORD).text == NEWEST


def test_a_text_that_may_not_be_spliced_from_is_given_for_its_own_record(splicer: Splicer) -> None:
    store = replace(splicer.store, offered=splicer.store.offered & False)
    made = Splicer(
        store=store, vocabulary=splicer.vocabulary, config=splicer.config, policy=None, run=splicer.run
    )
    assert made.generate(RECORD).text == NEWEST
    assert made.generate({**RECORD, "day": "Monday"}).status == "abstained"


@pytest.mark.parametrize(
    ("rule", "text"),
    [
        (CopyOnly(), NEWEST),
        (KeepSentences(), NEWEST),
        (MinSentences(2), NEWEST),
        (ForbidWords(["blow"]), FIRST),
        (RequireFields(["town"]), NEWEST),
        (RequireFields(["day"]), NEWEST),
        (ApprovedNeighbors(["first", "w1"]), FIRST),
        (NeighborsWhere("loud", lambda neighbor: "QUILL" in neighbor.text), FIRST),
        (ForbidWords(["Friday"]), None),
        (RequireFields(["name", "town"]), None),
        (ApprovedNeighbors(["w1", "w2", "w3"]), None),
        (MaxSentences(1), None),
    ],
)
def test_rules_refuse_it_like_any_text(splicer: Splicer, run: Path, rule: Any, text: str | None) -> None:
    out = splicer.generate(RECORD, rules=[rule])
    if text is None:
        assert out.policy == "full"
    else:
        assert (out.text, out.policy) == (text, "approved")
    assert textsplice.verify(out, run, rules=[rule]) == 1


def test_a_setting_says_not_to(splicer: Splicer, run: Path) -> None:
    search = changed(splicer, "search.approved_first=false")
    (out,) = splicer.generate_many([RECORD], search=search, progress=False)
    assert out.policy == "full"
    assert out.search is not None
    assert out.search["approved_first"] is False
    assert "newest" in {neighbor.id for neighbor in out.sources.neighbors}
    assert textsplice.verify(out, run) == 1
    usual = splicer.generate(RECORD)
    assert usual.search is not None
    assert "approved_first" not in usual.search  # as before


def test_style_and_judges_have_no_say(splicer: Splicer) -> None:
    values = ("search.avoid=['blow']", "search.whole_sentences=true", "search.seams=1.0")
    (out,) = splicer.generate_many([RECORD], search=changed(splicer, *values), progress=False)
    assert out.text == NEWEST


def test_the_others_of_a_batch_are_what_they_are_alone(splicer: Splicer) -> None:
    tables = [example.table for example in textsplice.read_corpus(str(OLD / "corpus"), "dev")][:3]
    mixed: Sequence[Table] = [tables[0], Table.of(RECORD), tables[1], Table.of(RECORD), tables[2]]
    at_once = list(splicer.generate_many(mixed, progress=False))
    alone = [splicer.generate(table) for table in mixed]
    assert [row.policy for row in at_once] == ["full", "approved", "full", "approved", "full"]
    assert [(row.text, row.splices) for row in at_once] == [(row.text, row.splices) for row in alone]
    assert [row.id for row in at_once] == ["0", "1", "2", "3", "4"]


# Verifying


def found_out(row: Generation, run: Path) -> str:
    with pytest.raises(VerificationError) as raised:
        textsplice.verify(row, run)
    return raised.value.what


def test_a_row_that_is_not_the_approved_text_is_found_out(splicer: Splicer, run: Path) -> None:
    search = changed(splicer, "search.approved_first=false")
    (free,) = splicer.generate_many([RECORD], search=search, progress=False)
    usual = splicer.generate(RECORD)
    said = "for its record the run gives the approved text 'newest'"
    assert said in found_out(replace(free, search=usual.search), run)
    older = splicer.generate(RECORD, rules=[ForbidWords(["blow"])])
    assert "the run gives the approved text 'newest' for its record" in found_out(
        replace(older, rules=()), run
    )
    other = replace(usual, table=Table.of({**RECORD, "day": "Monday"}))
    other = replace(other, sources=replace(usual.sources, table=splicer.generate(other.table).sources.table))
    assert "the run has no such text for its record" in found_out(other, run)
    assert "has no such text" in found_out(replace(usual, search=free.search), run)
    assert "it was made with the weights 0" in found_out(replace(usual, weights="0" * 12), run)


def test_a_row_is_checked_in_itself(splicer: Splicer) -> None:
    row = splicer.generate(RECORD)
    assert textsplice.verify(row) == 1
    for change in (
        {"text": f"{row.text}!"},
        {"policy": "swap", "attribution": "least"},
        {"attribution": "most-probable"},
        {"splices": (Splice(0, 0, 1, 0, 3), Splice(3, 3, 1, 3, len(row.tokens) + 2))},
    ):
        with pytest.raises(VerificationError):
            textsplice.verify(replace(row, **change))  # type: ignore[arg-type]


def test_a_predicate_that_no_file_holds_is_taken_as_it_was(splicer: Splicer, run: Path) -> None:
    rules = [NeighborsWhere("loud", lambda neighbor: "QUILL" in neighbor.text)]
    out = Generation.from_dict(json.loads(json.dumps(splicer.generate(RECORD, rules=rules).to_dict())))
    assert out.text == FIRST
    assert textsplice.verify(out, run) == 1


# The commands


def test_a_file_with_approved_texts_is_gone_on_with_and_verified(run: Path, tmp_path: Path) -> None:
    records = [RECORD, {**RECORD, "day": "Monday"}, RECORD]
    tables = tmp_path / "tables.jsonl"
    tables.write_text("".join(json.dumps({"table": record}) + "\n" for record in records))
    out = tmp_path / "rows.jsonl"
    command = ["generate", str(run), str(tables), "--out", str(out)]
    assert CliRunner().invoke(app, command).exit_code == 0
    whole = out.read_text()
    out.write_text("".join(whole.splitlines(keepends=True)[:1]))
    result = CliRunner().invoke(app, [*command, "--resume"])
    assert result.exit_code == 0, result.output
    assert out.read_text() == whole
    result = CliRunner().invoke(app, ["verify", str(out), "--run", str(run), "--tables", str(tables)])
    assert (result.exit_code, "3 verified" in result.output) == (0, True)
    for view in ("terminal", "html", "svg"):
        assert CliRunner().invoke(app, ["explain", str(out), "--as", view]).exit_code == 0


def test_withdrawing_an_approved_text_makes_its_records_anew(run: Path, tmp_path: Path) -> None:
    rows = [Splicer.load(run).generate(RECORD), Splicer.untrained(run).generate(RECORD)]
    texts = tmp_path / "texts.jsonl"
    texts.write_text("".join(json.dumps(row.to_dict()) + "\n" for row in rows))
    arguments = [
        "--texts",
        str(texts),
        "--out",
        str(tmp_path / "less"),
        "--remade",
        str(tmp_path / "new.jsonl"),
    ]
    result = CliRunner().invoke(app, ["withdraw", str(run), "newest", *arguments])
    assert result.exception is None, result.output
    assert f"newest: 0-{len(NEWEST)}" in result.output
    new = [json.loads(line) for line in (tmp_path / "new.jsonl").read_text().splitlines()]
    assert [row["text"] for row in new] == [FIRST, FIRST]
    arguments = ["--texts", str(tmp_path / "new.jsonl"), "--out", str(tmp_path / "none")]
    arguments += ["--remade", str(tmp_path / "last.jsonl")]
    result = CliRunner().invoke(app, ["withdraw", str(tmp_path / "less"), "first", *arguments])
    assert result.exception is None, result.output
    last = [json.loads(line)["policy"] for line in (tmp_path / "last.jsonl").read_text().splitlines()]
    assert last == ["full", "swap"]
    assert textsplice.verify(tmp_path / "last.jsonl", tmp_path / "none") == 2
