"""What commands print and write: to a reader that went away, a full disk, a place where nothing can be."""

from __future__ import annotations

import ast
import json
import os
import resource
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import textsplice
from textsplice.cli import main
from textsplice.cli.output import say_json
from textsplice.corpus.bundled import bundled_path
from textsplice.visible import escaped_json, visible

DATA = Path(__file__).resolve().parent / "data" / "version-0.1"
PREPARED, ROWS, TABLES = DATA / "prepared", DATA / "full.jsonl", DATA / "corpus" / "dev.jsonl"
SOURCE = Path(textsplice.__file__).parent


def command(*arguments: object) -> list[str]:
    return [sys.executable, "-m", "textsplice", *map(str, arguments)]


# -- a reader that went away -----------------------------------------------------------------------


@pytest.mark.parametrize(
    "arguments",
    [
        ("generate", PREPARED, TABLES, "-q"),
        ("verify", ROWS),
        ("explain", ROWS),
        ("inspect", PREPARED),
        ("inspect", PREPARED, "--json"),
        ("evaluate", ROWS, "--references", TABLES, "--split", "all", "--metrics", "BLEU", "--partial"),
    ],
    ids=["generate", "verify", "explain", "inspect", "inspect --json", "evaluate"],
)
def test_a_reader_that_is_gone_ends_a_command_without_a_word(
    arguments: tuple[object, ...], tmp_path: Path
) -> None:
    rows = Path(shutil.copy(ROWS, tmp_path))  # `evaluate` keeps its scores beside them
    arguments = tuple(rows if each == ROWS else each for each in arguments)
    reading, writing = os.pipe()
    os.close(reading)
    try:
        ended = subprocess.run(command(*arguments), stdout=writing, stderr=subprocess.PIPE, timeout=300)
    finally:
        os.close(writing)
    assert (ended.returncode, ended.stderr) == (141, b"")


def test_a_reader_of_one_row_gets_it_whole() -> None:
    tables = bundled_path("dev")
    started = subprocess.Popen(
        command("generate", PREPARED, tables, "-q"), stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert started.stdout is not None
    assert started.stderr is not None
    first = started.stdout.readline()
    started.stdout.close()
    assert json.loads(first)["format"] == "textsplice.generation/2"
    assert (started.stderr.read(), started.wait(300)) == (b"", 141)
    started.stderr.close()


# -- a full disk -----------------------------------------------------------------------------------


def limited(size: int, *arguments: object) -> subprocess.CompletedProcess[str]:
    """A command in a process that may write no file beyond this size."""

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))

    return subprocess.run(command(*arguments), text=True, capture_output=True, timeout=300, preexec_fn=limit)


def full(path: Path) -> str:
    return (
        f"error [storage]: {path}: the disk is full or a quota is reached."
        " Free some space and run the same command again: finished parts are kept.\n"
    )


