"""Folders that version 0.1 made: they open, generate the same texts, and can be continued."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from textsplice.config import load_config
from textsplice.corpus import read_corpus
from textsplice.prepare import prepare
from textsplice.runs import Prepared, Run
from textsplice.runs.journal import read_journal
from textsplice.search.rows import read_generations
from textsplice.splicer import Splicer
from textsplice.training import train

OLD = Path(__file__).with_name("data") / "version-0.1"


@pytest.fixture
def old(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the old folders, in which relative paths are right."""
    shutil.copytree(OLD, tmp_path / "old")
    monkeypatch.chdir(tmp_path / "old")
    return tmp_path / "old"


@pytest.mark.parametrize("policy", ["full", "lrt", "copy"])
def test_an_old_run_generates_the_texts_and_splices_it_generated_then(policy: str) -> None:
    before = [generation for _, generation in read_generations(OLD / f"{policy}.jsonl")]
    now = Splicer.load(OLD / "runs" / policy).generate_many(
        list(read_corpus(OLD / "corpus", "dev")), progress=False
    )
    for was, generation in zip(before, now, strict=True):
        assert generation.text == was.text
        assert generation.splices == was.splices
        assert generation.sources == was.sources
        assert generation.score == pytest.approx(was.score, abs=1e-5)
        assert (generation.run, generation.weights) == (was.run, was.weights)


def test_an_old_prepared_folder_is_up_to_date_and_stays_as_it_is(old: Path) -> None:
    before = (old / "prepared/manifest.json").read_bytes()
    said: list[str] = []
    prepare(load_config(old / "config.toml"), report=said.append, quiet=True)
    assert said == ["prepared is up to date: nothing to do."]
    assert (old / "prepared/manifest.json").read_bytes() == before
    assert len(Prepared.open(old / "prepared").split("dev")) == 8


def test_an_old_run_is_continued_and_becomes_a_run_of_this_format(old: Path) -> None:
    lines = len(read_journal(old / "runs/full/train.jsonl"))
    was = Run.open("runs/full")
    assert (was.about.get("files"), was.journal.name) == (None, "train.jsonl")
    config = load_config("runs/full/config.toml").with_values(["training.max_steps=62"])
    assert train(config, resume=True, quiet=True).step == 62
    run = Run.open("runs/full")
    assert (run.id, run.journal.name) == (was.id, "journal.jsonl")
    assert len(read_journal(run.journal)) > lines
    assert not (old / "runs/full/train.jsonl").exists()
    assert {"model.safetensors", "config.toml", "vocab.json", "store/store.json"} <= set(run.about["files"])  # pyright: ignore
    assert Splicer.load("runs/full").generate(json.loads('{"name": "Elm Yard"}')).text


def test_an_old_run_that_is_discarded_leaves_only_what_was_not_its_own(old: Path) -> None:
    (old / "runs/copy/notes.txt").write_text("keep me")
    config = load_config("runs/copy/config.toml").with_values(["training.max_steps=1"])
    train(config, fresh=True, quiet=True)
    assert (old / "runs/copy/notes.txt").read_text() == "keep me"
    assert not (old / "runs/copy/train.jsonl").exists()
