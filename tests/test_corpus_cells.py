"""Files of cells as people have them: odd ones are read, bad rows are told, and the others go on."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from textsplice.corpus import Example, read_corpus
from textsplice.corpus.bad_rows import BadRows
from textsplice.corpus.rows import scan_rows, scan_tab_rows
from textsplice.errors import CorpusError

Write = Callable[[str, str | bytes], Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def write_file(name: str, content: str | bytes) -> Path:
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8"))
        return path

    return write_file


def records(path: Path) -> list[dict[str, str | list[str]]]:
    return [example.table.to_record() for example in read_corpus(path)]


def skipping(path: Path) -> tuple[list[Example], list[str]]:
    """What is read if bad rows are skipped, and what is said of them."""
    bad = BadRows()
    found = list(read_corpus(path, skipped=bad))
    assert list(read_corpus(path, skipped=bad)) == found  # each is told once
    return found, [problem.sentence().removeprefix(str(path)) for problem in bad.kept]


# -- files that are read ---------------------------------------------------------------------------


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_cells_are_separated_by_what_the_header_has(write: Write, separator: str):
    path = write("a.csv", "name,price,text\nA,2.50,T\n".replace(",", separator))
    assert records(path) == [{"name": "A", "price": "2.50"}]


def test_commas_are_values_where_semicolons_separate(write: Write):
    assert records(write("a.csv", "name;price\nA;2,50\n")) == [{"name": "A", "price": "2,50"}]


def test_a_byte_order_mark_and_windows_line_ends_are_no_part_of_it(write: Write):
    assert records(write("a.csv", "\ufeffname,food\r\nA,x\r\n")) == [{"name": "A", "food": "x"}]


def test_empty_rows_and_columns_that_spreadsheets_leave_are_left_out(write: Write):
    path = write("a.csv", "name,food,,\nA,x,,\n,,,\n\nB,y,,\n")
    assert [(e.id, e.table.to_record()) for e in read_corpus(path)] == [
        ("a:1", {"name": "A", "food": "x"}),
        ("a:2", {"name": "B", "food": "y"}),
    ]
    assert len(read_corpus(path)) == 2


def test_a_hundred_columns_and_a_huge_cell_are_read(write: Write):
    names = [f"c{n}" for n in range(100)]
    path = write(
        "a.csv", f"{','.join(names)}\n{','.join('v' * 300_000 if n == 7 else '1' for n in range(100))}\n"
    )
    (record,) = records(path)
    assert len(record) == 100
    assert len(record["c7"]) == 300_000


# -- TSV -------------------------------------------------------------------------------------------


def test_a_quote_means_something_only_around_a_whole_cell_of_tsv(write: Write):
    path = write(
        "a.tsv",
        'name\ttext\nA\t"Quiet," say guests.\nB\t"two\nlines"\nC\t"with ""quotes"""\nD\t5" wheels\n'
        'E\t"a\ttab"\nF\t""\n',
    )
    assert [example.text for example in read_corpus(path)] == [
        '"Quiet," say guests.',
        "two\nlines",
        'with "quotes"',
        '5" wheels',
        "a\ttab",
        None,
    ]


CELLS = st.text(st.characters(blacklist_categories=["Cs"], blacklist_characters="\0\r"), max_size=8)


@given(st.lists(st.lists(CELLS, min_size=2, max_size=2), min_size=1, max_size=5), st.booleans())
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_rows_that_were_written_are_read_back(tmp_path: Path, rows: list[list[str]], tabs: bool):
    file = io.StringIO()
    csv.writer(file, delimiter="\t" if tabs else ",", quoting=csv.QUOTE_ALL).writerows([["a", "b"], *rows])
    path = tmp_path / "rows"
    path.write_bytes(file.getvalue().encode())
    read = [row.cells for row in (scan_tab_rows(path) if tabs else scan_rows(path))]
    assert read == [["a", "b"], *(row for row in rows if any(cell.strip() for cell in row))]


@given(st.binary(max_size=60), st.sampled_from(["a.csv", "a.tsv", "a.jsonl"]))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_bytes_are_rows_or_problems(tmp_path: Path, content: bytes, name: str):
    path = tmp_path / name
    path.write_bytes((b'{"name": "x"}\n' if name == "a.jsonl" else b"name,text\nA,b\n") + content)
    for example in read_corpus(path, skipped=BadRows()):
        repr((example.id, example.table.fields)).encode("utf-8")


# -- bad rows --------------------------------------------------------------------------------------


def test_bad_rows_of_csv_are_told_and_the_others_keep_their_ids(write: Write):
    path = write(
        "a.csv",
        b'name,text\nA,ok\nB,caf\xe9\nC\nD,a,b\nE,"say "hi""\nF,"two\nlines"\nG,\0\nH,"open\nI,last\n',
    )
    found, told = skipping(path)
    assert [(example.id, example.text) for example in found] == [
        ("a:1", "ok"),
        ("a:6", "two\nlines"),
        ("a:9", "last"),
    ]
    assert [line.split(". ")[0] for line in told] == [
        ":3: byte 0xe9 at byte 20 of the file is not valid UTF-8",
        ":4: the row has 1 cells, the header 2",
        ":5: the row has 3 cells, the header 2",
        ":6: there is text after the quote that closes a cell",
        ":9: there is a NUL byte at byte 59 of the file",
        ":10: a quote that opens in this row is never closed",
    ]


