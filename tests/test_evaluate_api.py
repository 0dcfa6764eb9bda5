"""`evaluate` as a function gives what the command prints."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from report_examples import generation, neighbor
from textsplice.cli import evaluate as evaluate_command
from textsplice.errors import InputError
from textsplice.evaluate import evaluate
from textsplice.evaluate.outputs import read_items
from textsplice.oracle.splice import Splice
from textsplice.search.generation import Generation


@pytest.fixture(scope="module")
def generations() -> list[Generation]:
    """A text for each dev table of the bundled corpus: its reference without the last words."""
    found: list[Generation] = []
    for item in read_items("bundled", "dev"):
        assert item.table is not None
        source = neighbor("n", " ".join(item.references[0].split()[:-2]))
        made = generation(item.table.to_record(), [source], [Splice(0, 0, 1, 0, len(source.tokens))])
        found.append(replace(made, id=item.ids[0]))
    return found


def written(path: Path, generations: list[Generation]) -> Path:
    path.write_text("".join(json.dumps(each.to_dict()) + "\n" for each in generations), encoding="utf-8")
    return path


def test_a_file_or_generations_give_the_same_numbers_as_the_command(
    generations: list[Generation], tmp_path: Path
) -> None:
    path = written(tmp_path / "out.jsonl", generations)
    app = typer.Typer()
    evaluate_command.register(app)
    options = ["--references", "bundled", "--split", "dev", "--metrics", "BLEU,NIST", "--json"]
    printed = CliRunner().invoke(app, [str(path), *options])
    [expected] = json.loads(printed.stdout)["systems"]
    of_file = evaluate(path, "bundled", "dev", metrics=["BLEU", "NIST"])
    assert json.loads(json.dumps(of_file.to_dict())) == expected
    assert of_file.scores == {score["metric"]: score["value"] for score in expected["scores"]}
    of_list = evaluate(iter(generations), "bundled", "dev", metrics=["BLEU", "NIST"])
    assert of_list.to_dict() == {**of_file.to_dict(), "name": "generations"}
    assert of_list.slots is not None
    assert of_list.slots.error_rate > 0
    assert of_list.lexicon == "bundled"


def test_slots_are_checked_with_another_lexicon_or_not_at_all(generations: list[Generation]) -> None:
    as_written = evaluate(generations, "bundled", metrics=["BLEU"], lexicon="values")
    assert as_written.lexicon == "values"
    without = evaluate(generations, "bundled", metrics=["BLEU"], lexicon="none")
    assert without.slots is None
    assert without.scores == as_written.scores


def test_missing_outputs_are_an_error_unless_a_part_is_asked_for(generations: list[Generation]) -> None:
    with pytest.raises(InputError, match=r"^there are outputs for 3 of \d+ tables"):
        evaluate(generations[:3], "bundled", metrics=["BLEU"])
    assert evaluate(generations[:3], "bundled", metrics=["BLEU"], partial=True).items == 3
