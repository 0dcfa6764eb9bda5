"""Doubts: what a person should look at before a text is published."""

from __future__ import annotations

import csv
import json
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

import bicycles
import textsplice
from textsplice import Config, Splicer, Table
from textsplice.cli import app
from textsplice.errors import InputError, VerificationError
from textsplice.prepare.build import prepare
from textsplice.report.document import document
from textsplice.report.marks import marks
from textsplice.search.doubts import (
    IMPROBABLE,
    Doubt,
    Known,
    Unchecked,
    find_doubts,
    judge_doubts,
    reason_of,
    unchecked_values,
)
from textsplice.search.generation import Generation
from textsplice.search.spreadsheet import Spreadsheet
from textsplice.slots.lexicon import Lexicon


@pytest.fixture(scope="module")
def splicer(tmp_path_factory: pytest.TempPathFactory) -> Splicer:
    folder = tmp_path_factory.mktemp("doubts")
    corpus = bicycles.write_csv(folder / "offers.csv", 120, text_column="text")
    config = Config().with_values(
        [f"corpus.source={corpus}", 'corpus.kinds=["auto"]', f"output.prepared={folder / 'prepared'}"]
    )
    return Splicer.untrained(prepare(config, quiet=True))


def record(splicer: Splicer, **changes: str) -> dict[str, str | list[str]]:
    return {**splicer.store.tables[0].to_record(), **changes}


def whys(row: Generation) -> set[str]:
    return {doubt.why for doubt in row.doubts or ()}


def test_a_text_of_a_known_record_is_not_doubtful(splicer: Splicer) -> None:
    rows = list(splicer.generate_many(splicer.store.tables[:30], progress=False))
    fine = [row for row in rows if row.status == "ok"]
    assert len(fine) > 15
    assert all(row.doubts == () and row.reason is None and row.finished for row in fine)
    assert textsplice.verify(rows, splicer) == len(rows)


def test_an_unknown_field_and_an_unknown_choice_are_doubted(splicer: Splicer) -> None:
    row = splicer.generate(record(splicer, kind="space ship", owner="Ann"))
    assert row.status == "doubtful"
    assert row.finished
    assert {"field", "value"} <= whys(row)
    assert "no record of the store has the field 'owner'" in (row.reason or "")
    assert "no record of the store has 'space ship' as its kind" in (row.reason or "")
    assert "value" not in whys(splicer.generate(record(splicer, kind="City  BIKE")))
    # A code is unsaid, and a price is no choice among a few: new ones are not doubted.
    assert "value" not in whys(splicer.generate(record(splicer, code="BX-1", price="£1,234")))


def test_what_is_not_said_is_doubted(splicer: Splicer) -> None:
    table = Table.of({"maker": "Esker", "model": "Tern", "extras": ["a bell", "dynamo lights"]})
    known = splicer._offers.known
    (doubt,) = find_doubts("The Esker Tern comes with a bell and dynamo.", table, None, known)
    assert doubt == Doubt("slot", "extras (dynamo lights) is missing")
    assert not find_doubts("The Esker Tern comes with a bell and dynamo lights.", table, None, known)


def test_a_text_that_the_judge_finds_improbable_is_doubted() -> None:
    assert not list(judge_doubts(None))
    assert not list(judge_doubts(IMPROBABLE))
    (doubt,) = judge_doubts(IMPROBABLE - 0.5)
    assert doubt.why == "judge"


def test_doubts_survive_the_file_and_are_checked(splicer: Splicer) -> None:
    row = splicer.generate(record(splicer, owner="Ann"))
    data = json.loads(json.dumps(row.to_dict()))
    again = Generation.from_dict(data)
    assert again == replace(row, table=again.table)
    assert textsplice.verify(row, splicer) == 1
    lies = {
        "does not say that no record": replace(row, status="ok", reason=None, doubts=()),
        "does not say that no record of": replace(row, status="ok", reason=None, doubts=None, seams=None),
        "it is ok, yet has doubts": replace(row, status="ok", reason=None),
        "it is doubtful, yet has none": replace(row, doubts=()),
        "reason is not what": replace(row, reason="all is well"),
        "a doubt that the run does not have": row.with_doubts((*(row.doubts or ()), Doubt("field", "x"))),
        "a place that it does not have": row.with_doubts((Doubt("slot", "x", 3, 10_000),)),
    }
    for message, lie in lies.items():
        with pytest.raises(VerificationError, match=message):
            textsplice.verify(lie, splicer)
    # Rows of older versions say nothing of doubts.
    fine = splicer.generate(splicer.store.tables[0])
    assert fine.doubts == ()
    assert textsplice.verify(replace(fine, doubts=None), splicer) == 1
    with pytest.raises(InputError, match="one of field, value, slot, seam, judge"):
        Generation.from_dict({**data, "doubts": [{"why": "mood", "what": "x"}]})


