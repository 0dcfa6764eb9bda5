"""Tables: what they are made from, and when two of them are the same record."""

from __future__ import annotations

import copy
import json
import pickle
import subprocess
import sys
from datetime import date
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from textsplice.corpus import Table, read_corpus
from textsplice.errors import InputError

VALUES = st.one_of(st.text("ab ", max_size=3), st.integers(0, 3), st.booleans(), st.none())
RECORDS = st.dictionaries(
    st.sampled_from("abcd"), st.one_of(VALUES, st.lists(VALUES, max_size=3)), min_size=1
)


def test_a_table_takes_numbers_booleans_none_lists_and_nested_mappings():
    record = {
        "price": 20,
        "rating": 4.5,
        "year": 1954.0,
        "gap": float("nan"),
        "open": True,
        "note": None,
        "tags": (" quiet ", None, 3, ""),
        "day": date(2024, 5, 1),
        "address": {"city": "Bath", "geo": {}},
    }
    assert Table.of(record).to_record() == {
        "price": "20",
        "rating": "4.5",
        "year": "1954",
        "gap": [],
        "open": "yes",
        "note": [],
        "tags": ["quiet", "3"],
        "day": "2024-05-01",
        "address.city": "Bath",
        "address.geo": [],
    }


@given(RECORDS)
def test_a_table_of_a_record_is_the_table_that_jsonl_makes_of_it(
    tmp_path_factory: pytest.TempPathFactory, record: dict[str, object]
):
    path = tmp_path_factory.mktemp("table") / "a.jsonl"
    path.write_text(json.dumps({"table": record}))
    (example,) = read_corpus(path)
    assert Table.of(record).fields == example.table.fields


@pytest.mark.parametrize(
    ("record", "what"),
    [
        (
            {"a": b"x"},
            "the field 'a' holds bytes. A value is a text, a number, true, false, null or a list of these.",
        ),
        (
            {"a": object},
            "the field 'a' holds a value of type type."
            " A value is a text, a number, true, false, null or a list of these.",
        ),
        (
            {"a": [["b"]]},
            "the field 'a' holds a list of objects or lists."
            " Give each a field of its own, or a list of texts.",
        ),
        ({"a.b": "x", "a": {"b": "y"}}, "the field 'a.b' appears twice in the table."),
        ({1: "x"}, "the name of a field is 1, which is not a text."),
        ({" ": "x"}, "a field of the table has no name."),
        ({}, "the table has no field."),
    ],
)
def test_a_table_of_something_else_is_refused(record: dict[str, object], what: str):
    with pytest.raises(InputError) as caught:
        Table.of(record)
    assert str(caught.value) == what


def test_a_stored_record_is_read_back_unchanged():
    table = Table(((" name", (" a ", "b")), ("area", ())))
    assert Table.from_record(table.to_record()).fields == table.fields


@pytest.mark.parametrize("value", [5, None, {"b": "c"}, [1], b"x"])
def test_a_stored_record_holds_nothing_but_text(value: object):
    with pytest.raises(InputError) as caught:
        Table.from_record({"a": value})  # pyright: ignore[reportArgumentType]
    assert str(caught.value) == (
        f"the field 'a' holds {value!r}, which is not text. Give a string or a list of strings."
    )


def test_a_stored_record_has_a_field():
    with pytest.raises(InputError, match=r"^the table has no field\.$"):
        Table.from_record({})


# -- the same record -----------------------------------------------------------------------------


def test_the_order_of_fields_and_empty_fields_make_no_other_record():
    table = Table.of({"name": "Loop", "tags": ["a", "b"]})
    same = Table.of({"tags": ["a", "b"], "note": None, "name": "Loop"})
    assert table == same
    assert hash(table) == hash(same)
    assert {table: 1}[same] == 1
    assert table.fields != same.fields


@pytest.mark.parametrize(
    "other",
    [
        {"name": "Loop", "tags": ["b", "a"]},
        {"name": "Loop"},
        {"name": "loop", "tags": ["a", "b"]},
        {"x": "y"},
    ],
)
def test_other_values_are_another_record(other: dict[str, object]):
    assert Table.of({"name": "Loop", "tags": ["a", "b"]}) != Table.of(other)
    assert Table.of(other) != other


@given(RECORDS, RECORDS)
def test_equal_tables_have_equal_canonical_fields(one: dict[str, object], other: dict[str, object]):
    a, b = Table.of(one), Table.of(other)
    assert (a == b) == (a.canonical == b.canonical)
    assert a == Table.of(dict(reversed(one.items())))
    assert a != b or hash(a) == hash(b)


def test_a_table_is_copied_and_sent_to_another_process_without_its_hash(tmp_path: Path):
    table = Table.of({"name": "Loop"})
    assert hash(copy.deepcopy(table)) == hash(table)
    (tmp_path / "table").write_bytes(pickle.dumps(table))
    code = (
        "import pickle, sys; from textsplice.corpus import Table;"
        "sent = pickle.load(open(sys.argv[1], 'rb')); assert {sent: 1}[Table.of({'name': 'Loop'})]"
    )
    assert subprocess.run([sys.executable, "-c", code, tmp_path / "table"], check=False).returncode == 0
