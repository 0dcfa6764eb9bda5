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
from textsplice.search.doubts import Known, find_doubts
from textsplice.search.offers import Offers
from textsplice.slots.asking import Asking
from textsplice.slots.check import check_slots
from textsplice.slots.induce import propose
from textsplice.slots.lexicon import Lexicon
from textsplice.slots.wordings import FieldWordings

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


QUESTIONS = {
    "balcony": ("Does it have a balcony?", "Is there a balcony?"),
    "price": ("What is the price?", "How much does it cost?", "What does it cost a month?"),
}


def test_a_question_about_another_field_is_doubtful() -> None:
    pairs = [
        (Table.of({"name": n, f: ASKED}), q) for f, all_ in QUESTIONS.items() for q in all_ for n in NAMES
    ]
    asking = Asking.of(pairs)
    known = Known(frozenset({"name", "balcony", "price"}), {}, {}, asking)
    price = Table.of({"price": ASKED})
    for text, doubt in (
        ("Does it have a balcony?", ["it asks for balcony, not for price"]),
        ("Thank you.", ["it does not ask for price"]),
        ("How much does it cost?", []),
        ("And what else?", []),  # nothing shows what it asks for
    ):
        assert [each.what for each in find_doubts(text, price, None, known)] == doubt
    assert find_doubts("Does it have a balcony?", Table.of({"name": "Amber"}), None, known)[0].why == "slot"
    assert asking.astray("Does it have a balcony?", Table.of({"name": "Amber"})) is None


def test_a_question_says_nothing_of_what_it_asks_for() -> None:
    tables = [Table.of({"steam": "yes"}), Table.of({"steam": ASKED}), Table.of({"genre": ["?"]})]
    lexicon = Lexicon({"steam": FieldWordings({"yes": ("on steam",)}, verbatim=False, kind="yes/no")})
    assert str(check_slots("Is it on Steam?", tables[1], lexicon)) == "ok"
    assert Lexicon.of_tables(tables).fields["genre"].values == ()
    examples = [
        Example(str(n), tables[n % 2], ("It is on Steam.", "Is it on Steam?")[n % 2]) for n in range(80)
    ]
    assert "?" not in propose(examples).lexicon.fields["steam"].known_values()


def test_a_record_that_asks_is_given_texts_that_ask_for_the_same(games: Path, tmp_path: Path) -> None:
    prepared = prepared_from(games, tmp_path / "prepared", "auto")
    assert prepared.store.alike == ("modes",)
    asking = Table.of({"name": "Elm Keep", "modes": ASKED})
    rows = Offers(prepared.store, 5, prepared.vocabulary).find(asking, ())
    assert rows
    assert all("Which modes" in prepared.store.texts[row] for row in rows)
