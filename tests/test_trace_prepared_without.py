"""A prepared folder without some texts is what `prepare` makes of a corpus without them."""

from __future__ import annotations

import json
import random
import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner

import textsplice
from textsplice.cli import app
from textsplice.config import Config, load_config
from textsplice.errors import ConfigError, InputError, StorageError, TextspliceError
from textsplice.prepare import prepare
from textsplice.runs import Prepared, Run
from textsplice.search.rows import row_text
from textsplice.splicer import Splicer
from textsplice.trace import uses
from textsplice.trace.withdraw import concerned, prepared_without
from training_corpus import prepare_tiny, tiny_config


def config_of(folder: Path, gone: frozenset[str] = frozenset()) -> Config:
    """The bundled corpus without some of its training texts, and a configuration that prepares it."""
    folder.mkdir(parents=True)
    for split, count in (("train", 300), ("dev", 40)):
        examples = list(textsplice.read_corpus("bundled", split))[:count]
        rows = [
            {"id": e.id, "table": e.table.to_record(), "text": e.text} for e in examples if e.id not in gone
        ]
        (folder / f"{split}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    settings = f'[corpus]\nsource = "{folder}"\nsplits = ["train", "dev"]\n[text]\nlexicon = "bundled"\n'
    (folder / "config.toml").write_text(f'{settings}[output]\nprepared = "{folder / "prepared"}"\n')
    return load_config(folder / "config.toml")


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Prepared:
    return prepare(config_of(tmp_path_factory.mktemp("without") / "corpus"), quiet=True)


def test_all_but_where_it_comes_from_is_as_if_the_texts_had_never_been_there(
    prepared: Prepared, tmp_path: Path
) -> None:
    gone = frozenset(random.Random(2).sample(prepared.store.ids, 40))
    made = prepared_without(prepared, gone, tmp_path / "made")
    expected = prepare(config_of(tmp_path / "corpus", gone), quiet=True)
    found, wanted = made.manifest.hashes, expected.manifest.hashes
    assert found.keys() == wanted.keys()
    # The texts are laid out in other row groups; the configuration names the corpus.
    differing = {name for name in wanted if found[name] != wanted[name]}
    assert differing <= {"config.toml", "texts/train.parquet", "texts/train-tables.parquet"}
    assert made.split("train").texts == expected.split("train").texts
    assert made.split("train").tables == expected.split("train").tables
    assert not gone & set(made.store.ids)
    assert made.check() == len(found)
    assert made.key != prepared.key
    assert to_settings(made) == to_settings(prepared)  # so that `train` takes it for the same configuration


def to_settings(prepared: Prepared) -> object:
    return prepared.config.to_dict()


def test_the_folder_that_is_there_stays_as_it_is(prepared: Prepared, tmp_path: Path) -> None:
    before = {path: path.read_bytes() for path in prepared.folder.rglob("*") if path.is_file()}
    prepared_without(prepared, prepared.store.ids[:3], tmp_path / "made")
    assert {path: path.read_bytes() for path in prepared.folder.rglob("*") if path.is_file()} == before


def test_the_command_lists_uses_writes_the_folder_and_makes_texts_anew(
    prepared: Prepared, tmp_path: Path
) -> None:
    splicer = Splicer.untrained(prepared)
    rows = list(splicer.generate_many(prepared.split("dev").tables, progress=False))
    texts = tmp_path / "texts.jsonl"
    texts.write_text("".join(map(row_text, rows)), encoding="utf-8")
    gone = {rows[0].sources.neighbors[rows[0].splices[0].neighbor - 1].id}
    (tmp_path / "ids.txt").write_bytes("\ufeff".encode() + f"{next(iter(gone))}\r\n".encode() * 2)
    result = CliRunner().invoke(
        app,
        [
            *("withdraw", str(prepared.folder), "--ids-from", str(tmp_path / "ids.txt")),
            *("--texts", str(texts), "--texts", str(texts), "--uses", str(tmp_path / "uses.jsonl")),
            *("--out", str(tmp_path / "new"), "--remade", str(tmp_path / "new.jsonl")),
        ],
    )
    assert result.exception is None, result.output
    used = list(concerned([texts], gone))
    assert "the prepared folder without 1 text. Its corpus still has them." in result.stdout
    noun = "text was" if len(used) == 1 else "texts were"
    assert f"new.jsonl: {len(used)} {noun} made anew." in result.stdout
    lines = (tmp_path / "uses.jsonl").read_text(encoding="utf-8").splitlines()
    assert len(lines) == sum(len(each.uses) for each in used)
    assert textsplice.verify(tmp_path / "new.jsonl", tmp_path / "new") == len(used)
    for line in (tmp_path / "new.jsonl").read_text(encoding="utf-8").splitlines():
        row = textsplice.Generation.from_dict(json.loads(line))
        assert not uses(row, gone)
        assert not gone & {neighbor.id for neighbor in row.sources.neighbors}


def test_training_works_and_never_sees_the_texts(tmp_path: Path) -> None:
    prepare_tiny(tmp_path)
    prepared = Prepared.open(tmp_path / "prepared")
    gone = [
        name for name, text in zip(prepared.store.ids, prepared.store.texts, strict=True) if "Zizzi" in text
    ]
    assert len(gone) == 3
    prepared_without(prepared, gone, tmp_path / "without")
    config = tiny_config(
        tmp_path, f"output.prepared={tmp_path / 'without'}", f"output.run={tmp_path / 'new'}"
    )
    textsplice.train(config, quiet=True)
    run = Run.open(tmp_path / "new")
    assert run.store.ids == [name for name in prepared.store.ids if name not in gone]
    assert "Zizzi" in prepared.vocabulary.words
    assert "Zizzi" not in run.vocabulary.words
    assert not any(b"Zizzi" in path.read_bytes() for path in run.path.rglob("*") if path.is_file())
    out = Splicer.load(run.path).generate({"name": "Cotto", "food": "French", "area": "riverside"})
    assert not set(gone) & {neighbor.id for neighbor in out.sources.neighbors}


def test_texts_by_a_policy_can_not_be_made_anew_by_a_folder_without_one(
    prepared: Prepared, tmp_path: Path
) -> None:
    row = Splicer.untrained(prepared).generate(prepared.split("dev").tables[0])
    source = row.sources.neighbors[row.splices[0].neighbor - 1].id
    text = row_text(row).replace('"policy": "swap"', '"policy": "full"')
    (tmp_path / "texts.jsonl").write_text(text, encoding="utf-8")
    arguments = ("--texts", str(tmp_path / "texts.jsonl"), "--out", str(tmp_path / "new"))
    result = CliRunner().invoke(
        app,
        ["withdraw", str(prepared.folder), source, *arguments, "--remade", str(tmp_path / "new.jsonl")],
    )
    assert result.exception is None, result.output
    assert "0 texts were made anew." in result.stdout
    assert "1 of the texts were made by a policy" in result.stdout


def test_a_corpus_has_uses_but_is_never_written(tmp_path: Path) -> None:
    config_of(tmp_path / "corpus")
    corpus = tmp_path / "corpus" / "train.jsonl"
    examples = list(textsplice.read_corpus(str(corpus)))
    drafts, traces = tmp_path / "drafts.txt", tmp_path / "traces.jsonl"
    drafts.write_text(f"{examples[5].text}\n{examples[9].text}\n", encoding="utf-8")
    runner = CliRunner()
    assert runner.invoke(app, ["trace", str(corpus), str(drafts), "--out", str(traces)]).exception is None
    result = runner.invoke(app, ["withdraw", str(corpus), examples[9].id, "--texts", str(traces)])
    assert result.exception is None, result.output
    assert result.stdout.endswith("1 text uses this source.\n")
    result = runner.invoke(app, ["withdraw", str(corpus), examples[9].id, "--out", str(tmp_path / "new")])
    assert isinstance(result.exception, ConfigError)
    assert result.exception.sentence() == (
        f"--out: {corpus} is a corpus, your own file, and is not written anew. Take the texts out of it "
        "yourself, or give a run or a prepared folder."
    )
    result = runner.invoke(app, ["withdraw", str(corpus), "nowhere-9999"])
    assert isinstance(result.exception, InputError)


def test_what_can_not_be_is_a_sentence_and_writes_nothing(prepared: Prepared, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no text would be left to splice from"):
        prepared_without(prepared, prepared.store.ids, tmp_path / "none")
    with pytest.raises(InputError, match="has no text with the id 'x'"):
        prepared_without(prepared, ["x"], tmp_path / "none")
    assert not (tmp_path / "none").exists()
    prepared_without(prepared, prepared.store.ids[:1], tmp_path / "made")
    with pytest.raises(StorageError, match=r"is a prepared folder already\. Name a new folder\."):
        prepared_without(prepared, prepared.store.ids[:1], tmp_path / "made")
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "letter.txt").write_text("mine")
    with pytest.raises(StorageError, match="is not empty"):
        prepared_without(prepared, prepared.store.ids[:1], tmp_path / "mine")
    broken = tmp_path / "broken"
    shutil.copytree(prepared.folder, broken)
    (broken / "texts" / "train.parquet").write_bytes(b"x")
    with pytest.raises(TextspliceError):
        prepared_without(Prepared.open(broken), prepared.store.ids[:1], tmp_path / "none")
    assert not (tmp_path / "none").exists()


def test_a_folder_that_was_not_finished_is_taken_up_again(prepared: Prepared, tmp_path: Path) -> None:
    made = prepared_without(prepared, prepared.store.ids[:2], tmp_path / "whole")
    half = tmp_path / "half"
    stages = json.loads((made.folder / "manifest.json").read_text())["stages"]
    kept = {name: stages[name] for name in ("lexicon", "texts/dev", "texts/train")}
    for name in (name for stage in kept.values() for name in stage["files"]):
        (half / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(made.folder / name, half / name)
    (half / "manifest.json").write_text(json.dumps({"format": 1, "stages": kept}))
    again = prepared_without(prepared, prepared.store.ids[:2], half)
    assert again.manifest.hashes == made.manifest.hashes
