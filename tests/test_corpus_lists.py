"""Cells that hold several values: which columns are read so, and that every command reads them alike."""

from __future__ import annotations

import csv
import json
from collections.abc import Sequence
from html import unescape
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from test_inputs_files import run
from textsplice.config import Config
from textsplice.corpus import read_corpus
from textsplice.corpus.lists import MISSING, find_lists, parse_lists, values_of, written
from textsplice.errors import ConfigError, CorpusError
from textsplice.prepare import prepare
from textsplice.runs import Prepared, Run
from textsplice.search.spreadsheet import joined
from textsplice.training import train
from textsplice.training.start import check_prepared


def found(*cells: str) -> str | None:
    """The separator of a column with these cells."""
    return find_lists(["c"], [[cell] for cell in cells], []).get("c")


@pytest.mark.parametrize(
    ("cells", "separator"),
    [
        (["basket|lights", "lights", "rack|basket"], "|"),
        (["red; green", "green", "blue; red"], ";"),
        (["red;green", "green;red;", "blue"], ";"),
        (["red; green", "red", "green"], ";"),
        (["lights|rack", "rack", "bell"], "|"),
        (["Ann Crowe|Bob Hay", "Cy Dee|Eve Fox", "Gil Hale"], "|"),
        ([f"Ann {n}; Bob {n}; Cy {n}" for n in "ABCDEF"], ";"),
        (['["S", "M"]', "[]", '["L"]'], "json"),
        (["['S', 'M']", "['it\\'s']"], "json"),
        (["[1, 2]", "[3]"], "json"),
        (['["S"]', "M", ""], "json"),
        (["Open daily.|Dogs are welcome here.", "Closed in winter.|Open daily."], "|"),
    ],
)
def test_a_column_of_lists_is_found(cells: list[str], separator: str):
    assert found(*cells) == separator


@pytest.mark.parametrize(
    "cells",
    [
        ["Opens at nine; closes late", "By the river; dogs welcome", "Quiet"],
        [f"opens at {n}; closes late on day {n}" for n in range(20)],
        ["good; cheap and light", "fine"] * 10,
        [f"{n}.5; {n}.25" for n in range(50, 70)],  # places on a map
        ["Fish &amp; chips", "Fish &amp; peas", "chips"],
        ["see [1]", "[1]", "[2]"],
        ["[unknown]", '["a"]'],
        ["a|b", "plain", "other", "more"],
        ["A long remark about the place that goes on; and on, for as long as it likes to"] * 3,
        ["x" * 2000, "a|b", "b|a"],
        ["a, b", "b, a"],
        [],
        ["", " "],
        ["|", ";;", "; ;"],
    ],
    ids=range(14),
)
def test_what_may_be_one_value_is_kept_whole(cells: list[str]):
    assert found(*cells) is None


def test_the_text_and_the_id_are_never_lists(tmp_path: Path):
    path = tmp_path / "a.csv"
    path.write_text("id,name,said\n" + "".join(f"a|{n},N,red|blue {n % 2}\n" for n in range(6)))
    assert read_corpus(path, text_column="said").lists == ()
    assert read_corpus(path).lists == ("said |",)


def test_repeated_rows_are_no_evidence(tmp_path: Path):
    """Several texts of one record repeat its cells."""
    path = tmp_path / "a.csv"
    path.write_text("name,note,text\n" + "N,old; but good,T.\n" * 50)
    assert read_corpus(path).lists == ()


VALUES = st.text(st.characters(blacklist_categories=["Cs", "Cc"]), min_size=1, max_size=9).map(str.strip)


def stands_for_itself(text: str) -> bool:
    """Whether a cell with this text holds it: it is not empty by any name, and has no `&amp;`."""
    return text not in ("", *MISSING) and unescape(text) == text


@given(st.lists(VALUES.filter(lambda text: stands_for_itself(text) and not text.startswith("[")), max_size=4))
def test_what_is_joined_is_read_back(values: list[str]):
    cell = joined(values)
    separator = "json" if cell.startswith("[") else "|"
    if len(values) != 1 or "|" not in values[0]:
        assert values_of(cell, separator) == tuple(values)


@given(st.lists(st.text(max_size=30), max_size=8), st.sampled_from([None, "|", ";", "json", ","]))
def test_any_cell_has_values(cells: list[str], separator: str | None):
    found(*cells)
    for cell in cells:
        values = values_of(cell, separator)
        assert all(value and value == value.strip() for value in values)
        assert bool(values) or separator is not None or not stands_for_itself(cell.strip())


