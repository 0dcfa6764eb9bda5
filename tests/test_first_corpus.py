"""The user test: from an empty folder to a report, by the commands of `examples/first_corpus.sh`."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

from conftest import ROOT

EXAMPLES = ROOT / "examples"
SCRIPT = EXAMPLES / "first_corpus.sh"


def commands() -> list[str]:
    lines = SCRIPT.read_text(encoding="utf-8").splitlines()
    return [line for line in lines if ".venv/bin/" in line]


def test_four_commands_do_it_and_the_page_shows_them() -> None:
    assert len(commands()) == 4
    page = (ROOT / "docs" / "first-corpus.md").read_text(encoding="utf-8")
    for command in ("textsplice fit", "textsplice generate runs/offers", "textsplice report texts.jsonl"):
        assert any(command in line for line in commands())
        assert command in page


def test_the_commands_lead_to_a_report(tmp_path: Path) -> None:
    """All but the installation, which CI has done, with a few seconds of training."""
    script = "\n".join(
        line for line in SCRIPT.read_text(encoding="utf-8").splitlines() if "pip install" not in line
    )
    (tmp_path / ".venv" / "bin").mkdir(parents=True)
    (tmp_path / ".venv" / "bin" / "textsplice").write_text(
        f'#!/bin/sh\nexec "{sys.executable}" -m textsplice "$@"\n'
    )
    (tmp_path / ".venv" / "bin" / "textsplice").chmod(0o755)
    for name in ("offers.csv", "new-offers.csv"):
        shutil.copyfile(EXAMPLES / name, tmp_path / name)
    done = subprocess.run(
        ["sh", "-c", script, "first_corpus.sh", str(tmp_path), "0.1"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "code      unsaid" in done.stdout
    rows = [json.loads(line) for line in (tmp_path / "texts.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [row["table"]["code"] for row in rows] == ["BX-9001", "BX-9002", "BX-9003", "BX-9004"]
    assert rows[0]["table"]["extras"] == ["a bell", "mudguards"]
    # Nobody has sold a cargo bike yet; the code is never said.
    assert rows[3]["status"] == "doubtful"
    assert "'cargo bike'" in rows[3]["reason"]
    assert not any("BX-" in row["text"] for row in rows)
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "cargo bike" in page
    assert 'id="doubtful"' in page
