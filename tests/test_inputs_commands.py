"""Commands with hostile rows and outputs: what is shown, what is refused, and who may write."""

from __future__ import annotations

import io
import json
import os
from contextlib import redirect_stdout
from pathlib import Path

import pytest
from rich.console import Console

from saved_runs import save_run
from search_world import prepared, splicer
from test_inputs_files import complaint, run
from textsplice.cli.output import console, say
from textsplice.errors import InputError
from textsplice.evaluate.tables import evaluation_grid, slot_grid
from textsplice.report.document import document
from textsplice.report.overview import report_html
from textsplice.report.page import html
from textsplice.report.plain import plain
from textsplice.report.svg import svg
from textsplice.report.terminal import ansi, terminal
from textsplice.search.generation import Generation
from textsplice.search.rows import open_rows
from textsplice.slots.check import check_slots, summarize_slots
from textsplice.slots.lexicon import Lexicon
from textsplice.splicer import Splicer

HOSTILE = "\x1b]0;owned\x07\x1b[2J\x9b31m\r[bold]x[/bold]:smile:"


def hostile_row() -> Generation:
    """A row whose id, field and value are full of escapes, and whose text says the value."""
    maker = Splicer.untrained(prepared().folder)
    record = {name: values[0] for name, values in maker.store.tables[0] if values}
    record[f"field {HOSTILE}"] = f"value {HOSTILE}"
    row = maker.generate(record).to_dict()
    return Generation.from_dict({**row, "id": f"id {HOSTILE}"})


def test_no_view_sends_an_escape() -> None:
    shown = document(hostile_row())
    for text in (plain(shown), svg(shown), html(shown)):
        assert not {"\x1b", "\x07", "\x9b"} & set(text)
    assert "␛]0;owned␇␛[2J�31m [bold]x[/bold]:smile:" in plain(shown, width=10_000)
    colored = ansi(shown, width=300)
    assert not {"\x07", "\x9b", "\r"} & set(colored)
    assert "\x1b]" not in colored
    assert "\x1b[2J" not in colored
    out = io.StringIO()
    Console(file=out, width=300).print(terminal(shown))
    assert "␛]0;owned␇␛[2J�31m␍[bold]x[/bold]:smile:" in out.getvalue()


def test_grids_show_names_as_they_are() -> None:
    out = io.StringIO()
    lexicon = Lexicon.of_tables([hostile_row().table])
    slots = summarize_slots([check_slots("x", hostile_row().table, lexicon)])
    with redirect_stdout(out):
        made = console()
        made.width = 400
        made.print(slot_grid(HOSTILE, slots, HOSTILE))
        say(HOSTILE)
    assert not {"\x1b", "\x07", "\x9b", "\r"} & set(out.getvalue())
    assert out.getvalue().count("[bold]x[/bold]:smile:") >= 3


def test_evaluation_grid_is_importable_for_the_same_console() -> None:
    assert evaluation_grid is not None


# -- generate --out --------------------------------------------------------------------------------


@pytest.fixture
def input_file(tmp_path: Path) -> Path:
    path = tmp_path / "tables.jsonl"
    records = [{"id": f"t{n}", "table": t.to_record()} for n, t in enumerate(prepared().store.tables[:3])]
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


