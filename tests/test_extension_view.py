"""A view from outside the package: one file, and one line that adds it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from report_examples import bakery

PLUGIN = '''
"""Which words came from which kind of source."""
from textsplice import extensions

def words(document):
    lines = []
    for origin in document.origins:
        lines.append(f"{document.kind(origin.neighbor)}: {document.token(origin)}")
    return "\\n".join(lines)

extensions.VIEWS.add("words", words)
'''


@pytest.fixture
def texts(tmp_path: Path) -> Path:
    (tmp_path / "word_view.py").write_text(PLUGIN, encoding="utf-8")
    path = tmp_path / "texts.jsonl"
    path.write_text(json.dumps(bakery().to_dict()) + "\n", encoding="utf-8")
    return path


def explain(texts: Path, *options: str) -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join([str(texts.parent), *filter(None, [os.environ.get("PYTHONPATH")])])
    return subprocess.run(
        [sys.executable, "-m", "textsplice", "explain", str(texts), *options],
        env={**os.environ, "PYTHONPATH": path, "TEXTSPLICE_PLUGINS": "word_view"},
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_plugins_view_is_shown_and_written(texts: Path, tmp_path: Path) -> None:
    shown = explain(texts, "--as", "words")
    assert shown.returncode == 0, shown.stderr
    assert shown.stdout.splitlines()[:3] == ["table: Heron", "table: Mill", "neighbor: is"]
    written = explain(texts, "--as", "words", "--out", str(tmp_path / "words.txt"))
    assert written.stdout.strip() == str(tmp_path / "words.txt")
    assert (tmp_path / "words.txt").read_text(encoding="utf-8") == shown.stdout.removesuffix("\n")


def test_a_misspelled_view_suggests_the_nearest(texts: Path) -> None:
    done = explain(texts, "--as", "wordz")
    assert done.returncode == 2
    assert done.stderr == "error [config]: there is no view 'wordz'. Did you mean 'words'?\n"
