"""Readers as targets: each gets a damaged file, or damaged text."""

from __future__ import annotations

import gzip
import io
import shutil
import zipfile
from collections.abc import Callable, Sequence
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

from fuzz_target import DATA, FaultError, Target, folder, written

from textsplice.config import Config, load_config
from textsplice.corpus import Table, read_corpus
from textsplice.corpus.bundled import bundled_path
from textsplice.corpus.jsonl import parse_line
from textsplice.errors import InputError
from textsplice.evaluate import evaluate
from textsplice.evaluate.evaluation import scores_json
from textsplice.evaluate.outputs import read_outputs
from textsplice.evaluate.ratings.items import make_items
from textsplice.evaluate.ratings.reading import read_ratings
from textsplice.evaluate.ratings.sheets import write_sheets
from textsplice.neighbors.store import Store
from textsplice.parsing import parse_object
from textsplice.report.document import read_document
from textsplice.report.overview import report_html
from textsplice.report.plain import plain
from textsplice.report.svg import svg
from textsplice.report.terminal import ansi
from textsplice.search.rows import read_generations
from textsplice.search.rules import rule_from_dict
from textsplice.slots.lexicon import Lexicon
from textsplice.splicer import verify
from textsplice.text import Vocabulary

ROWS = [
    line
    for name in ("full", "lrt", "copy")
    for line in (DATA / f"{name}.jsonl").read_bytes().splitlines(True)
]

JSONL = b"".join(bundled_path("dev").read_bytes().splitlines(True)[:3])
CSV = b'name,"eat, type",id,text\nThe Mill,pub,a,"The Mill, a ""pub""."\nElm,,b,x\n'
TSV = b'name\tlikes\ttext\nThe Mill\ta|b\t"The Mill," they say.\nElm\tb|a\t"two\nlines"\n'
E2E = b'mr,ref\n"name[The Vaults], eatType[pub], note[a [b], c]",The Vaults is a pub.\n"name[X]",X\n'
BOX = b"name_1:walter\tname_2:extra\timage:<none>\tborn_1:22:39\nname_1:anna\n"
WEBNLG = (
    b'<?xml version="1.0"?><benchmark><entries><entry category="Mill" eid="Id1"><modifiedtripleset>'
    b"<mtriple>Low_Mill | river | Orrel</mtriple><mtriple>Orrel | length | 12.0 (km)</mtriple>"
    b'</modifiedtripleset><lex lid="Id1">Low Mill &amp; the <text>Orrel</text>.</lex></entry></entries>'
    b"</benchmark>"
)
TOML = (
    b'[corpus]\nsource = "bundled"\nsplits = ["train", "dev"]\nmax_tokens = 5\n'
    b"[training]\nbetas = [0.9, 0.98]\nclip = 2.0\n"
)
LEXICON = (
    b'[_sets]\nCHILD = "kid|kids"\n[familyFriendly]\nverbatim = false\nneutral = ["{CHILD} menu"]\n'
    b'[familyFriendly.wordings]\nyes = ["{CHILD} friendly", "a? b|c ... d"]\n"no | never" = ["adults only"]\n'
)
RULES = (
    b'{"rule": "forbid-words", "words": ["cheap"]}',
    b'{"rule": "min-sentences", "count": 2}',
    b'{"rule": "require-fields", "fields": ["name"]}',
)


def corpus(name: str, prefix: str = "") -> Callable[[bytes], object]:
    return lambda content: sum(1 for _ in read_corpus(f"{prefix}{written(name, content)}"))


SHEET = "xl/worksheets/sheet1.xml"


@cache
def workbook() -> bytes:
    """An Excel file of two records."""
    book = import_module("openpyxl").Workbook()
    for row in (["name", "price", "likes", "text"], ["The Mill", 12.5, "a|b", "T."], ["Elm", True, "b|a"]):
        book.active.append(row)
    book.active.merge_cells("D2:D3")
    file = io.BytesIO()
    book.save(file)
    return file.getvalue()


def sheet() -> bytes:
    """The XML of its sheet."""
    with zipfile.ZipFile(io.BytesIO(workbook())) as archive:
        return archive.read(SHEET)


def _workbook_of(content: bytes) -> object:
    """Reads the workbook with another sheet in it."""
    file = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(workbook())) as old, zipfile.ZipFile(file, "w") as new:
        for name in old.namelist():
            new.writestr(name, content if name == SHEET else old.read(name))
    return corpus("b.xlsx")(file.getvalue())


def excel_targets() -> list[Target]:
    """None without the extra `excel`."""
    if find_spec("openpyxl") is None:
        return []
    return [
        Target("excel", [workbook()], corpus("a.xlsx"), 40),
        Target("excel sheet", [sheet()], _workbook_of, 40),
    ]


def parquet_files() -> list[bytes]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    columns = (
        {"name": ["a", "b"], "n": [1, None], "text": ["x", "y"]},
        {"table": [{"a": "b", "c": ["d"]}], "id": [7], "text": ["x"]},
        {"table": pa.array([[(1, "x"), (2, "y")]], pa.map_(pa.int64(), pa.string()))},
        {"when": pa.array([2**60], pa.timestamp("ms")), "text": ["x"]},
    )
    files: list[bytes] = []
    for each in columns:
        buffer = io.BytesIO()
        pq.write_table(pa.table(each), buffer)
        files.append(buffer.getvalue())
    return files