def test_rows_do_not_go_into_a_pipe_or_a_device(
    input_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path, kind in ((tmp_path / "pipe", "pipe"), (Path("/dev/null"), "device")):
        said = complaint(capsys, "generate", prepared().folder, input_file, "--out", path, "-q")
        assert said == (
            f"error [storage]: {path}: is a {kind}, not a file."
            " Name a file; without --out, rows go to standard output."
        )


def test_a_second_writer_is_refused_before_it_changes_anything(
    input_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out.jsonl"
    with open_rows(out) as first:
        first.write('{"format": "textsplice.gen')  # half a row, as a writer that is at work leaves it
        first.flush()
        for more in ([], ["--resume"]):
            said = complaint(capsys, "generate", prepared().folder, input_file, "--out", out, "-q", *more)
            assert said == (
                f"error [storage]: {out}: another process is writing to this file. Name another file."
            )
        assert out.read_text() == '{"format": "textsplice.gen'


def test_a_failed_command_leaves_no_empty_file(
    input_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    input_file.write_text(input_file.read_text().splitlines()[0] + "\n{\n")
    out = tmp_path / "out.jsonl"
    complaint(capsys, "generate", prepared().folder, input_file, "--out", out, "-q", "--strict")
    assert not out.exists()


def test_a_file_that_is_there_is_kept(
    input_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out.jsonl"
    out.write_text("mine\n")
    complaint(capsys, "generate", prepared().folder, input_file, "--out", out, "-q")
    assert out.read_text() == "mine\n"


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        ("[" * 50_000, "': is nested too deeply. Write it as '{\"rule\": NAME, …}'."),
        ("{", "error [config]: --rule '{': is not JSON: Expecting property name"),
        ("[]", "error [config]: --rule '[]': is not a JSON object."),
    ],
)
def test_a_rule_that_is_not_one_is_a_sentence(
    input_file: Path, capsys: pytest.CaptureFixture[str], rule: str, message: str
) -> None:
    said = complaint(capsys, "generate", prepared().folder, input_file, "--rule", rule)
    assert message in said
    assert len(said) < 500


def test_a_deep_record_is_a_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    said = complaint(capsys, "explain", prepared().folder, '{"a":' * 50_000)
    assert "is not a record: the objects are nested too deeply." in said


# -- report ----------------------------------------------------------------------------------------


KEYS = (
    "id",
    "table",
    "text",
    "tokens",
    "sources",
    "splices",
    "provenance",
    "status",
    "rules",
    "policy",
    "run",
)


@pytest.fixture(scope="module")
def good_row() -> dict[str, object]:
    maker = Splicer.untrained(prepared().folder)
    return maker.generate(maker.store.tables[0]).to_dict()


@pytest.mark.parametrize("key", [*KEYS, "tokenizer", "attribution", "alternatives"])
@pytest.mark.parametrize("wrong", ["missing", None, 7, [[]], {"a": {}}])
def test_a_row_without_a_key_is_a_sentence(
    tmp_path: Path, good_row: dict[str, object], key: str, wrong: object
) -> None:
    row = {**good_row, key: wrong}
    if wrong == "missing":
        del row[key]
    path = tmp_path / "dev.jsonl"
    path.write_text(json.dumps(row) + "\n")
    with pytest.raises(InputError) as caught:
        report_html(path)
    assert caught.value.sentence().isprintable()


@pytest.mark.parametrize("content", [b"\xff\n", b"[]\n", b"{\n"])
def test_a_file_that_is_no_generations_is_a_sentence(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "dev.jsonl"
    path.write_bytes(content)
    with pytest.raises(InputError, match=r"dev\.jsonl:1: is not "):
        report_html(path)


@pytest.mark.parametrize(
    "scores",
    [
        "{}",
        '{"systems": 3}',
        '{"systems": [{"scores": [7]}]}',
        '{"systems": [{"scores": [{"metric": "BLEU"}]}]}',
    ],
)
def test_scores_that_are_none_are_a_sentence(
    tmp_path: Path, good_row: dict[str, object], scores: str
) -> None:
    (tmp_path / "dev.jsonl").write_text(json.dumps(good_row) + "\n")
    (tmp_path / "scores.json").write_text(scores)
    with pytest.raises(InputError) as caught:
        report_html(tmp_path)
    assert caught.value.sentence() == (
        f"{tmp_path}/scores.json: these are not scores as `textsplice evaluate --json` prints them."
    )


def test_a_journal_with_odd_lines_is_drawn_as_far_as_it_goes(tmp_path: Path) -> None:
    maker = splicer("full", 3)
    folder = save_run(tmp_path / "run", maker.config, prepared(), maker.policy)
    (folder / "journal.jsonl").write_text(
        '{"kind": "train", "step": 1, "loss": 2.0}\n{"kind": "train", "loss": 1}\n{"kind": [], "step": 1}\n'
        '{"kind": "train", "step": 1e999, "loss": NaN}\n{"kind": "train", "step": 2, "loss": 1e308}\n'
    )
    assert "training loss from 2.00 to 2.00" in report_html(folder)


def test_quiet_commands_end_with_success(input_file: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    assert run("generate", prepared().folder, input_file, "--out", out, "-q") == 0
    assert run("verify", out) == 0
