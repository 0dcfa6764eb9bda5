"""Which rows are train, dev and test: one answer for every command."""

from __future__ import annotations

import csv
import json
from collections import Counter
from pathlib import Path

import pytest

from textsplice.config import Config, CorpusConfig
from textsplice.corpus import Example, Table, read_corpus
from textsplice.corpus.splits import SPLITS, split_of
from textsplice.prepare import prepare
from textsplice.prepare.summary import summarize
from textsplice.prepare.texts import open_split, tokenized_examples


def write_csv(path: Path, rows: int = 200) -> Path:
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["name", "length", "summary"])
        for n in range(rows):
            writer.writerows([[f"Route {n}", f"{n} km", f"Text {n}{letter}."] for letter in "ab"])
    return path


def test_one_file_is_cut_by_table_and_every_row_is_in_one_split(tmp_path: Path):
    path = write_csv(tmp_path / "mine.csv")
    parts = {split: list(read_corpus(path, split, text_column="summary")) for split in SPLITS}
    whole = list(read_corpus(path, text_column="summary"))
    assert whole == list(read_corpus(path, "all", text_column="summary"))
    assert sorted(e.id for part in parts.values() for e in part) == sorted(e.id for e in whole)
    assert all(set(Counter(e.table for e in part).values()) == {2} for part in parts.values())
    assert len(parts["train"]) > 280
    assert len(parts["dev"]) > 20
    assert len(parts["test"]) > 20


@pytest.mark.parametrize("name", ["valid", "validation"])
def test_dev_has_other_names(tmp_path: Path, name: str):
    path = write_csv(tmp_path / "mine.csv")
    corpus = read_corpus(path, name)
    assert list(corpus) == list(read_corpus(path, "dev"))
    assert (corpus.split, len(corpus)) == ("dev", len(list(corpus)))


def test_the_cut_never_changes():
    splits = [split_of(Table.of({"name": f"Route {n}"})) for n in range(40)]
    assert [n for n, split in enumerate(splits) if split == "dev"] == [1, 2, 5, 11, 35]
    assert [n for n, split in enumerate(splits) if split == "test"] == [15, 16, 31, 32]


def test_the_order_of_fields_and_empty_fields_do_not_change_the_split():
    for n in range(100):
        table = Table.of({"name": f"Route {n}", "length": f"{n} km"})
        assert split_of(table) == split_of(
            Table.of({"length": f"{n} km", "note": None, "name": f"Route {n}"})
        )


@pytest.mark.parametrize("name", ["mine.csv", "e2e"])
@pytest.mark.parametrize("split", SPLITS)
def test_prepare_reads_the_same_rows(tmp_path: Path, name: str, split: str):
    if name == "e2e":
        rows = "".join(f'"name[Route {n}]",Text {n}.\n' for n in range(60))
        (tmp_path / "mine.csv").write_text("mr,summary\n" + rows)
        source = f"e2e:{tmp_path / 'mine.csv'}"
    else:
        source = str(write_csv(tmp_path / name))
    config = CorpusConfig(source=source, text_column="summary")
    rows = list(open_split(config, split))
    assert 0 < len(rows) < 400
    assert rows == list(read_corpus(source, split, text_column="summary"))
    assert rows == list(read_corpus(source, split, like=config))


def test_prepare_keeps_the_same_record_once_and_its_linearization_as_it_came(tmp_path: Path):
    rows = [
        {"table": {"name": "Loop", "length": "3 km"}, "text": "Loop is 3 km."},
        {"table": {"length": "3 km", "name": "Loop", "note": None}, "text": "3 km is Loop."},
    ]
    for split in ("train", "dev"):
        lines = "".join(json.dumps(row) + "\n" for row in rows)
        (tmp_path / f"{split}.jsonl").write_text(lines)
    config = Config().with_values([f'corpus.source="{tmp_path}"', 'corpus.splits=["train", "dev"]'])
    examples = tokenized_examples(open_split(config.corpus, "dev"), "dev", config.corpus, "words")
    assert [item.table.tokens[0] for item in examples] == ["name:", "length:"]
    prepared = prepare(config, folder=tmp_path / "prepared", threads=1, quiet=True)
    dev = prepared.split("dev")
    assert dev.table_of.tolist() == [0, 0]
    assert [table.fields for table in dev.tables] == [Table.of({"name": "Loop", "length": "3 km"}).fields]
    assert summarize(prepared, "dev").tables == 1


def test_a_folder_that_was_cut_by_an_older_rule_is_prepared_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    config = Config().with_values(
        [f'corpus.source="{write_csv(tmp_path / "mine.csv")}"', "corpus.text_column=summary"]
    )
    made: list[str] = []
    prepare(config, folder=tmp_path / "prepared", threads=1, quiet=True)
    prepare(config, folder=tmp_path / "prepared", threads=1, quiet=True, report=made.append)
    assert len(made) == 1
    monkeypatch.setattr("textsplice.corpus.corpus.CUT_VERSION", 3)
    prepare(config, folder=tmp_path / "prepared", threads=1, quiet=True, report=made.append)
    assert "made texts/train" in made


# -- the text column of a run ---------------------------------------------------------------------


def test_the_text_column_of_a_run_is_used_where_there_is_one(tmp_path: Path):
    like = CorpusConfig(text_column="summary")
    path = write_csv(tmp_path / "mine.csv", rows=1)
    first = next(iter(read_corpus(path, like=like)))
    assert first == Example("mine:1", Table.of({"name": "Route 0", "length": "0 km"}), "Text 0a.")
    path.write_text("name,text\nLoop,A loop.\n")
    assert list(read_corpus(path, like=like)) == [Example("mine:1", Table.of({"name": "Loop"}), "A loop.")]
    path.write_text("name\nLoop\n")
    assert list(read_corpus(path, like=like)) == [Example("mine:1", Table.of({"name": "Loop"}), None)]


def test_a_column_that_is_named_comes_before_that_of_a_run(tmp_path: Path):
    path = tmp_path / "a.csv"
    path.write_text("name,summary,body\nLoop,S.,B.\n")
    (example,) = read_corpus(path, text_column="body", like=CorpusConfig(text_column="summary"))
    assert example == Example("a:1", Table.of({"name": "Loop", "summary": "S."}), "B.")


def test_a_row_of_jsonl_may_lack_the_key_of_a_run(tmp_path: Path):
    rows = [{"table": {"a": 1}, "said": "S."}, {"table": {"a": 2}, "text": "T."}, {"table": {"a": 3}}]
    path = tmp_path / "a.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    texts = [example.text for example in read_corpus(path, like=CorpusConfig(text_column="said"))]
    assert texts == ["S.", "T.", None]


def test_the_sentences_of_a_run_are_read_from_wikibio(tmp_path: Path):
    for kind, text in (("box", "name_1:eva\n"), ("nb", "2\n"), ("sent", "she sings .\nshe acts .\n")):
        (tmp_path / f"test.{kind}").write_text(text)
    source = f"wikibio:{tmp_path}"
    like = CorpusConfig(sentences="all")
    assert [e.text for e in read_corpus(source, "test", like=like)] == ["she sings . she acts ."]
    assert [e.text for e in read_corpus(source, "test", like=like, sentences="first")] == ["she sings ."]
    assert [e.text for e in read_corpus(source, "test")] == ["she sings ."]
