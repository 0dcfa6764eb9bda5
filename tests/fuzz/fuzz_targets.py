"""What is fuzzed: every reader, and every command that reads a file.

A target takes bytes, and either uses them or says in one printable line why not.
"""

from __future__ import annotations

import gzip
import io
import json
import shutil
import sys
import tempfile
from collections.abc import Callable, Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from mutations import damaged

from textsplice.cli import main
from textsplice.config import Config, load_config
from textsplice.corpus import Table, read_corpus
from textsplice.corpus.bundled import bundled_path
from textsplice.corpus.jsonl import parse_line
from textsplice.errors import InputError, TextspliceError
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

DATA = Path(__file__).resolve().parent.parent / "data" / "version-0.1"
ROWS = [
    line
    for name in ("full", "lrt", "copy")
    for line in (DATA / f"{name}.jsonl").read_bytes().splitlines(True)
]

JSONL = b"".join(bundled_path("dev").read_bytes().splitlines(True)[:3])
CSV = b'name,"eat, type",id,text\nThe Mill,pub,a,"The Mill, a ""pub""."\nElm,,b,x\n'
E2E = b'mr,ref\n"name[The Vaults], eatType[pub], note[a [b], c]",The Vaults is a pub.\n"name[X]",X\n'
BOX = b"name_1:walter\tname_2:extra\timage:<none>\tborn_1:22:39\nname_1:anna\n"
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
SCORES = json.dumps({"systems": [{"name": "x", "scores": [{"metric": "BLEU", "value": 0.5}]}]}).encode()


@dataclass(frozen=True)
class Target:
    """Something that reads bytes; `weight` is how many of 1,000 cases are its."""

    name: str
    seeds: Sequence[bytes]
    read: Callable[[bytes], object]
    weight: int


class FaultError(Exception):
    """What must not happen: neither used nor refused in one printable line."""


def try_case(target: Target, case: int) -> bool:
    """Whether the input was used; False if it was refused, and an error if it was neither."""
    content = damaged(target.seeds, case)
    try:
        target.read(content)
    except TextspliceError as error:
        sentence = error.sentence()
        if not sentence.isprintable() or len(sentence) > 5000:
            raise FaultError(f"not one printable line: {sentence[:200]!r}") from error
        return False
    return True


@cache
def folder() -> Path:
    """A place for the files of this process."""
    made = Path(tempfile.mkdtemp(prefix="textsplice-fuzz-"))
    import atexit

    atexit.register(shutil.rmtree, made, ignore_errors=True)
    return made


def written(name: str, content: bytes) -> Path:
    path = folder() / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


def corpus(name: str, prefix: str = "") -> Callable[[bytes], object]:
    return lambda content: sum(1 for _ in read_corpus(f"{prefix}{written(name, content)}"))


def _parquet() -> list[bytes]:
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
def _sheets() -> Path:
    path = folder() / "sheets"
    outputs = read_outputs(written("o.jsonl", b"".join(ROWS[:2])))
    write_sheets(path, make_items({"a": outputs, "b": outputs}, examples=2, raters=1, seed=1), seed=1)
    return path


def _key(content: bytes) -> object:
    return read_ratings(written("key.json", content), [_sheets() / "rater-01.csv"])


def _sheet(content: bytes) -> object:
    return read_ratings(_sheets() / "key.json", [written("sheet.csv", content)])


def _filled() -> bytes:
    return (_sheets() / "rater-01.csv").read_bytes().replace(b",,,\n", b",1,2,3\n")


def _scores(content: bytes) -> object:
    written("run/dev.jsonl", ROWS[0])
    written("run/scores.json", content)
    return report_html(folder() / "run")


def _journal(content: bytes) -> object:
    if not (folder() / "trained").exists():
        shutil.copytree(DATA / "runs" / "full", folder() / "trained")
    written("trained/train.jsonl", content)
    return report_html(folder() / "trained")


def command(*arguments: object, name: str) -> Callable[[bytes], None]:
    """A command whose argument `{}` is the file; it must end with 0 or, with one line, with 2."""

    def run(content: bytes) -> None:
        path = str(written(name, content))
        before, sys.argv = sys.argv, ["textsplice", *(str(each).replace("{}", path) for each in arguments)]
        out, err = io.StringIO(), io.StringIO()
        code: object = 0
        try:
            with redirect_stdout(out), redirect_stderr(err):
                main()
        except SystemExit as ended:
            code = ended.code
        finally:
            sys.argv = before
        said = err.getvalue()
        if code not in (0, None, 2) or "Traceback" in said or "\x1b" in said + out.getvalue():
            raise FaultError(f"ended with {code}: {said[-300:]}")
        if code == 2:
            raise InputError(said.splitlines()[-1] if said else "")

    return run


PREPARED = DATA / "prepared"
TARGETS = (
    Target("jsonl", [JSONL], corpus("a.jsonl"), 150),
    Target("csv", [CSV, E2E], corpus("a.csv"), 150),
    Target("e2e", [E2E], corpus("b.csv", "e2e:"), 120),
    Target("gzip", [gzip.compress(JSONL, mtime=0)], corpus("a.jsonl.gz"), 40),
    Target("parquet", _parquet(), corpus("a.parquet"), 40),
    Target("wikibio", [BOX + b"\0NB\0" + b"2\n1\n"], _wikibio, 80),
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
    Target("scores", [SCORES], _scores, 4),
    Target("journal", [(DATA / "runs" / "full" / "train.jsonl").read_bytes()], _journal, 2),
    Target(
        "vocabulary",
        [(DATA / "runs" / "full" / "vocab.json").read_bytes()],
        lambda c: Vocabulary.load(written("v.json", c)),
        20,
    ),
    Target("store.json", [(DATA / "runs" / "full" / "store" / "store.json").read_bytes()], _store, 4),
    Target("store.parquet", [(DATA / "runs" / "full" / "store" / "tables.parquet").read_bytes()], _texts, 4),
    Target("ratings key", [(_sheets() / "key.json").read_bytes()], _key, 10),
    Target("ratings sheet", [_filled()], _sheet, 10),
    Target("generate", [JSONL], command("generate", PREPARED, "{}", "-q", name="t.jsonl"), 1),
    Target("verify", ROWS, command("verify", "{}", name="w.jsonl"), 1),
    Target("explain", ROWS, command("explain", "{}", name="e.jsonl"), 1),
    Target(
        "evaluate",
        ROWS,
        command("evaluate", "{}", "--references", "{}", "--metrics", "BLEU", name="f.jsonl"),
        1,
    ),
    Target(
        "lexicon check",
        [JSONL],
        command("lexicon", "check", "{}", "--lexicon", "values", "--split", "all", name="h.jsonl"),
        1,
    ),
    Target("prepare", [TOML], command("prepare", "{}", "-q", "--out", "/dev/null/x", name="p.toml"), 1),
)