def test_generate_goes_on_after_a_full_disk(tmp_path: Path) -> None:
    out, whole = tmp_path / "out.jsonl", tmp_path / "whole.jsonl"
    assert subprocess.run(command("generate", PREPARED, TABLES, "-q", "--out", whole)).returncode == 0
    size = whole.stat().st_size
    ended = limited(size // 2, "generate", PREPARED, TABLES, "-q", "--out", out)
    assert (ended.returncode, ended.stderr) == (2, full(out))
    assert whole.read_bytes().startswith(out.read_bytes())
    resumed = command("generate", PREPARED, TABLES, "-q", "--out", out, "--resume")
    assert subprocess.run(resumed).returncode == 0
    assert out.read_bytes() == whole.read_bytes()


@pytest.mark.parametrize(
    "arguments",
    [
        ("explain", ROWS, "--as", "html", "--out", "{}"),
        ("report", ROWS, "--out", "{}"),
        ("lexicon", "induce", "bundled", "--limit", "50", "--out", "{}"),
    ],
    ids=lambda arguments: arguments[0],
)
def test_a_full_disk_leaves_the_file_that_was_there(tmp_path: Path, arguments: tuple[object, ...]) -> None:
    out = tmp_path / "out"
    out.write_text("before", encoding="utf-8")
    given = [str(each).replace("{}", str(out)) for each in arguments]
    ended = limited(100, *given, "--force")
    assert (ended.returncode, ended.stderr) == (2, full(out))
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
    assert out.read_text(encoding="utf-8") == "before"


def test_prepare_on_a_full_disk_is_a_sentence_and_goes_on(tmp_path: Path) -> None:
    shutil.copytree(DATA / "corpus", tmp_path / "corpus")
    out = tmp_path / "prepared"
    arguments = (
        *("prepare", DATA / "config.toml", "-q", "--out", out),
        *("--set", f"corpus.source={tmp_path / 'corpus'}"),
    )
    ended = limited(3000, *arguments)
    assert (ended.returncode, ended.stderr.count("\n")) == (2, 1)
    assert "the disk is full or a quota is reached. Free some space and run" in ended.stderr
    assert subprocess.run(command(*arguments)).returncode == 0


# -- a place where nothing can be ------------------------------------------------------------------


@pytest.mark.parametrize(
    "arguments",
    [
        ("prepare", DATA / "config.toml", "-q", "--out", "{}"),
        ("generate", PREPARED, TABLES, "-q", "--out", "{}"),
        ("explain", ROWS, "--out", "{}"),
        ("report", ROWS, "--out", "{}"),
        ("lexicon", "induce", "bundled", "--out", "{}"),
        ("data", "get", "e2e", "--url", "https://127.0.0.1:9", "--to", "{}"),
        ("experiment", "leakage", "bundled", "--out", "{}"),
        ("experiment", "ratings", "make", f"a={ROWS}", f"b={ROWS}", "--examples", "1", "--out", "{}"),
        ("quickstart", "--out", "{}"),
        ("train", "{config}", "--set", "output.run={}", "-q", "--set", "training.processes=1"),
        ("tune", "{config}", "--set", "output.run={}", "--trials", "1", "-q"),
    ],
    ids=lambda arguments: " ".join(arguments[:2]) if isinstance(arguments[1], str) else arguments[0],
)
def test_a_file_as_a_parent_is_a_sentence(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: tuple[object, ...],
) -> None:
    file, config = tmp_path / "file", tmp_path / "config.toml"
    file.write_text("mine", encoding="utf-8")
    text = (DATA / "config.toml").read_text(encoding="utf-8")
    config.write_text(text, encoding="utf-8")
    given = [str(a).replace("{}", str(file / "x" / "y")).replace("{config}", str(config)) for a in arguments]
    if "train" in given or "tune" in given:
        given += ["--set", f"output.prepared={PREPARED}"]
    monkeypatch.chdir(DATA)
    monkeypatch.setattr(sys, "argv", ["textsplice", *given])
    with pytest.raises(SystemExit) as ended:
        main()
    said = capsys.readouterr().err
    assert (ended.value.code, said.count("\n"), said[:7]) == (2, 1, "error [")
    assert str(file) in said
    assert "ot a directory" in said or "not a folder" in said or "is a file" in said
    assert file.read_text(encoding="utf-8") == "mine"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["config.toml", "file"]


# -- what goes to a terminal -----------------------------------------------------------------------


@given(st.text())
def test_printed_json_has_the_same_value_and_no_control_characters(text: str) -> None:
    try:
        written = escaped_json(json.dumps({text: [text]}, ensure_ascii=False))
    except UnicodeEncodeError:
        return
    assert json.loads(written) == {text: [text]}
    assert visible(written) == written


def test_json_is_printed_so(capsys: pytest.CaptureFixture[str]) -> None:
    say_json('{"a": "\x9b31m \u202e \u2028 é"}\n')
    assert capsys.readouterr().out == '{"a": "\\u009b31m \\u202e \\u2028 é"}\n'


# Who prints, and why it is safe.
PRINTERS = {
    "cli/output.py": "where it is made safe",
    "progress.py": "a line, made visible there, where standard error is no terminal",
    "engine.py": "what went wrong in a worker, made visible there",
    "serve/guard.py": "JSON in ASCII: the log of the server",
    "training/monitor.py": "a note, made visible there: training must not import the command line",
    "training/worker.py": "JSON in ASCII, to the process that started it",
    "report/notebook.py": "a view, which is safe already",
}


def test_nothing_is_printed_past_the_place_that_makes_it_safe() -> None:
    found: set[str] = set()
    for path in SOURCE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Call):
                continue
            called = ast.unparse(node.func)
            if called in ("print", "typer.echo", "typer.secho", "click.echo", "sys.stdout.write"):
                found.add(path.relative_to(SOURCE).as_posix())
    assert found == set(PRINTERS)
