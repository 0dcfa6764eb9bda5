"""A score for neighbors from outside the package: one class in a file of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from textsplice.config import Config
from textsplice.errors import ConfigError, StorageError
from textsplice.extensions import SCORES
from textsplice.neighbors.scores import score_named
from textsplice.neighbors.store import Store
from textsplice.prepare import prepare

PLUGIN = '''
"""Tables are near if they share words, whatever their fields."""

from textsplice.extensions import SCORES
from textsplice.neighbors import Features, Score


class SharedWords(Score):
    def score(self, query: Features, other: Features) -> float:
        return len(query.values & other.values)


SCORES.add("shared-words", SharedWords)
'''
OAK = {"name": "Oak", "town": "York", "dish": "Pie"}
MILL = {"name": "Mill", "town": "Leeds"}
TRAIN = [
    {"id": "fields", "table": OAK, "text": "Oak in York serves Pie."},
    {"id": "words", "table": MILL, "text": "Visit Mill in Leeds."},
]
ASKED = {"id": "q", "table": {**MILL, "dish": "Soup"}}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "train.jsonl").write_text("".join(json.dumps(row) + "\n" for row in TRAIN))
    (tmp_path / "asked.jsonl").write_text(json.dumps(ASKED) + "\n")
    (tmp_path / "shared_words.py").write_text(PLUGIN)
    return tmp_path


def textsplice(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    paths = [str(folder), *filter(None, [os.environ.get("PYTHONPATH")])]
    return subprocess.run(
        [sys.executable, "-m", "textsplice", *arguments],
        cwd=folder,
        env={**os.environ, "TEXTSPLICE_PLUGINS": "shared_words", "PYTHONPATH": os.pathsep.join(paths)},
        capture_output=True,
        text=True,
        check=False,
    )


def written(folder: Path, score: str) -> tuple[str, list[str]]:
    """The text for `ASKED` by swapping, and the neighbors it was offered."""
    (folder / f"{score}.toml").write_text(
        f'[corpus]\nsource = "{folder}"\nsplits = ["train"]\n[neighbors]\nk = 1\nscore = "{score}"\n'
    )
    done = textsplice(folder, "prepare", f"{score}.toml", "--out", score)
    assert done.returncode == 0, done.stderr
    out = folder / f"{score}.jsonl"
    done = textsplice(folder, "generate", score, "asked.jsonl", "--out", str(out))
    assert done.returncode == 0, done.stderr
    row = json.loads(out.read_text())
    return row["text"], [neighbor["id"] for neighbor in row["sources"]["neighbors"]]


def test_a_score_from_outside_decides_which_text_is_spliced(folder: Path) -> None:
    assert written(folder, "fields-and-values") == ("Mill in Leeds serves Soup.", ["fields"])
    assert written(folder, "shared-words") == ("Visit Mill in Leeds.", ["words"])
    # Only a store with another score names it: stores with the default are the same bytes as before.
    assert "score" not in json.loads((folder / "fields-and-values/store/store.json").read_text())
    assert json.loads((folder / "shared-words/store/store.json").read_text())["score"] == "shared-words"


def test_a_store_whose_score_is_not_there_names_it(tmp_path: Path) -> None:
    (tmp_path / "store.json").write_text('{"format": 1, "tokenizer": "words", "fold": [], "score": "lost"}')
    with pytest.raises(StorageError) as caught:
        Store.load(tmp_path)
    assert str(caught.value) == (
        f"{tmp_path}: was made with the score 'lost', which is not there. "
        "Name the module that adds it in TEXTSPLICE_PLUGINS."
    )


def test_a_score_that_nobody_added_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    config = Config().with_values(["neighbors.score=fields-and-value"])
    with pytest.raises(ConfigError) as caught:
        prepare(config, folder=tmp_path / "prepared", quiet=True)
    assert str(caught.value) == (
        "there is no score for neighbors 'fields-and-value'. Did you mean 'fields-and-values'?"
    )
    assert not list(tmp_path.iterdir())


def test_what_is_no_score_is_refused_in_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(SCORES._entries, "wrong", len)  # pyright: ignore[reportPrivateUsage]
    with pytest.raises(ConfigError) as caught:
        score_named("wrong")
    assert str(caught.value) == (
        "neighbors.score: the score 'wrong' is not a subclass of textsplice.neighbors.Score."
    )
