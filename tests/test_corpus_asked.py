"""A field that a record names without a value may ask for it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import textsplice
from textsplice.corpus import Example, Table, read_corpus
from textsplice.corpus.asked import ASKED, ask, asked_fields
from textsplice.errors import ConfigError
from textsplice.runs.prepared import Prepared

NAMES = [
    f"{first} {second}"
    for first in ("Amber", "Birch", "Cobalt", "Dusky")
    for second in ("Keep", "Run", "Sky")
]


def rows() -> list[dict[str, object]]:
    told = [{"table": {"name": n, "modes": "co-op"}, "text": f"{n} has co-op."} for n in NAMES]
    asks = [{"table": {"name": n, "modes": ""}, "text": f"Which modes does {n} have?"} for n in NAMES]
    only = [{"table": {"name": n}, "text": f"Have you played {n} yet?"} for n in NAMES]
    return [row for three in zip(told, asks, only, strict=True) for row in three]


@pytest.fixture
def games(tmp_path: Path) -> Path:
    for split in ("train", "dev", "test"):
        path = tmp_path / "games" / f"{split}.jsonl"
        path.parent.mkdir(exist_ok=True)
        path.write_text("".join(json.dumps(row) + "\n" for row in rows()), encoding="utf-8")
    return tmp_path / "games"


def prepared_from(games: Path, folder: Path, *kinds: str) -> Prepared:
    values = [f"corpus.source={games}", f"corpus.kinds={list(kinds)}", "neighbors.k=5"]
    return textsplice.prepare(textsplice.Config().with_values(values), folder=folder, quiet=True)


def test_fields_that_ask_are_found(games: Path) -> None:
    assert asked_fields(read_corpus(games, "train")) == ("modes",)


@pytest.mark.parametrize(
    "change",
    [
        lambda row: {**row, "text": row["text"].replace("?", ".")},
        lambda row: {**row, "table": {"modes": "", **row["table"]}},
    ],
    ids=["nobody asks", "every record names it, as in a spreadsheet"],
)
def test_an_empty_field_need_not_ask(change) -> None:  # type: ignore[no-untyped-def]
    changed = map(change, rows())
    assert not asked_fields(Example("", Table.of(row["table"]), row["text"]) for row in changed)


def test_a_record_that_asks_is_another_record() -> None:
    silent, asking = Table.of({"name": "Amber Keep"}), Table.of({"name": "Amber Keep", "modes": ""})
    assert silent == asking
    assert ask(asking, ("modes",)) != silent
    assert ask(asking, ("modes",))["modes"] == (ASKED,)
    assert ask(asking, ("name",)) is asking


def test_asking_records_get_questions_and_are_scored_with_their_own_references(
    games: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "prepared"
    assert prepared_from(games, folder, "auto").config.corpus.asked == ("modes",)
    splicer = textsplice.Splicer.untrained(folder)
    asking = splicer.generate({"name": "Elm Keep", "modes": ""})
    assert asking.text == "Which modes does Elm Keep have?"
    assert asking.table == Table.of({"name": "Elm Keep", "modes": ASKED})
    assert splicer.generate({"name": "Elm Keep"}).text == "Have you played Elm Keep yet?"
    textsplice.verify(asking, splicer)

    tables = [example.table for example in read_corpus(games, "dev")]
    outputs = list(splicer.generate_many(tables, progress=False))
    scored = textsplice.evaluate(outputs, str(folder), split="dev", metrics=["BLEU"])
    assert scored.items == 3 * len(NAMES)
    assert scored.scores["BLEU"] == pytest.approx(1.0)


def test_people_have_the_last_word(games: Path, tmp_path: Path) -> None:
    assert prepared_from(games, tmp_path / "said", "auto", "modes=said").config.corpus.asked == ()
    assert prepared_from(games, tmp_path / "asked", "modes=asked").config.corpus.asked == ("modes",)
    assert prepared_from(games, tmp_path / "none").config.corpus.asked == ()
    with pytest.raises(ConfigError, match="no table has the field 'mode'"):
        prepared_from(games, tmp_path / "wrong", "mode=asked")
