"""Files, options and devices that can't be read from or written to: a sentence each, and no harm done."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from textsplice.cli import main
from textsplice.config import Config, load_config, to_toml
from textsplice.errors import ConfigError, CorpusError, InputError, StorageError, TextspliceError
from textsplice.files import atomic_write_text, file_hash, write_new
from textsplice.parsing import parse_json, read_object, read_text
from textsplice.slots.lexicon import Lexicon
from textsplice.text import Vocabulary
from textsplice.visible import visible, visible_lines


def run(*arguments: object) -> int:
    before, sys.argv = sys.argv, ["textsplice", *map(str, arguments)]
    try:
        with pytest.raises(SystemExit) as ended:
            main()
    finally:
        sys.argv = before
    return int(ended.value.code or 0)


def complaint(capsys: pytest.CaptureFixture[str], *arguments: object) -> str:
    """The one line that a command ends with."""
    assert run(*arguments) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    return said.removesuffix("\n")


NOT_FILES = ("folder", "pipe")


def not_a_file(tmp_path: Path, kind: str) -> Path:
    path = tmp_path / f"a-{kind}"
    if kind == "pipe":
        os.mkfifo(path)
    else:
        path.mkdir()
    return path


@pytest.mark.parametrize("kind", NOT_FILES)
@pytest.mark.parametrize("command", ["prepare", "train", "tune"])
def test_a_configuration_must_be_a_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], command: str, kind: str
) -> None:
    path = not_a_file(tmp_path, kind)
    assert complaint(capsys, command, path) == (
        f"error [config]: {path}: is a {kind}, not a file."
        " Name a TOML file; `configs/` holds a commented master file to start from."
    )


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"\xff", "is not UTF-8 text: byte 0xff at byte 0. Name a TOML file"),
        (b"a = " + b"[" * 5000, "is nested too deeply."),
        (b"a." * 3000 + b"a = 1", "there is no setting 'a'."),
        (b"corpus." + b"a." * 3000 + b"a = 1", "there is no setting 'corpus.a'."),
        (b"corpus = " + b"{a=" * 300 + b"1" + b"}" * 300, "there is no setting 'corpus.a'."),
        (
            b"[corpus]\nsource" + b".a" * 3000 + b" = 1",
            "corpus.source = {'a': {'a': {'a': {...}}}} must be text",
        ),
        (b"[neighbors]\nk = " + b"9" * 5000, "not a TOML file: a number or a date in it can't be used."),
        (
            b"[neighbors]\nk = 99999999999",
            "neighbors.k = 99999999999 must be a whole number from 1 to 65,536.",
        ),
        (b"[training]\nclip = nan", "training.clip = nan must be a number from 0 to 2,147,483,647."),
        (b"[training]\nclip = inf", "training.clip = inf must be a number from 0 to 2,147,483,647."),
        (b'[corpus]\nsource = "a\\u0000b"', "must be text without NUL characters."),
        (b'[corpus]\n"\\u001b[2J" = 1', "there is no setting 'corpus.\\x1b[2J'."),
        (b"#" * (1 << 20) + b"\n", "is larger than 1 MiB."),
    ],
)
def test_a_bad_configuration_is_a_sentence(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "c.toml"
    path.write_bytes(content)
    with pytest.raises(ConfigError) as caught:
        load_config(path)
    assert message in caught.value.sentence()
    assert caught.value.sentence().startswith(f"{path}: ")
    assert len(caught.value.sentence()) < 1000


@pytest.mark.parametrize(
    ("assignment", "message"),
    [
        ("search.beam=" + "[" * 5000, "is nested too deeply."),
        ("search.beam=" + "9" * 5000, "must be a whole number"),
        ("x" * 100_000, "is not of the form section.key=value."),
        ("search.beam=1\n[corpus]", "search.beam = '1\\n[corpus]' must be a whole number"),
    ],
)
def test_a_bad_assignment_is_a_sentence(assignment: str, message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        Config().with_values([assignment])
    assert message in caught.value.sentence()
    assert len(caught.value.sentence()) < 1000


def test_a_configuration_with_control_characters_comes_back(tmp_path: Path) -> None:
    config = Config().with_values(['corpus.source="a\\nb\\u007f\\"\\\\c"'])
    (tmp_path / "c.toml").write_text(to_toml(config))
    assert load_config(tmp_path / "c.toml") == config


def test_the_text_column_may_have_quotes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "c.toml").write_text(f'[corpus]\nsource = "{tmp_path}/a.csv"\n')
    (tmp_path / "a.csv").write_text("name,text\nA,b\n")
    said = complaint(capsys, "prepare", tmp_path / "c.toml", "--text-column", 'the "text"', "-q")
    assert """there is no column 'the "text"' for the text""" in said


@pytest.mark.parametrize("kind", NOT_FILES)
def test_nothing_is_written_over_what_is_not_a_file(tmp_path: Path, kind: str) -> None:
    path = not_a_file(tmp_path, kind)
    for write in (atomic_write_text, write_new):
        with pytest.raises(StorageError) as caught:
            write(path, "x")
        assert caught.value.sentence() == f"{path}: is a {kind}, not a file. Name a file."


def test_a_device_is_not_replaced() -> None:
    with pytest.raises(StorageError, match=r"^/dev/null: is a device, not a file\. Name a file\.$"):
        atomic_write_text(Path("/dev/null"), "x")


def test_a_link_stays_and_its_target_is_written(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "target")
    write_new(tmp_path / "link", "new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "target").read_text() == "new"


def test_a_file_as_parent_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StorageError) as caught:
        atomic_write_text(tmp_path / "file" / "x", "x")
    assert caught.value.sentence() == f"{tmp_path}/file/x: can't be written: Not a directory."


def test_a_name_that_is_too_long_is_a_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    long = tmp_path / ("x" * 300)
    for read in (lambda: load_config(long), lambda: Lexicon.load(long), lambda: file_hash(long)):
        with pytest.raises(TextspliceError, match=r"x: can't be read: File name too long\."):
            read()
    with pytest.raises(StorageError, match=r"x: can't be written: File name too long\."):
        write_new(long, "x")
    said = complaint(capsys, "lexicon", "check", long, "--lexicon", "e2e")
    assert said == f"error [corpus]: {long}: can't be read: File name too long."


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_may_not_be_read_is_a_sentence(tmp_path: Path) -> None:
    path = tmp_path / "secret"
    path.write_text("")
    path.chmod(0)
    for read in (lambda: load_config(path), lambda: Lexicon.load(path), lambda: Vocabulary.load(path)):
        with pytest.raises(TextspliceError, match="secret: can't be read: no permission"):
            read()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"[" * 100_000, "is nested too deeply."),
        (b"1" * 5000, "is not JSON that can be used: a number in it is too long."),
        (b"{", "is not JSON: Expecting property name enclosed in double quotes at column 2 of line 1."),
        (b"\xff", "is not UTF-8 text: byte 0xff at byte 0."),
        (b"[]", "is not a JSON object."),
    ],
)
def test_bad_json_is_a_sentence(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "a.json"
    path.write_bytes(content)
    with pytest.raises(InputError) as caught:
        read_object(path, InputError)
    assert caught.value.sentence().startswith(f"{path}: {message}")


def test_a_device_without_end_is_not_read() -> None:
    with pytest.raises(InputError, match=r"^/dev/zero: is a device, not a file\.$"):
        read_text(Path("/dev/zero"), InputError)


def test_json_of_any_other_kind_is_read() -> None:
    assert parse_json('{"a": [1, null]}', InputError, "x") == {"a": [1, None]}


DAMAGED = "this file is truncated or damaged."


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("[]", "is not a JSON object."),
        ('{"format": 1}', DAMAGED),
        (
            '{"format": 1, "words": [1], "embedded": 1, "generate": [], "frequent": []}',
            DAMAGED,
        ),
        (
            '{"format": 1, "words": ["a"], "embedded": 1, "generate": [7], "frequent": []}',
            DAMAGED,
        ),
        (
            '{"format": 1, "words": ["a"], "embedded": 9, "generate": [], "frequent": []}',
            DAMAGED,
        ),
    ],
)
def test_a_damaged_vocabulary_is_a_sentence(tmp_path: Path, content: str, message: str) -> None:
    path = tmp_path / "v.json"
    path.write_text(content)
    with pytest.raises(StorageError) as caught:
        Vocabulary.load(path)
    assert caught.value.sentence().startswith(f"{path}: {message}")
    assert caught.value.sentence().endswith("Run `textsplice prepare` again.")


# -- what is shown ---------------------------------------------------------------------------------


def test_control_characters_are_shown_one_for_one() -> None:
    assert visible("a\x1b[31mb\r\n\x07\x7f\x9b\u202e\ud800é漢") == "a␛[31mb␍␊␇␡����"[:14] + "é漢"
    assert visible_lines("a\n\tb\x1b") == "a\n\tb␛"


def test_an_error_is_one_short_line_whatever_it_quotes() -> None:
    error = CorpusError("the field \x1b]0;x\x07 of\nthis " + "x" * 100_000, where="a\rb", remedy="y" * 9000)
    assert error.sentence().isprintable()
    assert len(error.sentence()) < 4000


# -- how commands end ------------------------------------------------------------------------------


def textsplice(*arguments: object, **options: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "textsplice", *map(str, arguments)]
    return subprocess.run(command, text=True, stderr=subprocess.PIPE, timeout=120, **options)  # type: ignore[call-overload]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
def test_a_full_disk_is_a_sentence() -> None:
    with Path("/dev/full").open("w") as full:
        ended = textsplice("--version", stdout=full)
    assert (ended.returncode, ended.stderr) == (
        2,
        "error [storage]: standard output: the disk is full or a quota is reached."
        " Free some space and run the same command again: finished parts are kept.\n",
    )


def test_a_closed_pipe_ends_without_a_word() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    try:
        ended = textsplice("--version", stdout=writing)
    finally:
        os.close(writing)
    assert (ended.returncode, ended.stderr) == (141, "")


def test_closed_standard_output_is_no_error() -> None:
    ended = textsplice("--version", preexec_fn=lambda: os.close(1))
    assert (ended.returncode, ended.stderr) == (0, "")


def test_a_mistake_of_ours_asks_to_be_reported(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(_path: object) -> object:
        raise ZeroDivisionError("a \x1b[31m mistake")

    monkeypatch.setattr("textsplice.config.load_config", broken)
    assert run("prepare", "x.toml") == 1
    said = capsys.readouterr().err
    assert said.startswith("unexpected ZeroDivisionError at prepare.py:")
    assert said.endswith("please report it. TEXTSPLICE_TRACEBACK=1 prints the traceback.\n")
    assert "\x1b" not in said
    assert said.count("\n") == 1
    monkeypatch.setenv("TEXTSPLICE_TRACEBACK", "1")
    assert run("prepare", "x.toml") == 1
    assert "Traceback (most recent call last)" in capsys.readouterr().err


# -- lexicons --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            '[a.wordings]\nx = ["' + "w " + "b? " * 26 + '"]',
            "has 67,108,864 variants; at most 1,024 are allowed. Write it as several phrases",
        ),
        ('[a]\nneutral = ["' + "w " + "b? " * 26 + '"]', "has 67,108,864 variants"),
        ('[a.wordings]\nx = ["' + "w " * 6000 + '"]', "has 12,000 characters; at most 10,000 are allowed."),
        (
            '[_sets]\nS = "' + "|".join(["abcdefgh"] * 1000) + '"\n[a.wordings]\nx = ["' + "{S} " * 9 + '"]',
            "characters; at most 10,000 are allowed.",
        ),
        (
            "[a.wordings]\nx = ["
            + ",".join(f'"w{n} ' + " ".join(f"b{m}?" for m in range(10)) + '"' for n in range(200))
            + "]",
            "the phrases have more than 200,000 variants in all. Use fewer optional words.",
        ),
        ("a = " + "[" * 5000, "is nested too deeply."),
    ],
)
def test_a_lexicon_that_would_blow_up_is_a_sentence(tmp_path: Path, content: str, message: str) -> None:
    path = tmp_path / "l.toml"
    path.write_text(content)
    with pytest.raises(ConfigError) as caught:
        Lexicon.load(path)
    assert message in caught.value.sentence()
    assert caught.value.sentence().startswith(f"{path}: ")


def test_a_pipe_is_not_a_corpus(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = not_a_file(tmp_path, "pipe").rename(tmp_path / "a.jsonl")
    writer = threading.Thread(target=lambda: None)
    writer.start()
    assert complaint(capsys, "lexicon", "check", path, "--lexicon", "e2e") == (
        f"error [corpus]: {path}: is a pipe; a corpus is read more than once. Save it as a file."
    )


def test_the_message_of_an_unknown_key_is_short(tmp_path: Path) -> None:
    path = tmp_path / "c.toml"
    path.write_text(f"[corpus]\n{json.dumps('k' * 50_000)} = 1\n")
    with pytest.raises(ConfigError) as caught:
        load_config(path)
    assert len(caught.value.sentence()) < 1500
