"""Drafts and lists that the gate can't read: a sentence, exit code 2, and nothing written."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from textsplice.cli import app
from textsplice.errors import TextspliceError
from textsplice.trace.reading import read_drafts

GOOD = json.dumps({"text": "The walk is easy."})


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("gate") / "approved.jsonl"
    rows = [{"table": {"name": "Mill Lane"}, "text": "The walk is easy."}]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("d.jsonl", b"", "there is no text."),
        ("d.txt", b" \n\r\n\t\n", "there is no text."),
        ("d.jsonl", f'{GOOD}\n{{"text": ""}}'.encode(), ":2: there is no 'text', or it is empty."),
        ("d.jsonl", f'{GOOD}\n{{"text": true}}'.encode(), ":2: there is no 'text', or it is empty."),
        ("d.jsonl", f"{GOOD}\nThe walk".encode(), ":2: "),
        ("d.jsonl", f"{GOOD}\n[1]".encode(), ":2: "),
        ("d.jsonl", f'{GOOD}\n{{"text": "x", "table": []}}'.encode(), ":2: 'table' is not an object."),
        ("d.jsonl", f'{GOOD}\n{{"text": "x", "table": {{}}}}'.encode(), ":2: "),
        ("d.jsonl", f'{GOOD}\n{{"text": "x", "id": ["a"]}}'.encode(), ":2: 'id' is not a text."),
        ("d.jsonl", f'{GOOD}\n{{"text": "x", "text": "y"}}'.encode(), ":2: "),
        ("d.jsonl", GOOD.encode() + b'\n{"text": "\\ud800"}', ":2: "),
        ("d.jsonl", GOOD.encode() + b'\n{"text": "x", "table": {"a": "\\udfff"}}', ":2: "),
        (
            "d.jsonl",
            GOOD.encode() + b'\n{"text": "\\u0000\\u200b"}',
            ":2: there is nothing to read in this text.",
        ),
        ("d.txt", b"The walk is easy.\nThe w\0alk", ":2: there is a NUL byte"),
        ("d.txt", b"The walk is easy.\n\xff\xfe", ":2: byte 0xff"),
        (
            "d.txt",
            b"The walk is easy.\n" + b"word " * 100_000,
            ":2: a text of 100,000 tokens is too long to trace; 1,022 is the most. Split it into paragraphs.",
        ),
        ("d.jsonl", GOOD.encode() + b"\n" + b"[" * 100_000, ":2: "),
    ],
)
def test_a_bad_draft_is_a_sentence_and_nothing_is_written(
    corpus: Path, tmp_path: Path, name: str, content: bytes, said: str
) -> None:
    drafts, out = tmp_path / name, tmp_path / "out.jsonl"
    drafts.write_bytes(content)
    result = CliRunner().invoke(app, ["gate", str(corpus), str(drafts), "--out", str(out)])
    assert isinstance(result.exception, TextspliceError), result.exception
    sentence = result.exception.sentence()
    assert said in sentence
    assert "\n" not in sentence
    assert len(sentence) < 4000
    assert not out.exists()


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "standard input: there is no text."),
        (b"easy\n\0", "standard input:2: there is a NUL byte in this line. Send text as UTF-8."),
        (b"easy\n\xff", "standard input:2: is not UTF-8."),
        (b'{"text": "easy"}\n{', "standard input:2: "),
    ],
)
def test_bad_standard_input_is_a_sentence(monkeypatch: pytest.MonkeyPatch, content: bytes, said: str) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
    with pytest.raises(TextspliceError) as raised:
        list(read_drafts("-"))
    assert said in raised.value.sentence()


def test_a_byte_order_mark_and_any_line_end_are_no_part_of_a_draft(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    content = "\ufeffThe walk.\r\nIt is easy.\r\n".encode()
    (tmp_path / "d.txt").write_bytes(content)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
    for source in ("-", str(tmp_path / "d.txt")):
        assert [draft.text for draft in read_drafts(source)] == ["The walk.", "It is easy."]


def test_json_lines_are_known_by_their_first_line_whatever_the_file_is_called(tmp_path: Path) -> None:
    for name in ("d.ndjson", "d.json", "d.txt"):
        (tmp_path / name).write_text(f"{GOOD}\n", encoding="utf-8")
        assert [draft.text for draft in read_drafts(str(tmp_path / name))] == ["The walk is easy."]
    (tmp_path / "d.txt").write_text("{name} is easy.\n", encoding="utf-8")
    assert [draft.text for draft in read_drafts(str(tmp_path / "d.txt"))] == ["{name} is easy."]


@pytest.mark.parametrize("content", [b"\xff", b"x" * ((64 << 20) + 1)])
def test_a_list_of_words_that_is_none_is_a_sentence(corpus: Path, tmp_path: Path, content: bytes) -> None:
    (tmp_path / "words.txt").write_bytes(content)
    (tmp_path / "d.txt").write_text("The walk is easy.\n", encoding="utf-8")
    out = tmp_path / "out.jsonl"
    arguments = [str(tmp_path / "d.txt"), "--allow", str(tmp_path / "words.txt"), "--out", str(out)]
    result = CliRunner().invoke(app, ["gate", str(corpus), *arguments])
    assert isinstance(result.exception, TextspliceError)
    assert "words.txt: is " in result.exception.sentence()
    assert not out.exists()


def test_a_long_list_of_words_is_read_and_words_of_several_tokens_are_allowed_whole(
    corpus: Path, tmp_path: Path
) -> None:
    words = [*(f"w{number}" for number in range(100_000)), "Award-winning", "state of the art"]
    (tmp_path / "words.txt").write_bytes("\ufeff".encode() + "\r\n".join(words).encode())
    drafts = [
        "The award-winning walk is easy.",
        "The State of the art walk is w77.",
        "The winning walk is easy.",
    ]
    (tmp_path / "d.txt").write_text("\n".join(drafts), encoding="utf-8")
    result = CliRunner().invoke(
        app, ["gate", str(corpus), str(tmp_path / "d.txt"), "--allow", str(tmp_path / "words.txt")]
    )
    assert result.exit_code == 3
    verdicts = [json.loads(line) for line in result.stdout.splitlines()]
    assert [each["accepted"] for each in verdicts] == [True, True, False]
    assert [reason["what"] for reason in verdicts[2]["reasons"]] == ["'winning' stands in no source"]
