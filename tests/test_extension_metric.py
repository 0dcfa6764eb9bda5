"""A metric from outside the package: one file, and one line that adds it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

PLUGIN = '''
"""How many words an output has."""
from textsplice import extensions
from textsplice.evaluate.metrics.metric import Metric, means

class Words(Metric):
    name = "WORDS"
    package = "textsplice"
    tokenization = "spaces"
    case = "kept"
    is_share = False

    def statistics(self, outputs, references):
        return means([len(output.split()) for output in outputs])

extensions.METRICS.add("WORDS", Words)
'''


@pytest.fixture
def outputs(tmp_path: Path) -> Path:
    (tmp_path / "word_count.py").write_text(PLUGIN, encoding="utf-8")
    (tmp_path / "refs.jsonl").write_text('{"id": "a", "text": "A b."}\n{"id": "b", "text": "C."}\n')
    path = tmp_path / "out.jsonl"
    path.write_text('{"id": "a", "text": "A b c."}\n{"id": "b", "text": "D."}\n')
    return path


def command(outputs: Path, metrics: str) -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join([str(outputs.parent), *filter(None, [os.environ.get("PYTHONPATH")])])
    options = (str(outputs), "--references", str(outputs.with_name("refs.jsonl")))
    return subprocess.run(
        [sys.executable, "-m", "textsplice", "evaluate", *options, "--metrics", metrics, "--json"],
        env={**os.environ, "PYTHONPATH": path, "TEXTSPLICE_PLUGINS": "word_count"},
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_plugins_metric_is_used_by_the_command(outputs: Path) -> None:
    done = command(outputs, "words,BLEU")
    assert done.returncode == 0, done.stderr
    words, bleu = json.loads(done.stdout)["systems"][0]["scores"]
    assert (words["metric"], words["value"], words["tokenization"]) == ("WORDS", 2.0, "spaces")
    assert words["signature"].startswith("WORDS|refs:1|case:kept|tok:spaces|data:")
    assert bleu["metric"] == "BLEU"


def test_a_misspelled_name_suggests_the_plugins(outputs: Path) -> None:
    done = command(outputs, "WORDSS")
    assert done.returncode == 2
    assert "there is no metric 'WORDSS'. Did you mean 'WORDS'?" in done.stderr