def test_people_who_are_called_like_an_empty_cell_stay():
    assert [values_of(name, None) for name in ("Nan", "Nat", "Null")] == [("Nan",), ("Nat",), ("Null",)]
    assert not any(values_of(name, None) for name in (" NaN ", "nan", "NULL", "null", "N/A", "n/a", ""))


def test_columns_are_named_with_what_separates_them():
    said = ("main features |", "sizes json", "a b c ;", "x ::")
    assert parse_lists(said) == {"main features": "|", "sizes": "json", "a b c": ";", "x": "::"}
    assert written(parse_lists(said)) == said


@pytest.mark.parametrize("said", ["features", "|", "features and", "auto"])
def test_a_column_without_a_separator_is_refused(said: str):
    with pytest.raises(ConfigError, match="does not say what separates the values of which column"):
        parse_lists(["colors ;", said])


def write_csv(path: Path, *rows: Sequence[str]) -> Path:
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows(rows)
    return path


def test_lists_can_be_named_or_turned_off(tmp_path: Path):
    path = write_csv(tmp_path / "a.csv", ["name", "tags"], ["A", "x/y"], ["B", "a|b"], ["C", "b|a"])

    def tags(lists: Sequence[str] | None) -> list[tuple[str, ...]]:
        return [example.table["tags"] for example in read_corpus(path, lists=lists)]

    assert tags(None) == [("x/y",), ("a", "b"), ("b", "a")]
    assert tags(["none"]) == tags([]) == [("x/y",), ("a|b",), ("b|a",)]
    assert tags(["tags /"]) == [("x", "y"), ("a|b",), ("b|a",)]
    with pytest.raises(CorpusError) as caught:
        read_corpus(path, lists=["tag /"])
    assert str(caught.value) == (
        f"{path}:1: there is no column 'tag', which corpus.lists names; did you mean 'tags'?"
        " The columns are name, tags."
    )


def test_other_formats_have_lists_of_their_own(tmp_path: Path):
    path = tmp_path / "a.jsonl"
    path.write_text('{"tags": "a|b"}\n{"tags": ["b|c", "a"]}\n')
    assert [example.table["tags"] for example in read_corpus(path)] == [("a|b",), ("b|c", "a")]
    with pytest.raises(ConfigError, match="only for CSV, TSV and Excel files"):
        read_corpus(path, lists=["tags |"])


def test_all_splits_of_a_folder_are_read_as_train(tmp_path: Path):
    write_csv(tmp_path / "train.csv", ["tags", "text"], ["a|b", "T."], ["b|a", "T."])
    write_csv(tmp_path / "dev.csv", ["tags", "text"], ["c|d", "T."])
    (example,) = read_corpus(tmp_path, "dev")
    assert example.table["tags"] == ("c", "d")
    (tmp_path / "train.csv").unlink()
    (example,) = read_corpus(tmp_path, "dev")
    assert example.table["tags"] == ("c|d",)


# -- what is prepared is remembered ----------------------------------------------------------------

FEATURES = ("basket", "lights", "rack", "bell")


@pytest.fixture(scope="module")
def bikes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    rows = [["name", "features", "said"]]
    for n in range(60):
        parts = FEATURES[n % 4 : n % 4 + 1 + n % 2]
        rows.append([f"Bike {n}", "|".join(parts), f"Bike {n} has a {' and a '.join(parts)}."])
    return write_csv(tmp_path_factory.mktemp("bikes") / "bikes.csv", *rows)


def config_of(bikes: Path, *values: str) -> Config:
    return Config().with_values([f'corpus.source="{bikes}"', "corpus.text_column=said", *values])


@pytest.fixture(scope="module")
def prepared(bikes: Path) -> tuple[Path, list[str]]:
    told: list[str] = []
    made = prepare(
        config_of(bikes), folder=bikes.parent / "prepared", threads=1, quiet=True, report=told.append
    )
    return made.folder, told


def test_prepare_says_what_it_found_and_remembers_it(bikes: Path, prepared: tuple[Path, list[str]]):
    folder, told = prepared
    assert told[0] == (f"{bikes}: cells are read as lists in features ('|'); corpus.lists can say otherwise.")
    opened = Prepared.open(folder)
    assert opened.config.corpus.list_columns == ("features |",)
    assert any(len(table["features"]) == 2 for table in opened.store.tables)
    # The configuration that a person wrote is still the one that it was prepared with.
    now = config_of(bikes).with_values(["corpus.list_columns=['features |']"])
    check_prepared(now, opened)


