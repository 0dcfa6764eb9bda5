"""Every way a corpus can be wrong is one sentence that says where."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from textsplice.corpus import read_corpus
from textsplice.errors import CorpusError


def complaint(source: str | Path, split: str | None = None, *, text_column: str | None = None) -> str:
    """What reading all of a corpus says is wrong with it."""
    with pytest.raises(CorpusError) as caught:
        list(read_corpus(source, split, text_column=text_column))
    return str(caught.value)


@pytest.fixture
def write(tmp_path: Path) -> Callable[[str, str | bytes], Path]:
    def write_file(name: str, content: str | bytes) -> Path:
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8"))
        return path

    return write_file


Write = Callable[[str, str | bytes], Path]

# -- files ---------------------------------------------------------------------------------------


def test_a_missing_file_names_the_nearest(write: Write):
    path = write("routes.jsonl", "{}").with_name("rotes.jsonl")
    assert complaint(path) == f"{path}: there is no such file or folder; did you mean routes.jsonl?"


def test_a_missing_file_lists_what_is_there(write: Write, tmp_path: Path):
    for name in "abcdefg":
        write(f"{name}.txt", "")
    path = tmp_path / "routes.jsonl"
    assert complaint(path) == (
        f"{path}: there is no such file or folder;"
        f" {tmp_path} has a.txt, b.txt, c.txt, d.txt, e.txt and 2 more."
    )


def test_a_missing_folder_names_the_one_above(tmp_path: Path):
    path = tmp_path / "x" / "y" / "routes.jsonl"
    assert complaint(path) == (
        f"{path}: there is no such file or folder; nor is there {tmp_path}/x/y, only {tmp_path}."
    )


def test_a_missing_e2e_says_how_to_get_it(tmp_path: Path):
    assert complaint(f"e2e:{tmp_path}", "train") == (
        f"{tmp_path}/trainset.csv: there is no such file or folder; {tmp_path} is empty."
        " `textsplice data get e2e` fetches the corpus."
    )


def test_a_missing_wikibio_file_is_named(write: Write, tmp_path: Path):
    write("train.box", "a_1:b\n")
    write("train.sent", "s .\n")
    assert complaint(f"wikibio:{tmp_path}", "train") == (
        f"{tmp_path}/train.nb: there is no such file or folder; did you mean train.box or train.sent?"
        " `textsplice data get wikibio` says where to get it."
    )


@pytest.mark.parametrize("name", ["a.jsonl", "a.csv", "a.parquet", "a.jsonl.gz"])
def test_an_empty_file_says_so(write: Write, name: str):
    path = write(name, "")
    assert complaint(path) == f"{path}: the file is empty."


@pytest.mark.parametrize(("name", "text"), [("a.jsonl", "\n \n"), ("a.csv", "name,text\n")])
def test_a_file_without_examples_says_so(write: Write, name: str, text: str):
    path = write(name, text)
    assert complaint(path) == f"{path}: there is no example in this file."


@pytest.mark.parametrize(
    ("name", "text", "line", "byte"),
    [
        ("a.jsonl", b'{"table": {"a": "b"}}\n{"table": {"a": "caf\xe9"}}\n', 2, 42),
        ("a.csv", b"a,text\nb,c\nd,caf\xe9\n", 3, 16),
    ],
)
def test_invalid_utf8_has_a_line_and_a_byte(write: Write, name: str, text: bytes, line: int, byte: int):
    path = write(name, text)
    assert text[byte] == 0xE9
    assert complaint(path) == (
        f"{path}:{line}: byte 0xe9 at byte {byte} of the file is not valid UTF-8. Save the file as UTF-8."
    )


def test_a_csv_with_nul_bytes_is_refused(write: Write):
    path = write("a.csv", b"a,text\nb,c\nd\0,e\n")
    assert complaint(path) == (
        f"{path}:3: there is a NUL byte at byte 12 of the file. It is damaged or not a text file in UTF-8."
    )


def test_a_truncated_gzip_is_refused(write: Write):
    rows = "".join(f'{{"table": {{"a": "{n * n * 7919}"}}}}\n' for n in range(2000))
    whole = gzip.compress(rows.encode())
    path = write("a.jsonl.gz", whole[: len(whole) // 2])
    message = complaint(path)
    assert message.startswith(f"{path}:")
    assert message.endswith(": the gzip file is truncated or damaged. Fetch it again.")


def test_a_file_that_is_no_gzip_is_refused(write: Write):
    path = write("a.jsonl.gz", '{"table": {"a": "b"}}\n')
    assert complaint(path) == f"{path}:1: the gzip file is truncated or damaged. Fetch it again."


@pytest.mark.parametrize("share", [0.1, 0.5, 0.95])
def test_a_truncated_parquet_is_refused(tmp_path: Path, share: float):
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"name": [f"n{n}" for n in range(5000)]}), path)
    whole = path.read_bytes()
    path.write_bytes(whole[: int(len(whole) * share)])
    assert complaint(path) == (f"{path}: the Parquet file is truncated or damaged. Write or fetch it again.")


def test_a_parquet_damaged_in_the_middle_is_refused(tmp_path: Path):
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"name": [f"n{n * 7919}" for n in range(50_000)]}), path)
    whole = path.read_bytes()
    path.write_bytes(whole[:4] + b"\xff" * (len(whole) // 2) + whole[4 + len(whole) // 2 :])
    assert complaint(path) == (f"{path}: the Parquet file is truncated or damaged. Write or fetch it again.")


def test_a_line_without_end_is_not_read_into_memory(write: Write, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("textsplice.corpus.lines.MAX_LINE_BYTES", 1 << 20)
    path = write("a.jsonl", '{"table": {"a": "' + "b" * (1 << 20) + '"}}')
    assert complaint(path) == f"{path}:1: the line is longer than 1 MiB."


# -- sources -------------------------------------------------------------------------------------


def test_an_unknown_prefix_suggests_the_nearest():
    assert complaint("wikibios:data", "train") == (
        "wikibios:data: unknown kind of corpus 'wikibios'; did you mean 'wikibio'?"
        " Write e2e:PATH, wikibio:PATH, webnlg:PATH, hf:NAME, 'bundled' or a path."
    )
    assert complaint("totto:data", "train") == (
        "totto:data: unknown kind of corpus 'totto'."
        " Write e2e:PATH, wikibio:PATH, webnlg:PATH, hf:NAME, 'bundled' or a path."
    )


def test_an_unknown_ending_lists_the_known_ones(write: Write):
    path = write("a.txt", "x")
    assert complaint(path) == (
        f"{path}: can't tell the format of a file called 'a.txt'."
        " Its name must end in one of .jsonl, .jsonl.gz, .csv, .csv.gz, .tsv, .tsv.gz, .xlsx, .parquet."
    )


def test_a_folder_needs_a_known_split(tmp_path: Path):
    assert complaint(tmp_path) == f"{tmp_path}: which split? Say train, dev or test."
    assert complaint(tmp_path, "tran") == (f"{tmp_path}: unknown split 'tran'. Say train, dev or test.")


def test_one_file_needs_a_known_split(write: Write):
    path = write("a.jsonl", '{"table": {"a": "b"}}\n')
    assert complaint(path, "banana") == (
        f"{path}: unknown split 'banana'. Say train, dev or test, or all for every row."
    )


@pytest.mark.parametrize("source", ["bundled", "e2e:.", "wikibio:.", "webnlg:."])
def test_every_kind_of_corpus_needs_a_known_split(source: str):
    assert complaint(source, "all") == f"{source}: unknown split 'all'. Say train, dev or test."


def test_a_format_says_what_its_path_must_be(write: Write, tmp_path: Path):
    path = write("a.box", "a_1:b\n")
    assert complaint(f"wikibio:{path}", "train") == (
        f"wikibio:{path}: {path} is a file. Name a folder after 'wikibio:'."
    )
    assert complaint(f"bundled:{tmp_path}", "train") == (
        f"bundled:{tmp_path}: 'bundled' takes no path. Write 'bundled'."
    )


def test_a_folder_with_two_files_of_a_split_is_ambiguous(write: Write, tmp_path: Path):
    write("dev.csv", "a\nb\n")
    write("valid.jsonl", '{"table": {"a": "b"}}')
    assert complaint(tmp_path, "dev") == (
        f"{tmp_path}: dev.csv and valid.jsonl could both be the dev split. Name the file you mean."
    )


def test_a_folder_of_e2e_without_its_prefix_is_recognized(write: Write, tmp_path: Path):
    write("trainset.csv", "mr,ref\n")
    assert complaint(tmp_path, "train") == (f"{tmp_path}: the folder looks like e2e. Write e2e:{tmp_path}.")


# -- E2E and CSV ---------------------------------------------------------------------------------


def test_a_wrong_header_of_e2e_is_shown(write: Write):
    path = write("a.csv", "meaning,reference\nx,y\n")
    assert complaint(f"e2e:{path}") == (
        f"{path}:1: the header is 'meaning,reference', but that of an E2E file is 'mr,ref'."
        " Leave out 'e2e:' to read a CSV with one column per field."
    )


@pytest.mark.parametrize(
    ("mr", "what"),
    [
        (
            "name[Vaults], area[city",
            "the bracket of the field 'area' that opens at column 19 of the mr is never closed."
            " Write it as 'field[value], field[value]'.",
        ),
        (
            "name[Vaults, area[city]",
            "the bracket of the field 'name' that opens at column 5 of the mr is never closed."
            " Write it as 'field[value], field[value]'.",
        ),
        (
            "name[Vaults], city centre",
            "expected 'field[value]' at column 14 of the mr, found 'city centre'.",
        ),
        (
            "name[a], name[b]",
            "the field 'name' appears twice in the mr. An mr can't have two values for a field; JSONL can.",
        ),
        ("", "the table has no field."),
    ],
)
def test_a_bad_mr_has_the_line_its_row_begins_on(write: Write, mr: str, what: str):
    # The second row holds two newlines, so the third begins on line 5.
    path = write("a.csv", f'mr,ref\n"name[a]","one\ntwo\nthree"\n"{mr}",x\n')
    assert complaint(path) == f"{path}:5: {what}"


def test_a_csv_header_with_a_column_twice_is_refused(write: Write):
    path = write("a.csv", "name,area,name\na,b,c\n")
    assert complaint(path) == f"{path}:1: the column 'name' appears twice in the header. Rename one of them."


def test_a_csv_column_needs_a_name(write: Write):
    path = write("a.csv", ",name\n0,a\n")
    assert complaint(path) == (f"{path}:1: column 1 of the header has no name. Name it or delete the column.")


def test_a_named_text_column_must_be_there(write: Write):
    path = write("a.csv", "name,summary\na,b\n")
    assert complaint(path, text_column="sumary") == (
        f"{path}:1: there is no column 'sumary' for the text; did you mean 'summary'?"
        " The columns are name, summary."
    )


def test_a_csv_of_texts_alone_has_no_field(write: Write):
    path = write("a.csv", "id,text\n1,b\n")
    assert complaint(path) == (
        f"{path}:1: the table has no field. The header 'id,text' needs a column for each field."
    )


def test_a_row_of_another_width_has_its_line(write: Write):
    path = write("a.csv", 'name,text\n\n"a\nb",c\nd,e,f\n')
    assert complaint(path) == (
        f"{path}:5: the row has 3 cells, the header 2. Put a value that has a comma in quotes."
    )


def test_a_quote_that_is_never_closed_has_the_line_it_opens_on(write: Write):
    path = write("a.csv", 'name,text\na,b\nc,"d\ne,f\ng,h\n')
    assert complaint(path) == (
        f"{path}:3: a quote that opens in this row is never closed."
        " Close it, or write a quote inside a cell twice."
    )


# -- JSONL ---------------------------------------------------------------------------------------

FORM = 'A line looks like {"field": "value", "text": "…"} or {"table": {"field": "value"}, "text": "…"}.'


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ('["a"]', f"the line is not a JSON object. {FORM}"),
        ('{"table": {"a": "b"}', "not valid JSON at column 21: Expecting ',' delimiter."),
        ('{"table": {"a": "b", "a": "c"}}', "the field 'a' appears twice."),
        ('{"table": {"a.b": "x", "a": {"b": "y"}}}', "the field 'a.b' appears twice in the table."),
        ('{"table": {}, "text": "T."}', "the table has no field."),
        ('{"table": {" ": "b"}}', "a field of the table has no name."),
        ('{"name": "x", "text": "T."}', f"there is no 'table' among the keys 'name', 'text'. {FORM}"),
        ("{}", f"there is no 'table' among the keys (none). {FORM}"),
        ('{"table": "x"}', f"'table' is not an object. {FORM}"),
        ('{"table": {"a": "b"}, "text": ["T."]}', f"'text' is not a text. {FORM}"),
        (
            '{"table": {"a": [{"b": "c"}]}}',
            "the field 'a' holds a list of objects or lists."
            " Give each a field of its own, or a list of texts.",
        ),
        (
            '{"table": {"a": NaN}}',
            "NaN is not a number in JSON; write null for a missing value.",
        ),
        ('{"table": {"a": "\\ud800"}}', "a \\u escape is half of a surrogate pair."),
        ("[" * 100_000, "the objects are nested too deeply."),
        ('{"table": ' + '{"a": ' * 33 + '"b"' + "}" * 34, "the objects are nested too deeply."),
    ],
    ids=lambda value: value[:24],
)
def test_a_bad_line_of_jsonl_has_its_number(write: Write, line: str, what: str):
    path = write("a.jsonl", '{"table": {"a": "b"}}\n\n' + line + "\n")
    assert complaint(path) == f"{path}:3: {what}"


def test_a_named_text_key_must_be_in_every_row(write: Write):
    path = write("a.jsonl", '{"table": {"a": "b"}, "s": "T."}\n{"table": {"a": "b"}}\n')
    assert complaint(path, text_column="s") == f"{path}:2: there is no 's' in this row. It has a."


# -- Parquet -------------------------------------------------------------------------------------


def test_bytes_in_parquet_are_refused_with_their_row(tmp_path: Path):
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"name": ["x", "y"], "raw": [None, b"z"]}), path)
    assert complaint(path) == (
        f"{path}:2: the field 'raw' holds bytes."
        " A value is a text, a number, true, false, null or a list of these."
    )


def test_a_field_twice_in_a_parquet_map_is_refused(tmp_path: Path):
    path = tmp_path / "a.parquet"
    tables = pa.array([[("a", "b"), ("a", "c")]], type=pa.map_(pa.string(), pa.string()))
    pq.write_table(pa.table({"table": tables}), path)
    assert complaint(path) == f"{path}:1: the field 'a' appears twice."


def test_a_parquet_column_twice_is_refused(tmp_path: Path):
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table([pa.array(["x"]), pa.array(["y"])], names=["a", "a"]), path)
    assert complaint(path) == f"{path}: the column 'a' appears twice."


# -- WikiBio -------------------------------------------------------------------------------------

TOGETHER = "The three files of a split must belong together."


@pytest.mark.parametrize(
    ("box", "nb", "sent", "where", "what"),
    [
        (
            "a_1:b\na_1:c\n",
            "1\n",
            "s .\n",
            "train.box:2",
            f"there is a table, but FOLDER/train.nb ends after 1 lines. {TOGETHER}",
        ),
        (
            "a_1:b\n",
            "1\n1\n",
            "s .\ns .\n",
            "train.nb:2",
            f"there is a number of sentences, but FOLDER/train.box ends after 1 lines. {TOGETHER}",
        ),
        (
            "a_1:b\na_1:c\n",
            "1\n2\n",
            "s .\ns .\n",
            "train.nb:2",
            f"the example has 2 sentences, but FOLDER/train.sent ends after 2 lines. {TOGETHER}",
        ),
        (
            "a_1:b\n",
            "1\n",
            "s .\ns .\n",
            "train.sent:2",
            f"there are more sentences than the 1 that FOLDER/train.nb counts. {TOGETHER}",
        ),
        ("a_1:b\n", "one\n", "s .\n", "train.nb:1", "expected a number of sentences, found 'one'."),
        ("a_1:b\n", "-1\n", "s .\n", "train.nb:1", "expected a number of sentences, found '-1'."),
        ("a_1:b\n\n", "1\n1\n", "s .\ns .\n", "train.box:2", "the table has no field."),
        ("a_1:b\ta_2\n", "1\n", "s .\n", "train.box:1", "expected 'field_1:token', found 'a_2'."),
    ],
)
def test_wikibio_files_that_do_not_belong_together_are_refused(
    write: Write, tmp_path: Path, box: str, nb: str, sent: str, where: str, what: str
):
    write("train.box", box)
    write("train.nb", nb)
    write("train.sent", sent)
    expected = f"{tmp_path}/{where}: {what.replace('FOLDER', str(tmp_path))}"
    assert complaint(f"wikibio:{tmp_path}", "train") == expected


# -- anything at all -----------------------------------------------------------------------------

PIECES = st.sampled_from(
    [
        *(b'{"table": {"a": "b"}}', b"mr,ref", b'"a[b], c[d]",e', b"a_1:b\tc:<none>", b"id,text"),
        *(b"\n", b"\r", b"\r\n", b"\t", b" ", b",", b'"', b"[", b"]", b":", b"{", b"}", b"1", b"NaN"),
        *(b"\0", b"\xff", b"\xef\xbb\xbf", b"\xc3\xa9", b"\\ud800", b"1e999"),
    ]
)


@settings(max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    name=st.sampled_from(["a.jsonl", "a.csv", "a.parquet", "a.csv.gz", "train.box"]),
    content=st.lists(PIECES, max_size=12).map(b"".join),
)
def test_whatever_is_in_a_file_it_is_read_or_refused(write: Write, name: str, content: bytes):
    path = write(name, gzip.compress(content) if name.endswith(".gz") else content)
    source = f"wikibio:{path.parent}" if name == "train.box" else str(path)
    place = str(path)
    try:
        corpus = read_corpus(source, "train" if name == "train.box" else None)
        examples = list(corpus)
    except CorpusError as error:
        place = error.where or "nowhere"
    else:
        assert len(examples) == len(corpus) > 0
        assert all(example.table.fields and example.id for example in examples)
    assert place.startswith(str(path))
