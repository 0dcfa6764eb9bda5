"""The scripts and the notebook in `examples/` run, and print what they are there to show."""

from __future__ import annotations

import os
import subprocess
import sys

import nbformat
import pytest
from nbclient import NotebookClient

from conftest import ROOT

EXAMPLES = ROOT / "examples"
SHOWN = {
    "oracle_by_hand.py": ["2 splices make: The Tarn Meadow", "refused: target position 4: token 'stolen'"],
    "own_corpus.py": ["Tarn Fjord", "'380 euros' from price", "from bike-"],
    "rules_and_verify.py": [
        "abstained: the required field 'serial number' has no value in the table",
        "its text is not what its splices make",
    ],
}


def test_every_script_is_run() -> None:
    assert sorted(SHOWN) == sorted(path.name for path in EXAMPLES.glob("*.py"))


@pytest.mark.parametrize("name", sorted(SHOWN))
def test_a_script_shows_what_it_promises(name: str) -> None:
    paths = os.pathsep.join(path for path in sys.path if path)
    done = subprocess.run(
        [sys.executable, str(EXAMPLES / name)],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": paths},
    )
    assert done.returncode == 0, done.stderr
    for sentence in SHOWN[name]:
        assert sentence in done.stdout


def test_the_notebook_runs_and_plays_a_derivation(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(path for path in sys.path if path))
    notebook = nbformat.read(EXAMPLES / "derivation.ipynb", as_version=4)
    client = NotebookClient(
        notebook, timeout=120, kernel_name="python3", resources={"metadata": {"path": EXAMPLES}}
    )
    client.execute()
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    pages = [output["data"]["text/html"] for output in outputs if "text/html" in output.get("data", {})]
    assert len(pages) == 1
    assert "<iframe" in pages[0]
    assert "Fjord" in pages[0]


def test_the_notebook_is_committed_without_outputs() -> None:
    notebook = nbformat.read(EXAMPLES / "derivation.ipynb", as_version=4)
    assert not any(cell.get("outputs") for cell in notebook.cells)