def test_generate_reads_one_row_as_prepare_read_all(
    prepared: tuple[Path, list[str]], tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    """One row alone would not show that the column holds lists; nor is another column cut."""
    new = write_csv(tmp_path / "new.csv", ["name", "features", "note"], ["X", "bell|rack", "a|b"])
    assert run("generate", prepared[0], new, "-q") == 0
    table = json.loads(capsys.readouterr().out)["table"]
    assert table == {"name": "X", "features": ["bell", "rack"], "note": "a|b"}
    assert run("generate", prepared[0], new, "-q", "--lists", "note |") == 0
    table = json.loads(capsys.readouterr().out)["table"]
    assert table == {"name": "X", "features": "bell|rack", "note": ["a", "b"]}


def test_a_folder_of_before_keeps_its_cells_whole(bikes: Path, tmp_path: Path):
    """Such a folder says nothing of lists, which is what it says if there are none."""
    made = prepare(config_of(bikes, "corpus.lists=none"), folder=tmp_path / "p", threads=1, quiet=True)
    assert made.config.corpus.list_columns == ()
    assert all(len(table["features"]) == 1 for table in made.store.tables)
    text = (tmp_path / "p" / "config.toml").read_text()
    assert "list_columns" not in text
    examples = list(read_corpus(bikes, like=made.config.corpus))
    assert all(len(example.table["features"]) == 1 for example in examples)


def test_the_keys_of_a_corpus_without_lists_are_those_of_before(tmp_path: Path):
    """The settings of lists are in no key unless there are any."""
    path = write_csv(
        tmp_path / "a.csv", ["name", "text"], *([f"N {n}", f"N {n} is here."] for n in range(40))
    )
    config = Config().with_values([f'corpus.source="{path}"'])
    auto = prepare(config, folder=tmp_path / "a", threads=1, quiet=True)
    none = prepare(config.with_values(["corpus.lists=none"]), folder=tmp_path / "b", threads=1, quiet=True)
    keys = [{name: entry["key"] for name, entry in each.manifest.stages.items()} for each in (auto, none)]
    assert {name for name in keys[0] if keys[0][name] != keys[1][name]} <= {"config"}
    assert "lists" not in (tmp_path / "a" / "config.toml").read_text()


def test_a_run_remembers_the_text_column_and_the_lists(
    bikes: Path, prepared: tuple[Path, list[str]], tmp_path: Path
):
    settings = [
        *("policy.d_model=8", "policy.heads=2", "policy.ffn=8", "policy.kind=copy"),
        *("policy.encoder_layers=1", "policy.decoder_layers=1", "policy.max_positions=128"),
        *("training.max_steps=1", "training.processes=1", "training.validate_sequences=1"),
        f'output.prepared="{prepared[0]}"',
        f'output.run="{tmp_path / "run"}"',
    ]
    train(config_of(bikes, *settings), quiet=True, command=["test"])
    corpus = Run.open(tmp_path / "run").config.corpus
    assert (corpus.text_column, corpus.lists, corpus.list_columns) == ("said", ("auto",), ("features |",))
    # Goes on: what a person wrote and what was found are the same as before.
    train(config_of(bikes, *settings), resume=True, quiet=True, command=["test"])


def test_references_are_read_as_the_run_read_its_corpus(
    bikes: Path, prepared: tuple[Path, list[str]], tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    out = tmp_path / "dev.jsonl"
    assert run("generate", prepared[0], bikes, "--split", "dev", "--out", out, "-q") == 0
    assert run("evaluate", out, "--references", bikes, "--run", prepared[0], "--metrics", "BLEU") == 0
    capsys.readouterr()
    assert run("evaluate", out, "--references", bikes, "--text-column", "said", "--metrics", "BLEU") == 0
    assert f"{bikes}: cells are read as lists in features ('|')." in capsys.readouterr().err
    assert run("evaluate", out, "--references", bikes, "--metrics", "BLEU") == 2
    assert "The columns are name, features, said: name that of the text" in capsys.readouterr().err
    assert run("evaluate", out, "--references", bikes, "--run", tmp_path) == 2
    assert "is neither a run nor a prepared folder." in capsys.readouterr().err
