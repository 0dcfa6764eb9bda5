"""The corpus that comes with textsplice keeps the promises of its card."""

from __future__ import annotations

import importlib
import json
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

import pytest

from textsplice.corpus.bundled import bundled_path
from textsplice.corpus.splits import SPLITS

ROOT = Path(__file__).resolve().parent.parent
TOOLS = ROOT / "tools"

Record = dict[str, str | list[str]]

FIELDS = {
    "name", "region", "start", "length", "duration", "climb",
    "difficulty", "type", "sights", "inn", "dogs", "parking",
}  # fmt: skip


class Row(NamedTuple):
    id: str
    table: Record
    text: str


def read_rows(split: str) -> list[Row]:
    lines = bundled_path(split).read_text("utf-8").splitlines()
    return [Row(**json.loads(line)) for line in lines]


ROWS = {split: read_rows(split) for split in SPLITS}
EVERY_ROW = [row for split in SPLITS for row in ROWS[split]]


@pytest.fixture(scope="module")
def grammar() -> Iterator[ModuleType]:
    """The generator's shapes, imported from tools/."""
    sys.path.insert(0, str(TOOLS))
    yield importlib.import_module("bundled.shapes")
    sys.path.remove(str(TOOLS))


def values_of(table: Record, field: str) -> list[str]:
    value = table.get(field, [])
    return [value] if isinstance(value, str) else value


def key(table: Record) -> str:
    return json.dumps(table, sort_keys=True)


def has(text: str, value: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(value)}(?!\w)", text, re.IGNORECASE) is not None


def delexicalized(table: Record, text: str) -> str:
    pairs = [(value, field) for field in table for value in values_of(table, field)]
    for value, field in sorted(pairs, key=lambda pair: len(pair[0]), reverse=True):
        text = re.sub(rf"(?<!\w){re.escape(value)}(?!\w)", field.upper(), text, flags=re.I)
    return " ".join(text.split())


def sentences(text: str) -> list[str]:
    return re.split(r"(?<=[.!?])\s+", text)


def test_there_are_enough_texts_over_enough_tables_in_little_space():
    tables = {split: {key(row.table) for row in rows} for split, rows in ROWS.items()}
    assert {split: len(rows) for split, rows in ROWS.items()} == {
        "train": 2124,
        "dev": 243,
        "test": 244,
    }
    assert {split: len(keys) for split, keys in tables.items()} == {
        "train": 420,
        "dev": 51,
        "test": 52,
    }
    assert sum(bundled_path(split).stat().st_size for split in SPLITS) < 1_500_000


def test_ids_count_the_rows_of_their_split():
    for split, rows in ROWS.items():
        assert [row.id for row in rows] == [f"{split}-{n:04}" for n in range(1, len(rows) + 1)]


def test_no_table_and_no_name_is_in_two_splits():
    for a, b in (("train", "dev"), ("train", "test"), ("dev", "test")):
        assert not {key(r.table) for r in ROWS[a]} & {key(r.table) for r in ROWS[b]}
        assert not {r.table["name"] for r in ROWS[a]} & {r.table["name"] for r in ROWS[b]}


def test_no_text_is_given_twice_for_a_table():
    assert len({(key(row.table), row.text) for row in EVERY_ROW}) == len(EVERY_ROW)


def test_fields_are_of_the_promised_kinds():
    patterns = {
        "length": r"\d+(\.5)? km",
        "duration": r"1 hour|\d+(\.5)? hours|\d+ minutes",
        "climb": r"\d+ m",
        "difficulty": "easy|moderate|demanding|strenuous",
        "type": "circular|there-and-back|point-to-point",
        "dogs": "yes|no",
        "parking": "yes|no",
    }
    for row in EVERY_ROW:
        assert row.table.keys() <= FIELDS
        assert "name" in row.table
        assert 4 <= len(row.table) <= 8
        assert isinstance(row.table.get("sights", []), list)
        for field, pattern in patterns.items():
            for value in values_of(row.table, field):
                assert re.fullmatch(pattern, value), (row.id, field, value)
    assert {field for row in EVERY_ROW for field in row.table} == FIELDS
    assert {len(values_of(row.table, "sights")) for row in EVERY_ROW} == {0, 1, 2, 3}
    assert len({frozenset(row.table) for row in EVERY_ROW}) == 24


def test_a_text_has_one_to_four_sentences():
    counts = Counter(len(sentences(row.text)) for row in EVERY_ROW)
    assert counts.keys() == {1, 2, 3, 4}
    for row in EVERY_ROW:
        for sentence in sentences(row.text):
            assert re.match(r"[A-Z].*[.!]$", sentence), (row.id, sentence)


def test_the_data_hold_far_more_than_eighty_sentence_shapes():
    """Counted in the data alone: values out, lists of any length and a/an folded together."""
    shapes: Counter[str] = Counter()
    for row in EVERY_ROW:
        for sentence in sentences(row.text):
            shape = delexicalized({f: v for f, v in row.table.items() if v != "no"}, sentence)
            shape = re.sub(r"the SIGHTS(, the SIGHTS)*( and the SIGHTS)?", "SIGHTS", shape)
            shapes[re.sub(r"\ban?(?= [A-Z]{2})", "a", shape)] += 1
    assert len(shapes) >= 200
    assert sum(count >= 5 for count in shapes.values()) >= 180


