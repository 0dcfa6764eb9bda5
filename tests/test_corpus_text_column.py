"""The text column that `prepare` was told is remembered by the commands that read the corpus again."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from textsplice.cli import generate as generate_command
from textsplice.cli import verify as verify_command
from textsplice.config import Config
from textsplice.errors import CorpusError, VerificationError
from textsplice.evaluate.outputs import read_items
from textsplice.prepare import prepare
from textsplice.runs import Prepared


@pytest.fixture(scope="module")
def mine(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Sixty tables in a CSV file whose texts are in a column that is not called `text`."""
    path = tmp_path_factory.mktemp("mine") / "mine.csv"
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["name", "length", "said"])
        writer.writerows([f"Route {n}", f"{n} km", f"Route {n} is {n} km long."] for n in range(60))
    return path


@pytest.fixture(scope="module")
def prepared(mine: Path) -> Path:
    config = Config().with_values([f'corpus.source="{mine}"', "corpus.text_column=said"])
    return prepare(config, folder=mine.parent / "prepared", threads=1, quiet=True).folder


@pytest.fixture(scope="module")
def commands() -> typer.Typer:
    app = typer.Typer()
    generate_command.register(app)
    verify_command.register(app)
    return app


def invoke(commands: typer.Typer, *arguments: str | Path) -> str:
    result = CliRunner().invoke(commands, [str(argument) for argument in arguments])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == 0, result.output
    return result.stdout


def test_generate_and_verify_read_the_rows_that_prepare_cut(
    mine: Path, prepared: Path, tmp_path: Path, commands: typer.Typer
):
    out = tmp_path / "dev.jsonl"
    invoke(commands, "generate", prepared, mine, "--split", "dev", "--out", out, "--quiet")
    rows = [json.loads(line) for line in out.read_text().splitlines()]
    dev = Prepared.open(prepared).split("dev")
    assert [row["table"] for row in rows] == [dev.tables[n].to_record() for n in dev.table_of]
    assert all(set(row["table"]) == {"name", "length"} for row in rows)
    told = invoke(commands, "verify", out, "--run", prepared, "--tables", mine, "--split", "dev")
    assert f"{len(rows)} rows are what they say" in told
    told = invoke(commands, "verify", out, "--tables", mine, "--split", "dev", "--text-column", "said")
    assert f"{len(rows)} rows are what they say" in told
    # Without the run, nobody remembers which column is the text.
    with pytest.raises(VerificationError):
        invoke(commands, "verify", out, "--tables", mine, "--split", "dev")


def test_tables_without_the_text_column_of_the_run_are_read(
    prepared: Path, tmp_path: Path, commands: typer.Typer
):
    path = tmp_path / "new.csv"
    path.write_text("name,length\nRoute 99,99 km\n")
    row = json.loads(invoke(commands, "generate", prepared, path, "--quiet"))
    assert row["table"] == {"name": "Route 99", "length": "99 km"}


def test_a_text_column_that_is_named_must_be_there(prepared: Path, mine: Path, commands: typer.Typer):
    with pytest.raises(CorpusError, match=r"there is no column 'sad' for the text; did you mean 'said'\?"):
        invoke(commands, "generate", prepared, mine, "--text-column", "sad")


def test_tables_in_another_order_of_fields_are_distinct_once(
    prepared: Path, tmp_path: Path, commands: typer.Typer
):
    rows = [{"table": {"name": "A", "length": "1 km"}}, {"table": {"length": "1 km", "x": None, "name": "A"}}]
    path = tmp_path / "twice.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    out = invoke(commands, "generate", prepared, path, "--distinct", "--quiet")
    assert [json.loads(line)["id"] for line in out.splitlines()] == ["twice:1"]


def test_references_without_texts_ask_for_the_column(mine: Path):
    with pytest.raises(CorpusError) as caught:
        read_items(str(mine), "all")
    assert str(caught.value) == (
        f"{mine}: there is no text here. The columns are name, length, said:"
        " name that of the text with --text-column (corpus.text_column)."
    )
