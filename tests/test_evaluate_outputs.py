"""Outputs find their references by table or id, and what is wrong with them is said with its place."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from textsplice.cli import evaluate as evaluate_command
from textsplice.corpus.table import Example, Table
from textsplice.errors import InputError
from textsplice.evaluate.outputs import Item, items_of, match, read_items, read_outputs

PUB = Table.of({"name": "The Vaults", "eatType": "pub"})
CAFE = Table.of({"name": "Cotto", "eatType": "coffee shop"})
EXAMPLES = [
    Example("dev:1", PUB, "The Vaults is a pub."),
    Example("dev:2", CAFE, "Cotto is a coffee shop."),
    Example("dev:3", PUB, "A pub is The Vaults."),
]


def write(path: Path, *rows: dict[str, object]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def test_all_texts_of_a_table_are_its_references() -> None:
    assert items_of(EXAMPLES) == [
        Item(("dev:1", "dev:3"), PUB, ("The Vaults is a pub.", "A pub is The Vaults.")),
        Item(("dev:2",), CAFE, ("Cotto is a coffee shop.",)),
    ]


def test_outputs_in_another_order_are_matched_by_table(tmp_path: Path) -> None:
    # The fields stand in another order too.
    outputs = read_outputs(
        write(
            tmp_path / "out.jsonl",
            {"table": {"eatType": "coffee shop", "name": "Cotto"}, "text": "cafe"},
            {"table": PUB.to_record(), "text": "pub"},
        )
    )
    matched = match(outputs, items_of(EXAMPLES))
    assert matched.texts == ["pub", "cafe"]
    assert [len(texts) for texts in matched.references] == [2, 1]


def test_outputs_without_tables_are_matched_by_any_id_of_the_item(tmp_path: Path) -> None:
    outputs = read_outputs(
        write(tmp_path / "out.jsonl", {"id": "dev:2", "text": "cafe"}, {"id": "dev:3", "text": "pub"})
    )
    assert match(outputs, items_of(EXAMPLES)).texts == ["pub", "cafe"]


def test_a_reference_file_of_ids_in_another_order(tmp_path: Path) -> None:
    references = write(
        tmp_path / "refs.jsonl", {"id": "b", "text": "B"}, {"id": "a", "text": "A"}, {"id": "b", "text": "b"}
    )
    outputs = read_outputs(write(tmp_path / "out.jsonl", {"id": "a", "text": "1"}, {"id": "b", "text": "2"}))
    matched = match(outputs, read_items(str(references), None))
    assert matched.texts == ["2", "1"]
    assert matched.references == [("B", "b"), ("A",)]


def test_an_output_for_each_reference_of_a_table_counts_once(tmp_path: Path) -> None:
    rows = [{"id": e.id, "table": e.table.to_record(), "text": e.table["name"][0]} for e in EXAMPLES]
    assert match(read_outputs(write(tmp_path / "o.jsonl", *rows)), items_of(EXAMPLES)).texts == [
        "The Vaults",
        "Cotto",
    ]


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (
            [{"id": "dev:1", "text": "x"}],
            "there are outputs for 1 of 2 tables; the first without one has the id 'dev:2'."
            " Score only those with --partial.",
        ),
        (
            [{"id": "dev:9", "text": "x"}],
            "{path}:1: no reference has the id 'dev:9'. Are these the outputs of another split?",
        ),
        (
            [{"table": {"name": "Zizzi"}, "text": "x"}],
            "{path}:1: no reference has the table of this output. Are these the outputs of another split?",
        ),
        (
            [{"id": "dev:1", "text": "x"}, {"id": "dev:1", "text": "y"}],
            "{path}:2: the id 'dev:1' stands twice, first at {path}:1.",
        ),
        (
            [{"id": "dev:1", "text": "x"}, {"id": "dev:3", "text": "y"}],
            "{path}:2: another text for the same table stands at {path}:1."
            " Each table is scored once: keep one output.",
        ),
        ([{"id": "dev:1"}], "{path}:1: there is no 'text' in this row."),
        ([{"text": "x"}], "{path}:1: a row needs 'table' or 'id' to be matched with its references."),
        ([], "{path}: there is no output in this file."),
    ],
)
def test_bad_outputs_are_sentences(tmp_path: Path, rows: list[dict[str, object]], message: str) -> None:
    path = write(tmp_path / "out.jsonl", *rows)
    with pytest.raises(InputError) as raised:
        match(read_outputs(path), items_of(EXAMPLES))
    assert raised.value.sentence() == message.format(path=path)


@pytest.fixture
def command() -> typer.Typer:
    app = typer.Typer()
    evaluate_command.register(app)
    return app


def bundled_outputs(path: Path, *, words: int | None = None) -> Path:
    rows = [
        {"table": item.table.to_record(), "text": " ".join(item.references[0].split()[:words])}
        for item in read_items("bundled", "dev")
        if item.table is not None
    ]
    return write(path, *rows)


def test_the_bundled_corpus_is_scored_with_bleu_alone(tmp_path: Path, command: typer.Typer) -> None:
    outputs = bundled_outputs(tmp_path / "out.jsonl")
    result = CliRunner().invoke(
        command, [str(outputs), "--references", "bundled", "--split", "dev", "--metrics", "BLEU", "--json"]
    )
    assert result.exit_code == 0
    [system] = json.loads(result.stdout)["systems"]
    [bleu] = system["scores"]
    assert bleu["value"] == pytest.approx(1.0)
    counts = [len(item.references) for item in read_items("bundled", "dev")]
    assert bleu["references"] == f"{min(counts)}-{max(counts)}"
    assert system["items"] == len(counts)
    # One writer in twenty leaves a field out.
    assert {error["status"] for row in system["slot_errors"] for error in row["errors"]} == {"missing"}


def test_two_systems_are_compared(tmp_path: Path, command: typer.Typer) -> None:
    short, whole = (
        bundled_outputs(tmp_path / "short.jsonl", words=8),
        bundled_outputs(tmp_path / "whole.jsonl"),
    )
    result = CliRunner().invoke(
        command,
        ["--compare", str(short), str(whole), "--references", "bundled", "--metrics", "BLEU", "--json"],
    )
    [comparison] = json.loads(result.stdout)["comparisons"]
    assert comparison["difference"] > 0.5
    assert comparison["p"] < 0.01


def test_an_empty_output_is_scored_and_said(tmp_path: Path, command: typer.Typer) -> None:
    rows = bundled_outputs(tmp_path / "out.jsonl").read_text().splitlines()
    first = {**json.loads(rows[0]), "text": ""}
    path = tmp_path / "holes.jsonl"
    path.write_text("\n".join([json.dumps(first), *rows[1:]]))
    result = CliRunner().invoke(
        command, [str(path), "--references", "bundled", "--metrics", "BLEU", "--json"]
    )
    assert (
        f"warning: {path}: 1 of {len(rows)} outputs are empty and are scored as empty texts." in result.stderr
    )
    [system] = json.loads(result.stdout)["systems"]
    assert 0.9 < system["scores"][0]["value"] < 1.0
    assert system["slots"]["by_status"]["missing"] >= 4
