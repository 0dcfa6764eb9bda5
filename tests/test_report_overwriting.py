"""`explain` and `report` leave files alone that they did not write."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from report_examples import bakery, write_run
from textsplice.cli import explain as explain_command
from textsplice.cli import report as report_command
from textsplice.errors import ConfigError, InputError


def run(command: str, *arguments: str | Path) -> str:
    app = typer.Typer()
    {"explain": explain_command, "report": report_command}[command].register(app)
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    if result.exception is not None:
        raise result.exception
    return result.stdout


@pytest.fixture
def texts(tmp_path: Path) -> Path:
    path = tmp_path / "texts.jsonl"
    path.write_text(json.dumps(bakery().to_dict()) + "\n", encoding="utf-8")
    return path


@pytest.mark.parametrize("view", ["plain", "terminal", "svg", "html", "notebook"])
def test_explain_overwrites_a_file_only_if_told_to(texts: Path, tmp_path: Path, view: str) -> None:
    out = tmp_path / "notes"
    out.write_text("mine", encoding="utf-8")
    with pytest.raises(ConfigError) as raised:
        run("explain", texts, "--as", view, "--out", out)
    assert raised.value.sentence() == (
        f"{out}: already exists and was left as it is. Name another file, or overwrite it with --force."
    )
    assert out.read_text(encoding="utf-8") == "mine"
    run("explain", texts, "--as", view, "--out", out, "--force")
    assert "Heron" in out.read_text(encoding="utf-8")


def test_explain_does_not_overwrite_what_it_reads(texts: Path) -> None:
    before = texts.read_bytes()
    with pytest.raises(ConfigError, match=r"already exists"):
        run("explain", texts, "--out", texts)
    assert texts.read_bytes() == before


def test_explain_prints_plain_text_into_a_pipe_and_color_if_asked(texts: Path) -> None:
    assert run("explain", texts).startswith("Heron Mill is a friendly but quiet bakery")
    assert "\x1b[" not in run("explain", texts)
    assert run("explain", texts, "--as", "plain") == run("explain", texts)
    assert run("explain", texts, "--as", "html").startswith("<!doctype html>")


def test_a_row_that_is_not_there_is_a_sentence(texts: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"texts\.jsonl: there is no row 'd2'\.$"):
        run("explain", texts, "d2")
    empty = tmp_path / "empty.jsonl"
    empty.touch()
    with pytest.raises(InputError, match=r"empty\.jsonl: there are no rows\.$"):
        run("explain", empty)


def test_a_run_needs_a_record(tmp_path: Path) -> None:
    for record, message in (
        ((), r"a run needs a record to generate from\. Write it as JSON"),
        (("{",), r"'\{' is not a record: "),
        (("[1]",), r"'\[1\]' is not a record: the line is not a JSON object\. Write it as JSON"),
    ):
        with pytest.raises(InputError, match=message):
            run("explain", tmp_path, *record)


def test_a_report_replaces_an_earlier_report_and_nothing_else(tmp_path: Path) -> None:
    folder = write_run(tmp_path / "walks", [bakery()])
    page = folder / "report.html"
    page.write_text("<!doctype html><title>mine</title>", encoding="utf-8")
    with pytest.raises(ConfigError, match=r"report\.html: already exists and was left as it is\."):
        run("report", folder)
    assert page.read_text(encoding="utf-8") == "<!doctype html><title>mine</title>"
    run("report", folder, "--force")
    first = page.read_bytes()
    assert b'<meta name="generator" content="textsplice ' in first[:4096]
    (folder / "dev.scores.json").unlink()
    run("report", folder, "--derivations", "0")
    assert page.read_bytes() != first
    other = tmp_path / "other.html"
    other.write_text("mine", encoding="utf-8")
    with pytest.raises(ConfigError, match=r"other\.html: already exists"):
        run("report", folder, "--out", other)
    assert other.read_text(encoding="utf-8") == "mine"


@pytest.mark.parametrize("change", ["a mark", "a word", "a line after", "no seal", "another seal"])
def test_a_page_that_only_looks_like_ours_is_kept(tmp_path: Path, change: str) -> None:
    folder = write_run(tmp_path / "walks", [bakery()])
    run("report", folder)
    page = folder / "report.html"
    whole = page.read_text(encoding="utf-8")
    head, seal = whole[: whole.rindex("<!-- textsplice ")], whole[whole.rindex("<!-- textsplice ") :]
    imitation = {
        "a mark": '<!doctype html><meta name="generator" content="textsplice 0.1.0"><p>My own notes.\n',
        "a word": head.replace("</body>", "My remark.</body>") + seal,
        "a line after": whole + "mine\n",
        "no seal": head,
        "another seal": f"mine\n{seal}",
    }[change]
    page.write_text(imitation, encoding="utf-8")
    with pytest.raises(ConfigError, match=r"report\.html: already exists and was left as it is\. .*--force"):
        run("report", folder)
    assert page.read_text(encoding="utf-8") == imitation
    run("report", folder, "--force")
    run("report", folder)
    assert page.read_text(encoding="utf-8") == whole