def _wikibio(content: bytes) -> object:
    box, _, nb = content.partition(b"\0NB\0")
    written("wb/train.box", box)
    written("wb/train.nb", nb)
    written("wb/train.sent", b"a .\nb .\nc .\n")
    return sum(1 for _ in read_corpus(f"wikibio:{folder() / 'wb'}", "train", sentences="all"))


def _webnlg(content: bytes) -> object:
    written("wn/train/a.xml", content)
    return sum(1 for _ in read_corpus(f"webnlg:{folder() / 'wn'}", "train"))


def _views(content: bytes) -> None:
    for _, row in read_generations(written("g.jsonl", content)):
        shown = read_document(row.to_dict())
        for text in (plain(shown), svg(shown)):
            if "\x1b" in text or "\x9b" in text:
                raise FaultError("an escape is sent to the terminal")
        if "\x1b]" in ansi(shown) or "\x1b[2J" in ansi(shown):
            raise FaultError("an escape is sent to the terminal")


def _store(content: bytes) -> None:
    if not (folder() / "store").exists():
        shutil.copytree(DATA / "runs" / "full" / "store", folder() / "store")
    written("store/store.json", content)
    Store.load(folder() / "store")


def _texts(content: bytes) -> None:
    if not (folder() / "store2").exists():
        shutil.copytree(DATA / "runs" / "full" / "store", folder() / "store2")
    written("store2/tables.parquet", content)
    Store.load(folder() / "store2")


@cache
def sheets() -> Path:
    path = folder() / "sheets"
    outputs = read_outputs(written("o.jsonl", b"".join(ROWS[:2])))
    write_sheets(path, make_items({"a": outputs, "b": outputs}, examples=2, raters=1, seed=1), seed=1)
    return path


def _key(content: bytes) -> object:
    return read_ratings(written("key.json", content), [written("filled.csv", filled_sheet())])


def _sheet(content: bytes) -> object:
    return read_ratings(sheets() / "key.json", [written("sheet.csv", content)])


def filled_sheet() -> bytes:
    return (sheets() / "rater-01.csv").read_bytes().replace(b",,,\n", b",1,2,3\n")


def scores_file() -> bytes:
    """What `evaluate --json` prints."""
    outputs = written("o3.jsonl", ROWS[0])
    return scores_json([evaluate(outputs, str(outputs), "all", metrics=["BLEU"])]).encode()


def _scores(content: bytes) -> object:
    written("run/dev.jsonl", ROWS[0])
    written("run/scores.json", content)
    return report_html(folder() / "run")


def _journal(content: bytes) -> object:
    if not (folder() / "trained").exists():
        shutil.copytree(DATA / "runs" / "full", folder() / "trained")
    written("trained/train.jsonl", content)
    return report_html(folder() / "trained")


READER_TARGETS: Sequence[Target] = (
    Target("jsonl", [JSONL], corpus("a.jsonl"), 150),
    Target("csv", [CSV, E2E], corpus("a.csv"), 150),
    Target("tsv", [TSV], corpus("a.tsv"), 80),
    Target("e2e", [E2E], corpus("b.csv", "e2e:"), 120),
    Target("gzip", [gzip.compress(JSONL, mtime=0)], corpus("a.jsonl.gz"), 40),
    Target("parquet", parquet_files(), corpus("a.parquet"), 40),
    *excel_targets(),
    Target("wikibio", [BOX + b"\0NB\0" + b"2\n1\n"], _wikibio, 80),
    Target("webnlg", [WEBNLG], _webnlg, 80),
    Target(
        "record",
        JSONL.splitlines(),
        lambda c: Table.of(parse_line(c.decode("utf-8", "replace"), where="x")),
        80,
    ),
    Target("config", [TOML], lambda c: load_config(written("c.toml", c)), 80),
    Target(
        "assignment",
        [b"search.beam=3", b'corpus.splits=["a"]', b"training.clip=1.0"],
        lambda c: Config().with_values([c.decode("utf-8", "replace")]),
        80,
    ),
    Target("lexicon", [LEXICON], lambda c: Lexicon.load(written("l.toml", c)), 40),
    Target("rule", RULES, lambda c: rule_from_dict(parse_object(c, InputError, "x"), "x"), 40),
    Target("generations", ROWS, lambda c: verify(written("v.jsonl", c)), 20),
    Target("views", ROWS, _views, 4),
    Target("outputs", ROWS, lambda c: read_outputs(written("o2.jsonl", c)), 20),
    Target("report", ROWS, lambda c: report_html(written("r/dev.jsonl", c)), 4),
    Target("scores", [scores_file()], _scores, 4),
    Target("journal", [(DATA / "runs" / "full" / "train.jsonl").read_bytes()], _journal, 2),
    Target(
        "vocabulary",
        [(DATA / "runs" / "full" / "vocab.json").read_bytes()],
        lambda c: Vocabulary.load(written("v.json", c)),
        20,
    ),
    Target("store.json", [(DATA / "runs" / "full" / "store" / "store.json").read_bytes()], _store, 4),
    Target("store.parquet", [(DATA / "runs" / "full" / "store" / "tables.parquet").read_bytes()], _texts, 4),
    Target("ratings key", [(sheets() / "key.json").read_bytes()], _key, 10),
    Target("ratings sheet", [filled_sheet()], _sheet, 10),
)
