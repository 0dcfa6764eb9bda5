"""The commands with `--workers` write what they write without, byte for byte, and go on after a crash."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

import textsplice
from textsplice.cli import app
from textsplice.cli.bulk import trace_work
from textsplice.cli.tracers import open_tracer
from textsplice.errors import TextspliceError
from textsplice.prepare import bulk as prepare_bulk
from textsplice.work import answer

WORKERS = ("--workers", "1")


def run(*arguments: str | Path) -> Result:
    result = CliRunner().invoke(app, list(map(str, arguments)))
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Sixty records of the bundled corpus, prepared with and without an engine: the same files."""
    folder = tmp_path_factory.mktemp("engine")
    corpus, config = folder / "records.jsonl", folder / "config.toml"
    examples = list(textsplice.read_corpus("bundled", "train"))[:60]
    rows = [{**example.table.to_record(), "text": example.text} for example in examples]
    corpus.write_text("".join(json.dumps(row) + "\n" for row in rows))
    config.write_text(f'[corpus]\nsource = "{corpus}"\n')
    assert run("prepare", config, "--out", folder / "plain").exit_code == 0
    before, prepare_bulk.EXAMPLES = prepare_bulk.EXAMPLES, 20
    try:
        assert run("prepare", config, "--out", folder / "bulk", *WORKERS).exit_code == 0
    finally:
        prepare_bulk.EXAMPLES = before
    assert not (folder / "bulk.parts").exists()
    plain, made = folder / "plain", folder / "bulk"
    names = sorted(path.relative_to(plain) for path in plain.rglob("*") if path.is_file())
    assert names == sorted(path.relative_to(made) for path in made.rglob("*") if path.is_file())
    assert all((plain / name).read_bytes() == (made / name).read_bytes() for name in names)
    return plain


@pytest.fixture
def tables(prepared: Path, tmp_path: Path) -> Path:
    rows = (prepared.parent / "records.jsonl").read_text().splitlines()[:5]
    file = tmp_path / "tables.jsonl"
    file.write_text("".join(f"{row}\n" for row in rows))
    return file


def both(tmp_path: Path, ending: str, *asked: str | Path, code: int = 0) -> bytes:
    """What a command writes, with and without workers."""
    plain, made = tmp_path / f"plain{ending}", tmp_path / f"bulk{ending}"
    first, second = run(*asked, "--out", plain), run(*asked, "--out", made, *WORKERS)
    assert first.exit_code == second.exit_code == code
    assert second.stderr.replace(str(made), str(plain)) == first.stderr
    assert made.read_bytes() == plain.read_bytes()
    assert not list(tmp_path.glob("*.parts"))
    return made.read_bytes()


def test_generate_writes_the_same_rows_and_cells(prepared: Path, tables: Path, tmp_path: Path) -> None:
    assert both(tmp_path, ".jsonl", "generate", prepared, tables, "--selectors").count(b"\n") == 5
    assert both(tmp_path, ".csv", "generate", prepared, tables, "--forbid", "the").count(b"\n") == 6


def test_trace_and_gate_write_the_same_rows(prepared: Path, tables: Path, tmp_path: Path) -> None:
    drafts = tmp_path / "drafts.jsonl"
    lines = [json.loads(line) for line in tables.read_text().splitlines()]
    rows = [{"text": f"Frankly, {row.pop('text')}", "table": row} for row in lines]
    drafts.write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert both(tmp_path, ".jsonl", "trace", prepared, drafts).count(b"\n") == 5
    words = tmp_path / "words.txt"
    words.write_text("frankly\n")
    asked = ("gate", prepared, drafts, "--allow", words, "--lexicon", "values", "--min-sentences", "1")
    assert b'"accepted"' in both(tmp_path, "-gate.jsonl", *asked, "--fall-back", prepared, code=3)


def test_evaluate_prints_the_same_scores(prepared: Path, tables: Path, tmp_path: Path) -> None:
    out = tmp_path / "texts.jsonl"
    assert run("generate", prepared, tables, "--out", out).exit_code == 0
    asked = ("evaluate", out, "--references", tables, "--split", "all", "--metrics", "BLEU,NIST", "--json")
    plain, made = run(*asked), run(*asked, *WORKERS)
    assert plain.exit_code == made.exit_code == 0
    assert plain.stdout == made.stdout


def test_a_kept_part_is_not_made_again_and_a_changed_setting_makes_others(
    prepared: Path, tables: Path, tmp_path: Path
) -> None:
    parts = tmp_path / "parts"
    asked = ("generate", prepared, tables, "--parts", parts, *WORKERS, "--out")
    assert "already" not in run(*asked, tmp_path / "a.jsonl").stderr
    assert len(list(parts.glob("*.part"))) == 1
    assert "1 of 1 parts were there already" in run(*asked, tmp_path / "b.jsonl").stderr
    assert "already" not in run(*asked, tmp_path / "c.jsonl", "--beam", "1").stderr
    assert (tmp_path / "a.jsonl").read_bytes() == (tmp_path / "b.jsonl").read_bytes()


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (("--engine", "spark"), "is no engine"),
        (("--parts", "somewhere"), "no parts without --engine"),
        (("--engine", "ray:nonsense"), "is no address"),
    ],
)
def test_what_is_asked_wrongly_is_told_before_anything_is_written(
    prepared: Path, tables: Path, tmp_path: Path, options: tuple[str, str], told: str
) -> None:
    if "ray" in options[1]:
        pytest.importorskip("ray")
    with pytest.raises(TextspliceError, match=told):
        run("generate", prepared, tables, "--out", tmp_path / "out.jsonl", *options)
    assert not list(tmp_path.glob("out*"))


def test_a_clusters_notices_do_not_come_between_rows(prepared: Path, tables: Path) -> None:
    with pytest.raises(TextspliceError, match=r"notices of its own to standard output\. Name a file: --out"):
        run("generate", prepared, tables, "--engine", "ray")


def test_a_machine_with_another_store_under_the_same_path_is_a_sentence(prepared: Path) -> None:
    tracer = open_tracer(str(prepared), None, None, quiet=True)
    work = trace_work(tracer, str(prepared), None, None, fast=False, selectors=False)
    assert answer(work.order(), "[]").status == "done"
    told = answer(replace(work, settings={**work.settings, "name": "another"}).order(), "[]")
    assert "has something else there than this one" in str(told.told)
    assert str(prepared) in str(told.told)