def test_a_lexicon_decides_what_is_said(splicer: Splicer, tmp_path: Path) -> None:
    path = tmp_path / "worded.toml"
    path.write_text('[kind]\n[kind.wordings]\n"city bike" = ["town cycle"]\n')
    table = Table.of({"kind": "city bike"})
    known = splicer._offers.known
    text = "A town cycle."
    assert find_doubts(text, table, None, known)
    assert not find_doubts(text, table, None, known, Lexicon.load(path))


def test_a_value_whose_wordings_are_not_all_known_is_unchecked_and_never_right(tmp_path: Path) -> None:
    path = tmp_path / "worded.toml"
    path.write_text(
        '[state]\nkind = "worded"\npartial = ["used"]\n'
        '[state.wordings]\nnew = ["out of the box"]\nused = ["well loved"]\n'
    )
    lexicon, known = Lexicon.load(path), Known(frozenset({"state"}), {}, {"state": "worded"})

    def found(text: str, state: str) -> tuple[bool, list[str]]:
        table = Table.of({"state": state})
        unchecked = unchecked_values(text, table, known, lexicon)
        return bool(find_doubts(text, table, None, known, lexicon)), [each.value for each in unchecked]

    assert found("A bicycle.", "new") == (True, [])  # all its wordings are known, so it is missing
    assert found("A bicycle.", "used") == (False, ["used"])
    assert found("A bicycle.", "repaired") == (False, ["repaired"])  # no wording is known
    assert found("A well loved bicycle.", "used") == (False, [])
    assert found("A repaired bicycle.", "repaired") == (False, [])
    assert found("A bicycle out of the box.", "repaired") == (True, [])


def test_rows_and_views_and_spreadsheets_show_what_is_unchecked(splicer: Splicer, tmp_path: Path) -> None:
    fine = splicer.generate(splicer.store.tables[0])
    row = fine.with_doubts((), (Unchecked("maker", dict(fine.table.fields)["maker"][0]),))
    assert row.status == "ok"
    data = json.loads(json.dumps(row.to_dict()))
    assert Generation.from_dict(data).unchecked == row.unchecked
    assert "unchecked" not in fine.with_doubts(()).to_dict()
    assert textsplice.verify(row, splicer) == 1
    shown = dict(zip((cell.field for cell in document(row).cells), marks(document(row)), strict=True))
    assert shown["maker"].sign == "?"
    with (tmp_path / "texts.csv").open("w+", encoding="utf-8") as file:
        Spreadsheet(file, tmp_path / "texts.csv", ["model"]).write(row)
        file.seek(0)
        (cells,) = csv.DictReader(file)
    assert cells["unchecked"] == f"maker: {row.unchecked[0].value}"
    with pytest.raises(VerificationError, match="unchecked, which its record does not have"):
        textsplice.verify(replace(row, unchecked=(Unchecked("maker", "Nobody"),)), splicer)
    told = "the policy did not end the text"
    with pytest.raises(VerificationError, match="unfinished, yet says what is unchecked"):
        textsplice.verify(replace(row, status="unfinished", reason=told, doubts=None), splicer)


def test_the_same_doubt_is_told_once() -> None:
    seams = [Doubt("seam", "nobody wrote that", 0, 1), Doubt("seam", "nobody wrote that", 5, 6)]
    assert reason_of([*seams, Doubt("slot", "x is missing")]) == "nobody wrote that; x is missing"


def test_the_command_counts_doubtful_texts(splicer: Splicer, tmp_path: Path) -> None:
    records = tmp_path / "new.jsonl"
    records.write_text(json.dumps({"table": record(splicer, owner="Ann")}) + "\n")
    prepared = splicer._origin
    out = tmp_path / "texts.csv"
    command = ["generate", str(prepared.folder), str(records), "--out", str(out)]  # type: ignore[union-attr]
    result = CliRunner().invoke(app, command)
    assert result.exit_code == 0, result.output
    assert "1 doubtful" in result.output
    assert "doubtful" in out.read_text()
