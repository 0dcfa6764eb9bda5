"""`generate` with people's files: bad rows, standard input, and texts for a spreadsheet."""

from __future__ import annotations

import csv
import io
import json
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from search_world import prepared
from test_inputs_files import complaint, run
from textsplice.corpus import Table
from textsplice.search.generation import Generation
from textsplice.search.spreadsheet import COLUMNS, Spreadsheet
from textsplice.splicer import Splicer


@pytest.fixture(scope="module")
def records() -> list[dict[str, str]]:
    return [
        {name: "|".join(values) for name, values in table if values} for table in prepared().store.tables[:3]
    ]


def as_csv(records: Sequence[dict[str, str]], *, extra: str = "") -> str:
    names = list(dict.fromkeys(name for record in records for name in record))
    file = io.StringIO()
    writer = csv.DictWriter(file, names, restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows(records)
    return file.getvalue() + extra


def as_jsonl(records: Sequence[dict[str, str]], *, extra: str = "") -> str:
    return "".join(json.dumps(record) + "\n" for record in records) + extra


class FakeInput:
    """Standard input with these bytes."""

    def __init__(self, content: bytes) -> None:
        self.buffer = io.BytesIO(content)


def generate(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, list[dict], list[str]]:
    """The exit code, the rows and the lines that were said."""
    code = run("generate", prepared().folder, *arguments)
    said = capsys.readouterr()
    return code, [json.loads(line) for line in said.out.splitlines()], said.err.splitlines()


# -- bad rows --------------------------------------------------------------------------------------


def test_a_bad_row_is_told_and_skipped(
    records: list[dict[str, str]], tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    path = tmp_path / "new.csv"
    path.write_text(as_csv(records, extra="one cell\n,,,,,,,\n") + as_csv(records).split("\n", 1)[1])
    code, rows, said = generate(capsys, path)
    assert code == 0
    assert [row["id"] for row in rows] == ["new:1", "new:2", "new:3", "new:5", "new:6", "new:7"]
    assert said[0].startswith(f"skipped {path}:5: the row has 1 cells, the header ")
    assert said[-1].startswith("standard output: ")
    assert said[-1].endswith("; 1 row was skipped.")


def test_a_record_without_a_value_is_a_bad_row(
    records: list[dict[str, str]], tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    path = tmp_path / "new.jsonl"
    path.write_text(as_jsonl(records[:1], extra='{"name": null, "area": ""}\n[1]\n'))
    code, rows, said = generate(capsys, path, "-q")
    assert (code, len(rows)) == (0, 1)
    assert said == [
        f"skipped {path}, 'new:2': no field of this record has a value.",
        f"skipped {path}:3: the line is not a JSON object. A line looks like"
        ' {"field": "value", "text": "…"} or {"table": {"field": "value"}, "text": "…"}.',
    ]


def test_only_the_first_bad_rows_are_told(
    records: list[dict[str, str]], tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    path = tmp_path / "new.jsonl"
    path.write_text(as_jsonl(records[:1], extra="{\n" * 50))
    _, _, said = generate(capsys, path)
    assert len(said) == 22
    assert said[20] == "… and 30 more."
    assert said[21].endswith("; 50 rows were skipped.")


def test_strict_stops_at_the_first_bad_row_before_any_text(
    records: list[dict[str, str]], tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    path, out = tmp_path / "new.jsonl", tmp_path / "out.jsonl"
    path.write_text(as_jsonl(records * 30, extra="{\n"))
    said = complaint(capsys, "generate", prepared().folder, path, "--out", out, "--strict", "--batch-size", 1)
    assert said.startswith(f"error [corpus]: {path}:91: not valid JSON")
    assert not out.exists()


def test_nothing_but_bad_rows_is_an_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    path = tmp_path / "new.jsonl"
    path.write_text("{\n[\n")
    said = complaint(capsys, "generate", prepared().folder, path, "--out", tmp_path / "out.jsonl")
    assert said.startswith(f"error [corpus]: {path}:1: not valid JSON")
    assert not (tmp_path / "out.jsonl").exists()


def test_verify_and_resume_skip_the_same_rows(
    records: list[dict[str, str]], tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    path, out = tmp_path / "new.jsonl", tmp_path / "out.jsonl"
    path.write_text(as_jsonl(records[:1], extra="{\n") + as_jsonl(records[1:]))
    assert run("generate", prepared().folder, path, "--out", out, "--limit", 2, "-q") == 0
    assert run("generate", prepared().folder, path, "--out", out, "--resume") == 0
    assert "were there already; 1 row was skipped." in capsys.readouterr().err
    assert run("verify", out, "--run", prepared().folder, "--tables", path) == 0
    said = capsys.readouterr()
    assert "3 rows are what they say" in said.out
    assert said.err.startswith(f"skipped {path}:2: not valid JSON")


# -- standard input --------------------------------------------------------------------------------


@pytest.mark.parametrize("form", ["jsonl", "csv", "tsv", "bom"])
def test_records_are_read_from_standard_input(
    form: str,
    records: list[dict[str, str]],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
):
    text = as_jsonl(records, extra="{\n") if form == "jsonl" else as_csv(records, extra="one cell\n")
    text = text.replace(",", "\t") if form == "tsv" else "\ufeff" + text if form == "bom" else text
    monkeypatch.setattr(sys, "stdin", FakeInput(text.encode()))
    code, rows, said = generate(capsys, "-")
    assert code == 0
    assert [row["id"] for row in rows] == ["stdin:1", "stdin:2", "stdin:3"]
    assert said[0].startswith(f"skipped standard input:{4 if form == 'jsonl' else 5}: ")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "error [input]: standard input: there is no record."),
        (b" \n", "error [input]: standard input: there is no record."),
        (b'[{"a": 1}]', "error [input]: standard input: is a JSON array. Send one object per line."),
        (b"\x1f\x8b\x08", "error [input]: standard input: is compressed. Unpack it first: zcat FILE | …"),
        (b"a,a\n1,2\n", "error [corpus]: standard input:1: the column 'a' appears twice in the header."),
        (b"{\n", "error [corpus]: standard input:1: not valid JSON"),
    ],
)
def test_what_can_not_be_read_from_standard_input_is_a_sentence(
    content: bytes, message: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setattr(sys, "stdin", FakeInput(content))
    assert complaint(capsys, "generate", prepared().folder, "-").startswith(message)


def test_the_format_of_standard_input_can_be_named(
    records: list[dict[str, str]], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setattr(sys, "stdin", FakeInput(as_csv(records).encode()))
    said = complaint(capsys, "generate", prepared().folder, "-", "--input-format", "jsonl")
    assert said.startswith("error [corpus]: standard input:1: not valid JSON")
    said = complaint(capsys, "generate", prepared().folder, "-", "--input-format", "cvs")
    assert said == "error [config]: --input-format: there is no format 'cvs'. Did you mean 'csv'?"


# -- texts for a spreadsheet -------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "delimiter"), [("out.csv", ","), ("OUT.TSV", "\t")])
def test_texts_are_written_as_cells_by_the_name_of_the_file(
    name: str,
    delimiter: str,
    records: list[dict[str, str]],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
):
    path = tmp_path / "new.jsonl"
    path.write_text(as_jsonl([*records, {"name": "=1+1", "status": "open", "tags": "a"}]))
    _, rows, _ = generate(capsys, path)
    assert run("generate", prepared().folder, path, "--out", tmp_path / name, "-q") == 0
    with (tmp_path / name).open(newline="", encoding="utf-8") as file:
        header, *written = csv.reader(file, delimiter=delimiter)
    assert tuple(header[:5]) == COLUMNS
    assert [row[:3] for row in written] == [[row["id"], row["text"], row["status"]] for row in rows]
    last = dict(zip(header, written[-1], strict=True))
    assert last["name"] == "'=1+1"
    assert last["table.status"] == "open"
    assert last["tags"] == "a"


def test_cells_are_not_resumed_and_never_overwritten(
    records: list[dict[str, str]], tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    path, out = tmp_path / "new.jsonl", tmp_path / "out.csv"
    path.write_text(as_jsonl(records))
    said = complaint(capsys, "generate", prepared().folder, path, "--out", out, "--resume")
    assert said == (
        f"error [config]: --out {out}: a file of cells does not say how its texts were made, so it can't be"
        " continued. Write JSON lines (--out FILE.jsonl) to be able to --resume."
    )
    out.write_text("mine\n")
    said = complaint(capsys, "generate", prepared().folder, path, "--out", out)
    assert said == f"error [config]: {out}: the file is there already. Name another file."
    assert out.read_text() == "mine\n"


@pytest.mark.parametrize("name", ["out.xlsx", "out.parquet", "out.jsonl.gz"])
def test_a_file_that_is_not_written_is_refused_at_once(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    said = complaint(capsys, "generate", tmp_path / "no-run", "no-tables", "--out", tmp_path / name)
    assert said.endswith(" are not written. Name one that ends in .jsonl, .csv or .tsv.")


def test_commands_that_need_provenance_say_so_of_cells(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    path = tmp_path / "out.csv"
    path.write_text("id,text,status,reason\n1,T.,ok,\n")
    assert "holds texts without their provenance" in complaint(capsys, "verify", path)
    said = complaint(capsys, "trace", prepared().folder, path, "--out", tmp_path / "traces.csv")
    assert said.endswith("this command writes JSON lines. Name a .jsonl file.")


@pytest.fixture(scope="module")
def row() -> Generation:
    return Splicer.untrained(prepared().folder).generate(prepared().store.tables[0])


WORDS = st.text(st.characters(blacklist_categories=["Cs"], blacklist_characters="\0"), max_size=6)


@given(st.lists(st.tuples(WORDS.filter(str.strip), st.lists(WORDS)), max_size=3, unique_by=lambda p: p[0]))
def test_no_value_is_a_formula_or_breaks_a_row(row: Generation, fields: list[tuple[str, list[str]]]):
    table = Table(tuple((name, tuple(values)) for name, values in fields))
    file = io.StringIO()
    sheet = Spreadsheet(file, Path("a.csv"), [name for name, _ in fields])
    sheet.write(replace(row, table=table))
    read = list(csv.reader(io.StringIO(file.getvalue(), newline="")))
    assert [len(cells) for cells in read] == [len(COLUMNS) + len(fields)] * 2
    assert not any(cell.lstrip().startswith(("=", "+", "-", "@")) for cells in read for cell in cells)


# -- drafts ------------------------------------------------------------------------------------------


def test_drafts_are_read_from_cells_with_their_records(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    path = tmp_path / "drafts.csv"
    path.write_text("id,name,text\nd1,Lost Ewe Link,The walk is easy.\n")
    assert run("trace", prepared().folder, path, "-q") == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["id"], found["text"], found["table"]) == (
        "d1",
        "The walk is easy.",
        {"name": "Lost Ewe Link"},
    )
