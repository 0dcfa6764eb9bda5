"""The command line as a person meets it: help, errors as sentences, exit codes."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from textsplice.cli import COMMANDS, main

GOOD = {"id": "a", "table": {"name": "Mill Lane"}, "text": "Mill Lane is short."}


def run(*arguments: str, monkeypatch: pytest.MonkeyPatch) -> int:
    monkeypatch.setattr(sys, "argv", ["textsplice", *arguments])
    with pytest.raises(SystemExit) as ended:
        main()
    return int(ended.value.code or 0)


def corpus(tmp_path: Path, name: str, content: bytes) -> str:
    (tmp_path / name).write_bytes(content)
    return str(tmp_path / name)


def e2e(*rows: str) -> bytes:
    return ("mr,ref\n" + "\n".join(rows) + "\n").encode()


BAD = [
    ("none.jsonl", None, "none.jsonl: there is no such file or folder"),
    ("empty.jsonl", b"", "empty.jsonl: the file is empty."),
    ("bracket.csv", e2e('"name[A], area[north",x'), "bracket.csv:2"),
    ("twice.csv", e2e('"name[A], name[B]",x'), "twice.csv:2"),
    ("bare.jsonl", b'{"table": {}, "text": "x"}\n', "bare.jsonl:1"),
    ("bytes.jsonl", b'{"table": {"a": "\xff"}, "text": "x"}\n', "bytes.jsonl:1"),
    ("nul.csv", b"name,text\nA\x00,b\n", "nul.csv:2"),
    ("cut.parquet", b"PAR1cut", "cut.parquet"),
    ("cut.jsonl.gz", gzip.compress(json.dumps(GOOD).encode() * 50)[:60], "cut.jsonl.gz"),
    (
        "long.jsonl",
        (json.dumps({**GOOD, "text": "a " * 1_000_000}) + "\n").encode(),
        "has 1,000,000 tokens; corpus.max_tokens allows 400.",
    ),
]


@pytest.mark.parametrize(("name", "content", "message"), BAD, ids=[case[0] for case in BAD])
def test_a_bad_corpus_is_one_sentence_and_leaves_nothing_half_written(
    name: str,
    content: bytes | None,
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    source = str(tmp_path / name) if content is None else corpus(tmp_path, name, content)
    config = tmp_path / "config.toml"
    config.write_text(f'[corpus]\nsource = "{source}"\nsplits = ["train"]\n')
    out = tmp_path / "prepared"
    assert run("prepare", str(config), "--out", str(out), "-q", monkeypatch=monkeypatch) == 2
    error = capsys.readouterr().err
    assert error.startswith("error [corpus]: ")
    assert message in error
    assert error.count("\n") == 1
    assert not [path for path in out.rglob("*") if path.is_file()]


def test_an_unknown_setting_suggests_the_nearest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "c.toml").write_text('[corpus]\nsorce = "x"\n')
    assert run("prepare", str(tmp_path / "c.toml"), monkeypatch=monkeypatch) == 2
    assert "there is no setting 'corpus.sorce'. Did you mean 'corpus.source'?" in capsys.readouterr().err


def test_inspecting_a_folder_that_is_none_says_what_to_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("inspect", str(tmp_path), monkeypatch=monkeypatch) == 2
    assert "is not a finished prepared folder. Run `textsplice prepare CONFIG`." in capsys.readouterr().err


def test_a_folder_can_be_prepared_and_looked_into(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "c.toml").write_text('[corpus]\nsource = "bundled"\n')
    out = str(tmp_path / "prepared")
    assert run("prepare", str(tmp_path / "c.toml"), "--out", out, "-q", monkeypatch=monkeypatch) == 0
    capsys.readouterr()
    assert run("inspect", out, "--json", monkeypatch=monkeypatch) == 0
    numbers = json.loads(capsys.readouterr().out)
    assert numbers["train"]["examples"] >= 1_500
    assert numbers["train"]["tables"] >= 300
    assert numbers["dev"]["leaked"] <= 0.05
    assert numbers["test"]["leaked"] <= 0.05
    assert run("inspect", out, monkeypatch=monkeypatch) == 0
    assert "delexicalized text appears in train" in capsys.readouterr().out
    assert run("inspect", out, "--split", "dev", "--example", "3", monkeypatch=monkeypatch) == 0
    assert "1. starts with" in capsys.readouterr().out
    assert run("inspect", out, "--example", "99999", monkeypatch=monkeypatch) == 2
    assert "there is no row '99999': this split has 2,124, from" in capsys.readouterr().err


def test_help_answers_at_once_and_imports_nothing_heavy() -> None:
    script = (
        "import sys, textsplice.cli; heavy = ('torch', 'transformers', 'numba', 'pyarrow', 'numpy'); "
        "print([name for name in heavy if name in sys.modules])"
    )
    assert subprocess.check_output([sys.executable, "-c", script], text=True).strip() == "[]"
    times: list[float] = []
    for _ in range(3):
        before = os.times()
        subprocess.run([sys.executable, "-m", "textsplice", "--help"], check=True, capture_output=True)
        after = os.times()
        used = after.children_user + after.children_system - before.children_user - before.children_system
        times.append(used)
    # Of the processor, since the suite runs beside other work; on a quiet machine half a second is promised.
    assert min(times) < 0.9


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_explains_itself_with_examples(
    command: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    group = {"data": ["get"], "lexicon": ["induce"], "experiment": ["leakage"]}.get(command, [])
    arguments = (command, *group, "--help")
    assert run(*arguments, monkeypatch=monkeypatch) == 0
    assert "xamples" in capsys.readouterr().out
