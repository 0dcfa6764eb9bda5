"""Texts that stand where nobody has written one."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import bicycles
from textsplice.config import Config
from textsplice.corpus import read_corpus
from textsplice.corpus.table import Example, Table
from textsplice.fit.look import look_at, unpicked
from textsplice.fit.told import found_lines
from textsplice.prepare import prepare
from textsplice.slots.placeholders import find_placeholders


def offers(texts: dict[int, str], count: int = 120) -> list[Example]:
    """Bicycles, some of which have another text."""
    rows = bicycles.rows(count)
    return [
        Example(
            str(number),
            Table.of({name: value for name, value in row.items() if name != "description"}),
            texts.get(number, row["description"]),
        )
        for number, row in enumerate(rows)
    ]


@pytest.mark.parametrize("text", ["TBC", "n/a", "-", "Description to follow", "lorem ipsum dolor sit", "NaN"])
def test_a_known_one_is_found_where_it_stands_once(text: str) -> None:
    assert find_placeholders(offers({5: text})) == (text.casefold(),)


def test_one_that_nobody_knows_is_found_where_it_stands_with_several_records() -> None:
    text = "Ask us about this  one!"
    assert find_placeholders(offers({5: text, 9: text})) == ()
    assert find_placeholders(offers(dict.fromkeys((5, 9, 14), text))) == ("ask us about this one!",)


def test_a_text_that_says_something_is_none() -> None:
    examples = offers({})
    maker = examples[5].table["maker"][0]
    assert find_placeholders(offers({5: f"{maker}: TBC"})) == ()
    asked = [
        Example(f"q{n}", Table.of({"id": f"q{n}", "price": "?"}), "What is the price?") for n in range(9)
    ]
    yes = [
        Example(f"y{n}", Table.of({"id": f"y{n}", "electric": "yes"}), "It has a motor.") for n in range(9)
    ]
    assert find_placeholders([*examples, *asked, *yes]) == ()


def test_they_are_told_and_neither_learned_nor_compared_with(tmp_path: Path) -> None:
    rows = bicycles.rows(200)
    for number, row in enumerate(rows):
        row["description"] = ("TBC", "To follow.")[number % 2] if number % 8 < 2 else row["description"]
    path = tmp_path / "offers.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    look = look_at(str(path), "description")
    assert "50 rows are left out, whose text nobody has written yet: 'tbc', 'to follow.'" in found_lines(look)
    config = Config().with_values(
        [f"corpus.source={path}", "corpus.text_column=description", "corpus.kinds=['auto']"]
    )
    said: list[str] = []
    prepared = prepare(config, folder=tmp_path / "prepared", quiet=True, report=said.append)
    assert any("nobody has written one are left out: 'tbc', 'to follow.'" in line for line in said)
    assert not {"TBC", "To follow."} & {*prepared.store.texts, *prepared.split("dev").texts}
    corpus = prepared.config.corpus
    assert corpus.placeholders == ("tbc", "to follow.")
    texts = {row.table: row.text for row in read_corpus(path, "dev", like=corpus)}
    assert not {"TBC", "To follow."} & {texts[table] for table in unpicked(corpus, "dev", 100)}