def test_bad_rows_of_tsv_are_told(write: Write):
    found, told = skipping(write("a.tsv", 'name\ttext\nA\t"open\nB\tfine\nC\n'))
    assert [example.id for example in found] == ["a:2"]
    assert [line.split(". ")[0] for line in told] == [
        ":2: a quote that opens in this row is never closed",
        ":4: the row has 1 cells, the header 2",
    ]


def test_bad_rows_of_jsonl_are_told(write: Write):
    found, told = skipping(
        write("a.jsonl", b'{"name": "A"}\n{\n\n{"name": "\xe9"}\n[1]\n{"text": "T"}\n{"name": "B"}\n')
    )
    assert [example.id for example in found] == ["a:1", "a:6"]
    assert [line[:2] for line in told] == [":2", ":4", ":5", ":6"]


def test_bad_rows_of_e2e_are_told(write: Write):
    found, told = skipping(write("a.csv", 'mr,ref\n"name[A]",x\n"name[B",y\n"name[C]",z\n'))
    assert [example.id for example in found] == ["a:1", "a:3"]
    assert told[0].startswith(":3: the bracket of the field 'name'")


def test_without_leave_to_skip_the_first_bad_row_is_an_error(write: Write):
    with pytest.raises(CorpusError, match=r"a\.csv:3: the row has 1 cells, the header 2"):
        list(read_corpus(write("a.csv", "name,text\nA,ok\nB\n")))


def test_a_file_of_bad_rows_only_is_an_error(write: Write):
    with pytest.raises(CorpusError) as caught:
        read_corpus(write("a.csv", "name,text\nA\nB\nC\n"), skipped=BadRows())
    assert str(caught.value).endswith(
        "a.csv:2: the row has 1 cells, the header 2. Put a value that has a comma in quotes."
        " The 2 other rows can't be read either."
    )


def test_a_bad_header_is_an_error_all_the_same(write: Write):
    with pytest.raises(CorpusError, match="appears twice in the header"):
        read_corpus(write("a.csv", "name,name\nA,B\n"), skipped=BadRows())


# -- flat JSONL ------------------------------------------------------------------------------------


def test_fields_may_stand_beside_the_text(write: Write):
    path = write(
        "a.jsonl", '{"name": "A", "food": ["x", "y"], "text": "T."}\n{"id": 7, "name": "B", "n": 2}\n'
    )
    assert [(e.id, e.table.to_record(), e.text) for e in read_corpus(path)] == [
        ("a:1", {"name": "A", "food": ["x", "y"]}, "T."),
        ("7", {"name": "B", "n": "2"}, None),
    ]


def test_the_named_text_is_no_field_of_a_flat_record(write: Write):
    path = write("a.jsonl", '{"name": "A", "said": "T."}\n')
    (example,) = read_corpus(path, text_column="said")
    assert (example.table.to_record(), example.text) == ({"name": "A"}, "T.")


def test_rows_of_both_forms_do_not_mix(write: Write):
    flat, nested = '{"name": "A"}\n', '{"table": {"name": "A"}}\n'
    with pytest.raises(CorpusError, match="2: the fields of this row are in a 'table', those of the first"):
        list(read_corpus(write("a.jsonl", flat + nested)))
    with pytest.raises(CorpusError, match="2: there is no 'table' among the keys 'name'"):
        list(read_corpus(write("b.jsonl", nested + flat)))


# -- where texts are needed ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.csv", "name,said\nA,T.\n"),
        ("a.tsv", "name\tsaid\nA\tT.\n"),
        ("a.jsonl", '{"name": "A", "said": "T."}\n'),
    ],
)
def test_a_corpus_without_texts_names_its_columns(write: Write, name: str, content: str):
    path = write(name, content)
    with pytest.raises(CorpusError) as caught:
        read_corpus(path).require_texts()
    assert str(caught.value) == (
        f"{path}: there is no text here. The columns are name, said:"
        " name that of the text with --text-column (corpus.text_column)."
    )
    assert [example.text for example in read_corpus(path, text_column="said").require_texts()] == ["T."]


def test_an_empty_text_column_is_said_to_be_empty(write: Write):
    with pytest.raises(CorpusError, match=r"The column 'text' is empty\. The columns are name, text:"):
        read_corpus(write("a.csv", "name,text\nA,\n")).require_texts()


def test_a_format_can_be_named(write: Write):
    path = write("records.txt", "name\tfood\nA\tx\n")
    assert [e.table.to_record() for e in read_corpus(path, format="tsv")] == [{"name": "A", "food": "x"}]


def test_a_part_can_be_named_only_where_there_are_parts(write: Write):
    path = write("a.csv", "name\nA\n")
    with pytest.raises(CorpusError, match=r"only in \.xlsx and hf: can a part be named, such as 'x'"):
        read_corpus(f"{path}#x")
