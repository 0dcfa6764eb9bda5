"""Outputs find their references by table or id, and what is wrong with them is said with its place."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from textsplice.cli import evaluate as evaluate_command
from textsplice.cli import generate as generate_command
from textsplice.config import Config
from textsplice.corpus.table import Example, Table
from textsplice.errors import ConfigError, CorpusError, InputError
from textsplice.evaluate.outputs import Item, items_of, match, read_items, read_outputs
from textsplice.prepare import prepare

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
            "there are outputs for 1 of 2 tables; the first table without one has the id 'dev:2'."
            " Score only tables with an output: --partial.",
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
            "{path}:2: the id 'dev:1' appears twice, first at {path}:1.",
        ),
        (
            [{"id": "dev:1", "text": "x"}, {"id": "dev:3", "text": "y"}],
            "{path}:2: there is another text for the same table at {path}:1."
            " Each table is scored once: keep one output.",
        ),
        ([{"id": "dev:1"}], "{path}:1: this row has no 'text'."),
        ([{"text": "x"}], "{path}:1: a row needs 'table' or 'id' to be matched with its references."),
        ([], "{path}: this file has no outputs."),
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


@pytest.fixture(scope="module")
def one_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Sixty tables in one file, two texts each, in a column that is not called `text`."""
    rows = [
        {"table": {"name": f"Route {n}", "length": f"{n} km"}, "said": said.format(n)}
        for n in range(60)
        for said in ("Route {0} is {0} km long.", "{0} km is the length of Route {0}.")
    ]
    return write(tmp_path_factory.mktemp("one") / "mine.jsonl", *rows)


@pytest.fixture(scope="module")
def prepared(one_file: Path) -> Path:
    config = Config().with_values([f'corpus.source="{one_file}"', "corpus.text_column=said"])
    return prepare(config, folder=one_file.parent / "prepared", threads=1, quiet=True).folder


def invoke(command: typer.Typer, *arguments: str | Path) -> tuple[dict[str, list[dict[str, object]]], str]:
    result = CliRunner().invoke(command, [str(argument) for argument in arguments])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout) if result.stdout else {}, result.stderr


@pytest.mark.parametrize("split", ["train", "dev", "test"])
def test_one_file_is_cut_as_prepare_cuts_it(one_file: Path, prepared: Path, split: str) -> None:
    items = read_items(str(one_file), split, text_column="said")
    assert items == read_items(str(prepared), split)
    assert 0 < len(items) < 60
    assert all(len(item.references) == 2 for item in items)


def test_all_rows_of_one_file_are_scored_only_if_asked_for(
    one_file: Path, prepared: Path, tmp_path: Path, command: typer.Typer
) -> None:
    everything = read_items(str(one_file), "all", text_column="said")
    assert len(everything) == 60
    dev = read_items(str(prepared), "dev")
    outputs = write(
        tmp_path / "all.jsonl",
        *({"table": item.table.to_record(), "text": "x"} for item in everything if item.table is not None),
    )
    asked = (outputs, "--references", one_file, "--text-column", "said", "--metrics", "BLEU", "--json")
    with pytest.raises(InputError, match=r"no reference has the table of this output\."):
        invoke(command, *asked)
    found, told = invoke(command, *asked, "--split", "all")
    assert found["systems"][0]["items"] == 60
    assert found["systems"][0]["scores"][0]["data"] == f"{one_file}/all"
    assert told == ""
    some = write(
        tmp_path / "dev.jsonl",
        *({"table": item.table.to_record(), "text": "x"} for item in dev if item.table is not None),
    )
    found, told = invoke(command, some, *asked[1:])
    assert found["systems"][0]["items"] == len(dev)
    assert told == (
        f"{one_file} is a single file: only the tables that `prepare` puts into dev are scored."
        " --split all scores every row.\n"
    )


def test_what_generate_writes_for_a_split_of_one_file_is_scored(
    one_file: Path, prepared: Path, tmp_path: Path, command: typer.Typer
) -> None:
    generate = typer.Typer()
    generate_command.register(generate)
    options = ("--split", "dev", "--distinct", "--out", tmp_path / "dev.jsonl", "--quiet")
    invoke(generate, prepared, one_file, *options)
    asked = (tmp_path / "dev.jsonl", "--metrics", "BLEU", "--json", "--references")
    by_file, _ = invoke(command, *asked, one_file, "--text-column", "said")
    by_folder, _ = invoke(command, *asked, prepared)
    [one], [other] = by_file["systems"], by_folder["systems"]
    assert one["items"] == other["items"] == len(read_items(str(prepared), "dev"))
    assert one["scores"][0]["hash"] == other["scores"][0]["hash"]
    assert one["scores"][0]["value"] == other["scores"][0]["value"]


