"""Corpora and records that are huge, deep or odd: used in time that grows with their size, or refused."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from search_world import prepared, tables
from textsplice.corpus import Table, read_corpus
from textsplice.corpus.e2e import parse_mr
from textsplice.errors import CorpusError, InputError
from textsplice.evaluate.ratings.reading import read_ratings
from textsplice.evaluate.tables import csv_text
from textsplice.memory import release_memory
from textsplice.search.pipeline import table_length
from textsplice.splicer import Splicer
from textsplice.text.linearize import linearize


def complaint(source: str | Path, split: str | None = None) -> str:
    with pytest.raises(CorpusError) as caught:
        list(read_corpus(source, split))
    return caught.value.sentence()


# Sizes at which anything worse than linear would not end.


def test_an_mr_of_spaces_is_read_at_once() -> None:
    with pytest.raises(CorpusError, match="expected 'field"):
        parse_mr(" " * 200_000 + "x")
    assert parse_mr(" " * 200_000 + "a[b]").fields == (("a", ("b",)),)


def test_an_mr_of_many_fields_is_read_at_once() -> None:
    assert len(parse_mr(", ".join(f"f{n}[v]" for n in range(50_000))).fields) == 50_000


@given(
    st.lists(
        st.tuples(st.from_regex(r"[a-z]{1,3}", fullmatch=True), st.from_regex(r"[a-z ]{0,4}", fullmatch=True))
    )
)
def test_an_mr_comes_back(pairs: list[tuple[str, str]]) -> None:
    fields = dict(pairs)
    if fields:
        found = parse_mr(" , ".join(f" {name} [{value}] " for name, value in fields.items()))
        assert dict(found.fields) == {name: (v.strip(),) if v.strip() else () for name, v in fields.items()}


def test_a_field_without_a_name_is_refused() -> None:
    with pytest.raises(CorpusError) as caught:
        parse_mr("   [x]", where="here")
    assert caught.value.sentence() == "here: expected 'field[value]' at column 1 of the mr, found '[x]'."


def test_an_object_of_many_keys_with_one_repeated_is_refused_at_once(tmp_path: Path) -> None:
    keys = ",".join(f'"k{n}": 1' for n in range(100_000))
    (tmp_path / "a.jsonl").write_text(f'{{"table": {{{keys}, "k99999": 2}}}}\n')
    assert complaint(tmp_path / "a.jsonl") == f"{tmp_path}/a.jsonl:1: the field 'k99999' appears twice."


def test_a_csv_of_many_columns_is_read_at_once(tmp_path: Path) -> None:
    names = [f"c{n}" for n in range(100_000)]
    (tmp_path / "a.csv").write_text(f"{','.join(names)}\n{','.join('v' for _ in names)}\n")
    (example,) = read_corpus(tmp_path / "a.csv")
    assert len(example.table.fields) == 100_000


def test_a_parquet_file_of_many_columns_is_read(tmp_path: Path) -> None:
    pq.write_table(pa.table({f"c{n}": ["v"] for n in range(3000)}), tmp_path / "a.parquet")
    (example,) = read_corpus(tmp_path / "a.parquet")
    assert len(example.table.fields) == 3000


def test_a_parquet_map_may_have_numbers_as_keys(tmp_path: Path) -> None:
    maps = pa.array([[(1, "x"), (2, "y")]], pa.map_(pa.int64(), pa.string()))
    pq.write_table(pa.table({"table": maps}), tmp_path / "a.parquet")
    (example,) = read_corpus(tmp_path / "a.parquet")
    assert example.table.fields == (("1", ("x",)), ("2", ("y",)))


def test_a_date_beyond_pythons_is_refused(tmp_path: Path) -> None:
    pq.write_table(pa.table({"when": pa.array([2**60], pa.timestamp("ms"))}), tmp_path / "a.parquet")
    said = complaint(tmp_path / "a.parquet")
    assert said.startswith(f"{tmp_path}/a.parquet:1: a value in this row or one of the next 0 has no equal")
    assert said.endswith("Write the column as text.")


@pytest.mark.parametrize("count", ["99999999999999999999", "9" * 5000, "-1", "1e3"])
def test_a_number_of_sentences_that_no_text_has_is_refused(tmp_path: Path, count: str) -> None:
    (tmp_path / "train.box").write_text("a_1:b\n")
    (tmp_path / "train.nb").write_text(f"{count}\n")
    (tmp_path / "train.sent").write_text("s .\n")
    said = complaint(f"wikibio:{tmp_path}", "train")
    assert said.startswith(f"{tmp_path}/train.nb:1: expected a number of sentences, found '")


def test_a_number_with_too_many_digits_is_refused() -> None:
    with pytest.raises(InputError) as caught:
        Table.of({"a": 10**5000})
    assert caught.value.sentence() == "the field 'a' holds a number with too many digits. Give it as text."


def test_escapes_in_a_corpus_are_shown_in_the_error(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text(json.dumps({"table": {"\x1b]0;x\x07": [[1]]}}) + "\n")
    assert complaint(tmp_path / "a.jsonl").isprintable()


# -- tables that are too long to search ------------------------------------------------------------


def test_a_table_that_is_too_long_abstains_and_the_others_go_on() -> None:
    splicer = Splicer.untrained(prepared().folder)
    limit = splicer.config.corpus.max_table_tokens
    wide = {f"field{n}": "v" for n in range(10_000)}
    long = {"name": "word " * 100_000}
    first, second = tables()[:2]
    rows = list(splicer.generate_many([first, wide, long, second], progress=False))
    alone = [splicer.generate(table) for table in (first, second)]
    assert [rows[0].text, rows[3].text] == [each.text for each in alone]
    assert [row.status for row in rows[1:3]] == ["abstained", "abstained"]
    assert [row.reason for row in rows[1:3]] == [
        f"the table has 20,000 tokens; search.max_table_tokens allows {limit:,}",
        f"the table has 100,001 tokens; search.max_table_tokens allows {limit:,}",
    ]


@given(st.dictionaries(st.text("ab-'.é", min_size=1), st.text("ab '-.5é£"), min_size=1), st.integers(1, 12))
def test_the_short_cut_in_counting_never_hides_a_long_table(record: dict[str, str], limit: int) -> None:
    try:
        table = Table.of(record)
    except InputError:
        return
    length = len(linearize(table).tokens)
    assert (table_length(table, "words", limit) <= limit) == (length <= limit) or length <= limit
    assert table_length(table, "words", limit) >= length or table_length(table, "words", limit) == length


def test_half_a_surrogate_pair_is_no_text_to_generate_from() -> None:
    with pytest.raises(InputError, match="the field 'name' holds half of a surrogate pair, which is no text"):
        Splicer.untrained(prepared().folder).generate({"name": "\ud800"})


def test_memory_is_given_back() -> None:
    release_memory()  # on every platform, if only by doing nothing


# -- spreadsheets ----------------------------------------------------------------------------------


@pytest.mark.parametrize("sign", ["=", "+", "-", "@", "\t", "\r", "\n", " =", "＝"])
def test_a_cell_is_never_a_formula(sign: str) -> None:
    cell = f"{sign}HYPERLINK(1)"
    ((found, other),) = csv.reader(io.StringIO(csv_text([[cell, "a=b"]]), newline=""))
    assert (found, other) == (f"'{cell}".replace("\r", "\n"), "a=b")


@given(st.lists(st.text(st.characters(blacklist_categories=["Cs"], blacklist_characters="\0")), min_size=1))
def test_no_cell_begins_a_formula(cells: list[str]) -> None:
    (row,) = csv.reader(io.StringIO(csv_text([cells]), newline=""))
    kept = [cell.replace("\r\n", "\n").replace("\r", "\n") for cell in cells]
    assert all(found in (cell, f"'{cell}") for found, cell in zip(row, kept, strict=True))
    assert not any(found.lstrip().startswith(("=", "+", "-", "@")) for found in row)


@pytest.mark.parametrize(
    ("key", "sheet", "message"),
    [
        ("[]", "", "key.json: is not a JSON object."),
        ("{}", "", "key.json: is not a key written by `ratings make`."),
        ('{"items": [{"item": "t1", "rater": [], "example": 0, "system": "a"}]}', "", "is not a key written"),
        ("[" * 100_000, "", "key.json: is nested too deeply."),
        (
            '{"items": []}',
            "item,naturalness,faithfulness,informativeness\n" + "x" * 200_000,
            "sheet.csv:1: is not CSV: field larger than field limit (131072).",
        ),
    ],
)
def test_damaged_ratings_are_a_sentence(tmp_path: Path, key: str, sheet: str, message: str) -> None:
    (tmp_path / "key.json").write_text(key)
    (tmp_path / "sheet.csv").write_text(sheet)
    csv.field_size_limit(131072)
    with pytest.raises(InputError) as caught:
        read_ratings(tmp_path / "key.json", [tmp_path / "sheet.csv"])
    assert message in caught.value.sentence()
