"""Datasets of Hugging Face: local ones, since tests use no network."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from textsplice.corpus import read_corpus
from textsplice.corpus.source import is_one_file
from textsplice.errors import CorpusError, MissingExtraError

ROWS = [
    {"name": f"N{n}", "tags": ["a", "b"], "price": n + 0.5, "kind": {"size": "S"}, "text": f"Text {n}."}
    for n in range(40)
]


def test_without_the_extra_the_error_names_it(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "datasets", None)
    with pytest.raises(MissingExtraError, match=r"needs the extra 'datasets'.*'textsplice\[datasets\]'"):
        read_corpus("hf:not/loaded", "train")


@pytest.fixture
def datasets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("HF_HOME", str(tmp_path / "home"))
    found = pytest.importorskip("datasets", reason="the extra 'datasets' is not installed")
    monkeypatch.setattr(found.config, "HF_HUB_OFFLINE", True, raising=False)
    found.disable_progress_bars()
    return found


def test_a_saved_dataset_has_its_splits(datasets, tmp_path: Path):
    parts = {"train": ROWS[:30], "validation": ROWS[30:]}
    made = datasets.DatasetDict({name: datasets.Dataset.from_list(rows) for name, rows in parts.items()})
    made.save_to_disk(str(tmp_path / "saved"))
    source = f"hf:{tmp_path / 'saved'}"
    train, dev = (list(read_corpus(source, split)) for split in ("train", "dev"))
    assert (len(train), len(dev), len(read_corpus(source, "dev"))) == (30, 10, 10)
    assert (train[1].id, train[1].text) == ("train:2", "Text 1.")
    expected = {"name": "N1", "tags": ["a", "b"], "price": "1.5", "kind.size": "S"}
    assert train[1].table.to_record() == expected
    assert not is_one_file(source)
    assert all(path.is_file() for path in read_corpus(source, "dev").files)
    with pytest.raises(CorpusError, match=r"has no split 'test'\. Its splits are train, validation"):
        read_corpus(source, "test")


def test_a_dataset_of_one_split_is_cut_as_one_file_is(datasets, tmp_path: Path):
    datasets.Dataset.from_list(ROWS).save_to_disk(str(tmp_path / "saved"))
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    source = f"hf:{tmp_path / 'saved'}"
    assert is_one_file(source)
    for split in ("train", "dev", "test", None):
        own = [example.text for example in read_corpus(source, split)]
        assert own == [example.text for example in read_corpus(tmp_path / "rows.jsonl", split)]


def test_a_folder_of_files_is_read_by_the_library(datasets, tmp_path: Path):  # noqa: ARG001
    folder = tmp_path / "files"
    folder.mkdir()
    for name in ("train", "test"):
        (folder / f"{name}.jsonl").write_text(json.dumps({"name": name, "text": "T."}) + "\n")
    (example,) = read_corpus(f"hf:{folder}", "test")
    assert example.table.to_record() == {"name": "test"}


def test_what_can_not_be_loaded_is_a_sentence(datasets, tmp_path: Path):  # noqa: ARG001
    with pytest.raises(CorpusError, match=r"hf:no/such: the dataset can't be loaded: .* Name a folder"):
        read_corpus("hf:no/such", "train")