def test_a_split_that_one_file_does_not_have_is_a_sentence(one_file: Path, tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match=r"unknown split 'tset'\. Say train, dev or test, or all for every"):
        read_items(str(one_file), "tset")
    tiny = write(tmp_path / "tiny.jsonl", {"table": {"name": "Route 2", "length": "2 km"}, "text": "x"})
    assert len(read_items(str(tiny), "train")) == 1
    with pytest.raises(InputError, match=r"no table of this file is in the split 'dev', .* --split all\.$"):
        read_items(str(tiny), "dev")


def test_a_prepared_folder_has_no_other_text_column(prepared: Path) -> None:
    with pytest.raises(ConfigError, match=r"^--text-column: a prepared folder already has its texts\.$"):
        read_items(str(prepared), "dev", text_column="said")


def test_slots_of_any_corpus_are_checked_as_written(
    prepared: Path, tmp_path: Path, command: typer.Typer
) -> None:
    items = read_items(str(prepared), "dev")
    texts = [item.references[0] for item in items]
    # Another route's length, and no length at all.
    texts[0], texts[1] = (
        texts[0].split(" is ")[0] + " is " + texts[2].split(" is ")[1],
        texts[1].split(" is ")[0],
    )
    outputs = write(
        tmp_path / "out.jsonl",
        *(
            {"table": item.table.to_record(), "text": text}
            for item, text in zip(items, texts, strict=True)
            if item.table is not None
        ),
    )
    asked = (outputs, "--references", prepared, "--metrics", "BLEU")
    found, _ = invoke(command, *asked, "--json")
    [system] = found["systems"]
    assert system["lexicon"] == "values"
    errors = [error for row in system["slot_errors"] for error in row["errors"]]
    assert [(error["field"], error["status"]) for error in errors] == [
        ("length", "wrong"),
        ("length", "missing"),
    ]
    named, _ = invoke(command, *asked, "--lexicon", "values", "--json")
    assert named == found
    without, _ = invoke(command, *asked, "--lexicon", "none", "--json")
    assert without["systems"][0]["slots"] is None
    shown = CliRunner().invoke(command, [str(argument) for argument in asked], env={"COLUMNS": "200"})
    assert ", values as written" in " ".join(shown.stdout.split())


def test_references_without_tables_are_scored_and_slots_are_said_to_be_left_out(
    tmp_path: Path, command: typer.Typer
) -> None:
    references = write(tmp_path / "refs.jsonl", {"id": "a", "said": "A b c d."})
    outputs = write(tmp_path / "out.jsonl", {"id": "a", "text": "A b c d."})
    asked = (outputs, "--references", references, "--text-column", "said", "--metrics", "BLEU", "--json")
    found, told = invoke(command, *asked)
    [system] = found["systems"]
    assert system["slots"] is None
    assert system["scores"][0]["value"] == pytest.approx(1.0)
    assert system["scores"][0]["data"] == str(references)
    assert told == "slots are not checked: the references have no tables.\n"


def test_what_generate_writes_as_a_spreadsheet_is_scored_alike(
    one_file: Path, prepared: Path, tmp_path: Path, command: typer.Typer
) -> None:
    generate = typer.Typer()
    generate_command.register(generate)
    values: list[float] = []
    for name in ("dev.jsonl", "dev.csv", "dev.tsv"):
        invoke(generate, prepared, one_file, "--split", "dev", "--out", tmp_path / name, "--quiet")
        asked = (tmp_path / name, "--metrics", "BLEU", "--json", "--references", one_file)
        found, _ = invoke(command, *asked, "--text-column", "said")
        values.append(found["systems"][0]["scores"][0]["value"])
    assert len(set(values)) == 1
    (tmp_path / "other.csv").write_text("a,b\n1,2\n")
    with pytest.raises(InputError, match="there is no column 'id'"):
        read_outputs(tmp_path / "other.csv")
