"""The published JSON Schemas fit the files that the program writes, and refuse broken ones."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from typer.testing import CliRunner

from report_examples import bakery
from textsplice import Splicer, schemas
from textsplice.cli import app
from textsplice.config import Config
from textsplice.corpus import read_corpus
from textsplice.prepare import prepare
from textsplice.report.document import document
from textsplice.runs import export_run
from textsplice.training import train

TINY = [
    "corpus.drop_duplicates=true",
    "text.lexicon=bundled",
    "neighbors.k=3",
    "policy.d_model=16",
    "policy.encoder_layers=1",
    "policy.decoder_layers=1",
    "policy.heads=2",
    "policy.ffn=16",
    "training.max_steps=2",
    "training.batch_sequences=2",
    "training.validate_sequences=2",
    "training.processes=1",
]


@pytest.fixture(scope="module")
def config(tmp_path_factory: pytest.TempPathFactory) -> Config:
    """A tiny corpus prepared and trained on for two steps."""
    folder = tmp_path_factory.mktemp("schemas")
    for split, rows in (("train", 60), ("dev", 8), ("test", 8)):
        examples = list(read_corpus("bundled", split=split))[:rows]
        lines = [json.dumps({"table": e.table.to_record(), "text": e.text}) for e in examples]
        (folder / f"{split}.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    made = Config().with_values(
        [*TINY, f"corpus.source={folder}", f"output.prepared={folder}/prepared", f"output.run={folder}/run"]
    )
    prepare(made, quiet=True)
    train(made, quiet=True)
    return made


@pytest.fixture(scope="module")
def files(config: Config, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """One real file of each published format."""
    splicer = Splicer.untrained(config.output.prepared)
    tables = [example.table for example in read_corpus("bundled", split="dev")][:8]
    rows = [generation.to_dict() for generation in splicer.generate_many(tables, progress=False)]
    outputs = tmp_path_factory.mktemp("outputs") / "dev.jsonl"
    outputs.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    command = [
        "evaluate",
        "--compare",
        str(outputs),
        str(outputs),
        "--references",
        "bundled",
        "--split",
        "dev",
    ]
    scores = CliRunner().invoke(
        app, [*command, "--partial", "--metrics", "BLEU", "--samples", "100", "--json"]
    )
    assert scores.exit_code == 0, scores.output
    verified = CliRunner().invoke(app, ["verify", str(outputs), "--run", str(config.output.run), "--json"])
    assert verified.exit_code == 3, verified.output  # the run is another store than its prepared folder
    exported = export_run(config.output.run, outputs.parent / "export")
    return {
        "generation": json.loads(json.dumps(rows[0])),
        "derivation": json.loads(json.dumps(document(bakery()).to_dict())),
        "verification": json.loads(verified.stdout),
        "scores": json.loads(scores.stdout),
        "run": json.loads((Path(config.output.run) / "run.json").read_text(encoding="utf-8")),
        "manifest": json.loads((Path(config.output.prepared) / "manifest.json").read_text(encoding="utf-8")),
        "export": json.loads((exported.path / "export.json").read_text(encoding="utf-8")),
    }


def errors(name: str, value: object) -> list[str]:
    return [error.message for error in Draft202012Validator(schemas.load(name)).iter_errors(value)]


@pytest.mark.parametrize("name", schemas.NAMES)
def test_every_schema_is_a_draft_2020_12_schema(name: str) -> None:
    Draft202012Validator.check_schema(schemas.load(name))


@pytest.mark.parametrize("name", schemas.NAMES)
def test_a_real_file_fits_its_schema(name: str, files: dict[str, Any]) -> None:
    assert errors(name, files[name]) == []


def test_rows_that_abstained_fit_the_schema(config: Config) -> None:
    from textsplice.search.rules import RequireFields

    splicer = Splicer.untrained(config.output.prepared)
    row = splicer.generate({"name": "Mill Lane"}, rules=[RequireFields(["price"])]).to_dict()
    assert row["status"] == "abstained"
    assert errors("generation", json.loads(json.dumps(row))) == []


def test_a_trained_policys_row_fits_the_schema(config: Config) -> None:
    row = Splicer.load(config.output.run).generate({"name": "Mill Lane", "length": "3 km"}).to_dict()
    assert row["policy"] == "full"
    assert errors("generation", json.loads(json.dumps(row))) == []


def test_a_run_of_the_first_version_fits_the_schema(files: dict[str, Any]) -> None:
    first = {key: value for key, value in files["run"].items() if key not in ("format", "files", "judge")}
    assert errors("run", first) == []


BROKEN: list[tuple[str, Callable[[Any], None], str]] = [
    ("generation", lambda row: row.pop("provenance"), "'provenance' is a required property"),
    ("generation", lambda row: row["splices"].append([0, 0, 1]), "[0, 0, 1] is too short"),
    ("generation", lambda row: row.update(status="fine"), "'fine' is not one of"),
    ("generation", lambda row: row.update(format="textsplice.generation/9"), "is not one of"),
    ("generation", lambda row: row.update(extra=1), "'extra' was unexpected"),
    ("derivation", lambda row: row.pop("digest"), "'digest' is a required property"),
    ("derivation", lambda row: row["steps"][0].pop("canvas"), "'canvas' is a required property"),
    ("scores", lambda data: data["systems"][0]["scores"][0].pop("signature"), "'signature' is a required"),
    ("scores", lambda data: data["comparisons"][0].update(p=2), "2 is greater than the maximum"),
    ("run", lambda data: data.update(id="me"), "'me' does not match"),
    ("run", lambda data: data.pop("prepared"), "'prepared' is a required property"),
    ("manifest", lambda data: data["stages"]["store"].pop("key"), "'key' is a required property"),
    ("manifest", lambda data: data.update(format=2), "1 was expected"),
]


@pytest.mark.parametrize(
    ("name", "spoil", "told"), BROKEN, ids=lambda value: value if isinstance(value, str) else ""
)
def test_a_broken_file_is_refused(
    name: str, spoil: Callable[[Any], None], told: str, files: dict[str, Any]
) -> None:
    broken = copy.deepcopy(files[name])
    spoil(broken)
    assert any(told in error for error in errors(name, broken)), errors(name, broken)