def test_most_shapes_of_the_grammar_are_used_and_every_sentence_has_one(grammar: ModuleType):
    shapes = grammar.read_shapes()
    assert len({shape.template for shape in shapes}) == len(shapes) >= 200
    used: set[str] = set()
    for row in EVERY_ROW:
        made = {s.render(row.table): s.template for s in shapes if s.fits(row.table)}
        for sentence in sentences(row.text):
            used.add(made[sentence])
    assert len(used) > 150


def test_no_shape_holds_a_word_that_a_value_may_hold(grammar: ModuleType):
    """Masking would wipe it out of the neighbor by accident; single stop words are never masked."""
    stop_words = {"a", "and", "in", "no", "of", "the", "there", "to"}
    words = {
        word
        for row in EVERY_ROW
        for field in row.table
        for value in values_of(row.table, field)
        for word in re.findall(r"\w+", value.lower())
    }
    for shape in grammar.read_shapes():
        skeleton = re.sub(r"\{.*?\}", "", shape.template).lower()
        assert not (set(re.findall(r"\w+", skeleton)) & words) - stop_words, shape.template


def test_hardly_a_dev_or_test_text_stands_delexicalized_in_train():
    train = {delexicalized(row.table, row.text) for row in ROWS["train"]}
    for split in ("dev", "test"):
        leaked = [row for row in ROWS[split] if delexicalized(row.table, row.text) in train]
        assert len(leaked) <= 0.03 * len(ROWS[split])


def test_a_text_names_its_own_walk_and_no_other():
    names = {str(row.table["name"]) for row in EVERY_ROW}
    any_name = re.compile("|".join(map(re.escape, names)))
    for row in EVERY_ROW:
        assert set(any_name.findall(row.text)) == {row.table["name"]}, row.id


@pytest.mark.parametrize("field", ["region", "start", "difficulty", "type", "sights", "inn"])
def test_no_text_says_a_value_that_its_table_lacks(field: str):
    everything = {value for row in EVERY_ROW for value in values_of(row.table, field)}
    alternatives = "|".join(map(re.escape, sorted(everything, key=len, reverse=True)))
    for row in EVERY_ROW:
        # Values of other fields may contain one of these as a word: the Green Man, the stone circle.
        others = {f: v for f, v in row.table.items() if f != field}
        rest = delexicalized(others, row.text)
        said = re.findall(rf"(?<!\w)(?:{alternatives})(?!\w)", rest)
        assert set(said) <= set(values_of(row.table, field)), row.id


def test_every_number_of_a_text_is_in_its_table():
    for row in EVERY_ROW:
        own = {value for field in row.table for value in values_of(row.table, field)}
        for number in re.findall(r"\d[\d.]* (?:km|m|hours?|minutes)\b", row.text):
            assert number in own, (row.id, number)
        assert not re.search(r"\d", delexicalized(row.table, row.text)), row.id


def test_what_a_text_says_of_dogs_and_parking_is_true():
    cues = {
        ("dogs", "yes"): r"dogs (\w+ ){0,3}(are welcome|are allowed)|bring (the|your|their) dogs?"
        r"|took the dog|take the dog|dogs may|open to dogs|dog came|dog owners|dog on the lead",
        ("dogs", "no"): r"dogs are not allowed|no dogs|(?<!car and )dogs? (at|have to stay at) home"
        r"|look elsewhere|closed to dogs",
        ("parking", "yes"): r"there is parking|could park|^park |\. park |parked"
        r"|can leave the car|you can park",
        ("parking", "no"): r"no parking|nowhere to park|cannot park|leave the car at home",
    }
    said: Counter[tuple[str, str]] = Counter()
    for row in EVERY_ROW:
        for (field, answer), cue in cues.items():
            if re.search(cue, row.text, re.IGNORECASE):
                assert row.table.get(field) == answer, (row.id, field)
                said[field, answer] += 1
    assert min(said.values()) > 200


def test_most_texts_say_everything():
    complete = 0
    for row in EVERY_ROW:
        copied = row.table.keys() - {"dogs", "parking"}
        values = [value for field in copied for value in values_of(row.table, field)]
        complete += all(has(row.text, value) for value in values)
    assert complete >= 0.9 * len(EVERY_ROW)


def test_articles_agree_with_the_word_that_follows():
    for row in EVERY_ROW:
        assert not re.search(r"\b[Aa] (?:[aeiou]|8|11 |18 |11\.|18\.)", row.text), row.id
        assert not re.search(r"\b[Aa]n (?:[^aeiou81]|1[^18]|1[18]\d)", row.text), row.id


def test_the_generator_makes_the_committed_files_byte_for_byte():
    done = subprocess.run(
        [sys.executable, str(TOOLS / "make_bundled_corpus.py"), "--check"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, "the bundled corpus is up to date\n")
