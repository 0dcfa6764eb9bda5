"""What each reader makes of a good file."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
import tracemalloc
from decimal import Decimal
from itertools import pairwise
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from textsplice.corpus import Example, Table, read_corpus
from textsplice.corpus.e2e import parse_mr
from textsplice.corpus.wikibio import parse_box

VAULTS = Table((("name", ("The Vaults",)), ("eatType", ("pub",))))


def write(path: Path, text: str) -> Path:
    path.write_bytes(text.encode("utf-8"))
    return path


def write_jsonl(path: Path, *rows: object) -> Path:
    return write(path, "".join(json.dumps(row) + "\n" for row in rows))


def only_table(path: Path) -> Table:
    (example,) = read_corpus(path)
    return example.table


# -- E2E -----------------------------------------------------------------------------------------


def test_an_e2e_row_is_a_table_and_a_text(tmp_path: Path):
    write(tmp_path / "trainset.csv", 'mr,ref\n"name[The Vaults], eatType[pub]",The Vaults is a pub.\n')
    corpus = read_corpus(f"e2e:{tmp_path}", "train")
    assert list(corpus) == [Example("train:1", VAULTS, "The Vaults is a pub.")]


def test_the_test_sets_header_of_the_release_is_read_for_generation(tmp_path: Path):
    path = write(tmp_path / "testset.csv", '"MR"\n"name[The Vaults], eatType[pub]"\n')
    assert list(read_corpus(f"e2e:{path}")) == [Example("testset:1", VAULTS, None)]
    assert list(read_corpus(path)) == [Example("testset:1", VAULTS, None)]


def test_a_csv_with_mr_and_ref_needs_no_prefix(tmp_path: Path):
    path = write(tmp_path / "a.csv", 'mr,ref\n"name[The Vaults], eatType[pub]",A pub.\n')
    assert list(read_corpus(path)) == [Example("a:1", VAULTS, "A pub.")]


@pytest.mark.parametrize(
    ("mr", "value"),
    [
        ("x[a, b]", "a, b"),
        ("x[a [b], c]", "a [b], c"),
        ("x[a] b]", "a] b"),
        ("x[ a ]", "a"),
    ],
)
def test_a_value_keeps_its_commas_and_brackets(mr: str, value: str):
    assert parse_mr(f"{mr}, y[z]") == Table((("x", (value,)), ("y", ("z",))))


def test_an_empty_value_is_an_empty_field():
    assert parse_mr("name[The Vaults], near[]") == Table((("name", ("The Vaults",)), ("near", ())))


FIELD_NAMES = st.text("abc defé", min_size=1).map(str.strip).filter(bool)
FIELD_VALUES = st.text("abc,:éß 7", min_size=1).map(str.strip).filter(bool)


@given(st.dictionaries(FIELD_NAMES, FIELD_VALUES, min_size=1, max_size=6))
def test_what_is_written_as_an_mr_is_read_back(record: dict[str, str]):
    mr = ", ".join(f"{name}[{value}]" for name, value in record.items())
    assert parse_mr(mr) == Table.of(record)


@pytest.mark.data
@pytest.mark.parametrize(
    ("split", "examples", "tables"), [("train", 42061, 4862), ("dev", 4672, 547), ("test", 4693, 630)]
)
def test_all_of_e2e_is_read(e2e_folder: Path, split: str, examples: int, tables: int):
    corpus = read_corpus(f"e2e:{e2e_folder}", split)
    assert len(corpus) == examples
    assert len({example.table for example in corpus}) == tables
    assert sum(example.text is not None for example in corpus) == examples


@pytest.mark.data
def test_references_of_one_table_share_it_in_memory(e2e_folder: Path):
    examples = list(read_corpus(f"e2e:{e2e_folder}", "dev"))
    equal = [(a.table, b.table) for a, b in pairwise(examples) if a.table == b.table]
    assert len(equal) > 4000
    assert all(a is b for a, b in equal)


# -- WikiBio -------------------------------------------------------------------------------------


def write_wikibio(folder: Path, box: str, nb: str, sent: str, ending: str = "") -> str:
    for kind, text in (("box", box), ("nb", nb), ("sent", sent)):
        data = text.encode("utf-8")
        (folder / f"valid.{kind}{ending}").write_bytes(gzip.compress(data) if ending else data)
    return f"wikibio:{folder}"


BOX = "name_1:walter\tname_2:extra\timage:<none>\n"


@pytest.mark.parametrize("ending", ["", ".gz"])
def test_wikibio_reads_the_first_sentence_or_all(tmp_path: Path, ending: str):
    source = write_wikibio(
        tmp_path, BOX + "name_1:eva\n", "2\n1\n", "he flies .\nhe builds .\nshe sings .\n", ending
    )
    walter = Table((("name", ("walter extra",)), ("image", ())))
    eva = Table((("name", ("eva",)),))
    assert list(read_corpus(source, "dev")) == [
        Example("dev:1", walter, "he flies ."),
        Example("dev:2", eva, "she sings ."),
    ]
    assert [example.text for example in read_corpus(source, "valid", sentences="all")] == [
        "he flies . he builds .",
        "she sings .",
    ]


def test_wikibios_archive_has_a_folder_per_split(tmp_path: Path):
    (tmp_path / "valid").mkdir()
    write_wikibio(tmp_path / "valid", BOX, "1\n", "he flies .\n")
    assert [example.text for example in read_corpus(f"wikibio:{tmp_path}", "dev")] == ["he flies ."]


def test_wikibio_without_texts_is_for_generation(tmp_path: Path):
    write(tmp_path / "test.box", BOX)
    assert [example.text for example in read_corpus(f"wikibio:{tmp_path}", "test")] == [None]


@pytest.mark.parametrize(
    ("line", "fields"),
    [
        ("pcupdate_1:22:39", {"pcupdate": "22:39"}),
        ("image_1:anba_bola_1", {"image": "anba_bola_1"}),
        ("image_2::", {"image": ":"}),
        ("club_2_1:ajax\tclub_2_2:ii", {"club_2": "ajax ii"}),
        ("birth_date_1:1954\tbirth_date:<none>", {"birth_date": "1954"}),
        ("birth_date:<none>\tbirth_date_1:1954", {"birth_date": "1954"}),
        ("name_1:a\tname_2:<none>\tname_3:b", {"name": "a b"}),
    ],
)
def test_a_box_keeps_colons_underscores_and_what_none_would_wipe(line: str, fields: dict[str, str]):
    assert parse_box(line + "\n") == Table.of(fields)


@pytest.mark.data
@pytest.mark.parametrize(("split", "examples"), [("train", 582), ("dev", 100), ("test", 100)])
def test_all_of_the_wikibio_sample_is_read(wikibio_folder: Path, split: str, examples: int):
    corpus = read_corpus(f"wikibio:{wikibio_folder}", split)
    assert len(corpus) == examples
    assert len([example for example in corpus if example.text]) == examples


@pytest.mark.data
def test_no_token_of_the_wikibio_sample_is_lost(wikibio_folder: Path):
    box = (wikibio_folder / "train.box").read_text(encoding="utf-8")
    items = [item for line in box.splitlines() for item in line.split("\t")]
    full = [item for item in items if not item.endswith(":<none>")]
    corpus = read_corpus(f"wikibio:{wikibio_folder}", "train")
    words = [word for e in corpus for _, values in e.table for v in values for word in v.split(" ")]
    assert len(words) == len(full) > 10_000


# -- JSONL ---------------------------------------------------------------------------------------


def test_a_jsonl_value_is_a_text_or_a_list(tmp_path: Path):
    path = write_jsonl(
        tmp_path / "routes.jsonl",
        {"table": {"name": "Ridge Walk", "sights": ["mill", "gorge"]}, "text": "Walk it."},
        {"id": 7, "table": {"name": "Loop"}},
    )
    assert list(read_corpus(path)) == [
        Example("routes:1", Table((("name", ("Ridge Walk",)), ("sights", ("mill", "gorge")))), "Walk it."),
        Example("7", Table((("name", ("Loop",)),)), None),
    ]


def test_numbers_booleans_and_nulls_become_text_as_documented(tmp_path: Path):
    line = (
        '{"table": {"a": 123, "b": 1.50, "c": true, "d": false, "e": null, "f": "",'
        ' "g": [1, null, "x", true], "h": 12345678901234567890123, "i": []}}'
    )
    assert only_table(write(tmp_path / "a.jsonl", line)).to_record() == {
        "a": "123",
        "b": "1.50",
        "c": "yes",
        "d": "no",
        "e": [],
        "f": [],
        "g": ["1", "x", "yes"],
        "h": "12345678901234567890123",
        "i": [],
    }


def test_nested_objects_are_flattened_with_dots(tmp_path: Path):
    table = {"a": {"b": {"c": "x"}, "d": ["y", "z"]}, "e": {}}
    path = write_jsonl(tmp_path / "a.jsonl", {"table": table})
    assert only_table(path).to_record() == {"a.b.c": "x", "a.d": ["y", "z"], "e": []}


def test_gzip_bom_crlf_and_blank_lines_are_read(tmp_path: Path):
    text = '\ufeff{"table": {"a": "é"}}\r\n\r\n{"table": {"a": "日本"}}'
    (tmp_path / "a.jsonl.gz").write_bytes(gzip.compress(text.encode("utf-8")))
    corpus = read_corpus(tmp_path / "a.jsonl.gz")
    assert [(e.id, e.table["a"]) for e in corpus] == [("a:1", ("é",)), ("a:2", ("日本",))]
    assert len(corpus) == 2


def test_the_texts_key_can_be_named(tmp_path: Path):
    path = write_jsonl(tmp_path / "a.jsonl", {"table": {"a": "b"}, "summary": "S."})
    assert [example.text for example in read_corpus(path, text_column="summary")] == ["S."]
    assert [example.text for example in read_corpus(path)] == [None]


# -- CSV -----------------------------------------------------------------------------------------


def test_a_csv_has_a_column_per_field(tmp_path: Path):
    path = write(
        tmp_path / "routes.csv",
        '\ufeffname,length,note,text\r\nRidge Walk,12 km,,"Walk it,\r\nplease."\r\nLoop,3 km,flat,\r\n',
    )
    assert list(read_corpus(path)) == [
        Example(
            "routes:1",
            Table((("name", ("Ridge Walk",)), ("length", ("12 km",)), ("note", ()))),
            "Walk it,\r\nplease.",
        ),
        Example("routes:2", Table((("name", ("Loop",)), ("length", ("3 km",)), ("note", ("flat",)))), None),
    ]


def test_the_text_column_and_the_id_are_no_fields(tmp_path: Path):
    path = write(tmp_path / "a.csv", "id,name,summary\nr1,Loop,A loop.\n")
    assert list(read_corpus(path, text_column="summary")) == [
        Example("r1", Table((("name", ("Loop",)),)), "A loop.")
    ]


def test_a_csv_without_a_text_column_is_for_generation(tmp_path: Path):
    path = write(tmp_path / "a.csv", "name,summary\nLoop,A loop.\n")
    assert list(read_corpus(path)) == [
        Example("a:1", Table((("name", ("Loop",)), ("summary", ("A loop.",)))), None)
    ]


def test_a_text_longer_than_the_csv_modules_limit_is_read(tmp_path: Path):
    text = "word " * 200_000
    path = write(tmp_path / "a.csv", f"name,text\nLoop,{text}\n")
    assert [example.text for example in read_corpus(path)] == [text]


# -- Parquet -------------------------------------------------------------------------------------


def test_parquet_is_read_with_a_column_per_field(tmp_path: Path):
    columns = {
        "name": ["Ridge Walk", "Loop"],
        "year": [1954.0, None],
        "price": [Decimal("1.50"), None],
        "open": [True, False],
        "sights": [["mill", "gorge"], []],
        "text": ["Walk it.", None],
    }
    pq.write_table(pa.table(columns), tmp_path / "a.parquet")
    ridge, loop = read_corpus(tmp_path / "a.parquet")
    assert (ridge.id, ridge.text, loop.id, loop.text) == ("a:1", "Walk it.", "a:2", None)
    assert ridge.table.to_record() == {
        "name": "Ridge Walk",
        "year": "1954",
        "price": "1.50",
        "open": "yes",
        "sights": ["mill", "gorge"],
    }
    assert loop.table.to_record() == {
        "name": "Loop",
        "year": [],
        "price": [],
        "open": "no",
        "sights": [],
    }


@pytest.mark.parametrize("kind", [None, pa.map_(pa.string(), pa.string())])
def test_parquet_is_read_with_a_column_of_tables(tmp_path: Path, kind: pa.DataType | None):
    tables = pa.array(
        [{"name": "Loop", "sight": "mill"}] if kind is None else [[("name", "Loop"), ("sight", "mill")]],
        type=kind,
    )
    pq.write_table(pa.table({"id": ["x"], "table": tables, "text": ["T."]}), tmp_path / "a.parquet")
    assert list(read_corpus(tmp_path / "a.parquet")) == [
        Example("x", Table((("name", ("Loop",)), ("sight", ("mill",)))), "T.")
    ]


# -- sources -------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["dev.jsonl", "valid.jsonl", "validation.jsonl"])
def test_a_folder_holds_a_file_per_split(tmp_path: Path, name: str):
    write_jsonl(tmp_path / "train.jsonl", {"table": {"a": "1"}})
    write_jsonl(tmp_path / name, {"table": {"a": "2"}})
    assert [(e.id, e.table["a"]) for e in read_corpus(tmp_path, "dev")] == [("dev:1", ("2",))]
    assert [(e.id, e.table["a"]) for e in read_corpus(str(tmp_path), "train")] == [("train:1", ("1",))]


def test_a_corpus_is_read_again_each_time_and_knows_its_files(tmp_path: Path):
    path = write_jsonl(tmp_path / "a.jsonl", {"table": {"a": "1"}}, {"table": {"a": "2"}})
    corpus = read_corpus(path)
    assert list(corpus) == list(corpus)
    assert corpus.files == (path,)
    assert len(corpus) == 2


def big_file(path: Path, rows: int) -> Path:
    values = " ".join(f"word{n}" for n in range(20))
    if path.suffix == ".jsonl":
        return write_jsonl(path, *({"table": {"n": n, "v": values}, "text": "T."} for n in range(rows)))
    if path.suffix == ".csv":
        return write(path, "n,v,text\n" + "".join(f"{n},{values},T.\n" for n in range(rows)))
    if path.suffix == ".box":
        box = "".join(f"n_1:{n}\tv_1:{values}\n" for n in range(rows))
        write(path.with_name("train.nb"), "1\n" * rows)
        write(path.with_name("train.sent"), "t .\n" * rows)
        return write(path, box)
    columns = {"n": list(range(rows)), "v": [values] * rows, "text": ["T."] * rows}
    pq.write_table(pa.table(columns), path, row_group_size=1000)
    return path


@pytest.mark.parametrize("name", ["a.jsonl", "a.csv", "a.parquet", "train.box"])
def test_memory_stays_flat_however_long_the_file_is(tmp_path: Path, name: str):
    path = big_file(tmp_path / name, 50_000)
    corpus = read_corpus(f"wikibio:{tmp_path}", "train") if name == "train.box" else read_corpus(path)
    tracemalloc.start()
    try:
        count = sum(1 for _ in corpus)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert count == len(corpus) == 50_000
    assert peak < 3_000_000, f"{peak:,} bytes at the peak"


def test_importing_the_room_does_not_import_pyarrow():
    code = "import sys, textsplice.corpus; sys.exit('pyarrow' in sys.modules or 'numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
