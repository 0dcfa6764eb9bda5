"""Targets: a teacher's texts that policies learn from; people's are spliced from and scored against."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import textsplice
from textsplice import Table
from textsplice.config import Config
from textsplice.errors import ConfigError, CorpusError, StorageError
from textsplice.oracle import replay
from textsplice.runs.prepared import Prepared, sources_of
from textsplice.training.start import check_prepared

OLD = Path(__file__).parent / "data" / "version-0.1"


def teach(folder: Path, **changes: object) -> Path:
    """Rows as `generate` writes them: a text of each table, and two others."""
    folder.mkdir()
    for split in ("train", "dev"):
        tables = dict.fromkeys(e.table for e in textsplice.read_corpus("bundled", split))
        with (folder / f"{split}.jsonl").open("w") as file:
            for number, table in enumerate(list(tables)[:40]):
                name = next(iter(table.to_record().values()))
                row: dict[str, object] = {
                    "id": f"{split}-{number}",
                    "table": table.to_record(),
                    "text": f"{name} is a walk.",
                    "alternatives": [
                        {"text": f"The walk is {name}.", "score": -1.0},
                        {"text": "A walk.", "score": -2.0},
                    ],
                }
                file.write(json.dumps({**row, **changes}) + "\n")
    return folder


def settings(targets: Path | str, **corpus: object) -> Config:
    base = Config()
    return replace(base, corpus=replace(base.corpus, targets=str(targets), **corpus))  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("targets")


@pytest.fixture(scope="module")
def people(folder: Path) -> Prepared:
    return textsplice.prepare(Config(), folder=folder / "people", quiet=True)


@pytest.fixture(scope="module")
def taught(folder: Path) -> Prepared:
    return textsplice.prepare(settings(teach(folder / "rows")), folder=folder / "taught", quiet=True)


def test_policies_learn_from_targets_and_their_alternatives(taught: Prepared) -> None:
    learned = taught.learned("train")
    assert len(learned) == 80
    assert learned.ids[:2] == ["train-0", "train-0#2"]
    assert all(text.endswith(".") and "walk" in text for text in learned.texts)
    assert len(taught.learned("dev")) > 0


def test_what_is_spliced_from_and_scored_against_stays_peoples(people: Prepared, taught: Prepared) -> None:
    assert taught.store.texts == people.store.texts
    assert taught.texts("dev") == people.texts("dev")
    assert taught.split("train").texts == people.split("train").texts
    assert people.learned("train").texts == people.split("train").texts


def test_targets_are_derived_from_people_s_texts_but_not_of_their_own_record(taught: Prepared) -> None:
    learned, store = taught.learned("train"), taught.store
    for row in range(len(learned)):
        made = replay(learned.derivation(row), sources_of(learned, row, store, taught.vocabulary))
        assert made == learned.targets[row].tolist()
        own = learned.tables[learned.table_of[row]]
        assert own not in [store.tables[store.table_of[n]] for n in learned.neighbors_of(row)]


def test_neighbors_of_targets_are_those_of_the_same_record_in_train(
    people: Prepared, taught: Prepared
) -> None:
    known = people.split("train")
    rows = {known.tables[table]: row for row, table in reversed([*enumerate(known.table_of)])}
    learned = taught.learned("train")
    for row in (0, 9, 31):
        table: Table = learned.tables[learned.table_of[row]]
        assert np.array_equal(learned.neighbors[row], known.neighbors[rows[table]])


def test_the_number_of_alternatives_is_a_setting(folder: Path, taught: Prepared) -> None:
    alone = textsplice.prepare(
        settings(folder / "rows", target_alternatives=0), folder=folder / "alone", quiet=True
    )
    assert len(taught.learned("train")) == 2 * len(alone.learned("train"))


def test_a_folder_without_targets_is_prepared_as_before(people: Prepared) -> None:
    assert "targets" not in (people.folder / "config.toml").read_text()
    assert not [name for name in people.manifest.hashes if "targets" in name]


def test_only_what_depends_on_targets_is_made_again(folder: Path) -> None:
    made: list[str] = []
    target = folder / "changed"
    textsplice.prepare(settings(folder / "rows"), folder=target, quiet=True)
    changed = settings(folder / "rows", target_alternatives=2)
    textsplice.prepare(changed, folder=target, quiet=True, report=made.append)
    read = [line for line in made if line.startswith("made texts/")]
    assert read == ["made texts/targets-train", "made texts/targets-dev"]


def test_training_refuses_a_folder_that_was_prepared_without_the_targets(
    people: Prepared, taught: Prepared
) -> None:
    with pytest.raises(ConfigError, match=r"corpus\.targets"):
        check_prepared(settings("elsewhere"), people)
    check_prepared(settings("elsewhere"), taught)  # a folder may be moved; its files are hashed


def test_targets_that_are_not_there_are_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match="there is no such file or folder"):
        textsplice.prepare(settings(tmp_path / "none"), folder=tmp_path / "p", quiet=True)


@pytest.mark.parametrize("others", ["a text", ["a text"], [{"score": 1}], [{"text": ["a"]}]])
def test_alternatives_that_are_no_texts_are_a_sentence(tmp_path: Path, others: object) -> None:
    rows = teach(tmp_path / "rows", alternatives=others)
    with pytest.raises(CorpusError, match=r"train\.jsonl:1.*alternatives"):
        textsplice.prepare(settings(rows), folder=tmp_path / "p", quiet=True)


def test_a_target_without_text_is_a_sentence(tmp_path: Path) -> None:
    rows = teach(tmp_path / "rows", text="")
    with pytest.raises(CorpusError, match="has no text to learn from"):
        textsplice.prepare(settings(rows), folder=tmp_path / "p", quiet=True)


def test_targets_are_no_split_that_can_be_asked_for(taught: Prepared) -> None:
    with pytest.raises(StorageError, match="has no split"):
        taught.split("targets-train")
