"""Commands as targets: each that reads a file or a folder, with that file damaged."""

from __future__ import annotations

import io
import shutil
import sys
from collections.abc import Callable, Sequence
from contextlib import redirect_stderr, redirect_stdout
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING
from zlib import crc32

from fuzz_target import DATA, FaultError, Target, folder, written
from fuzz_targets import (
    CSV,
    E2E,
    JSONL,
    LEXICON,
    ROWS,
    TOML,
    filled_sheet,
    parquet_files,
    scores_file,
    sheets,
)

from textsplice.cli import main
from textsplice.cli.quickstart import check_same, check_same_run, quickstart_config
from textsplice.config import to_toml
from textsplice.errors import InputError
from textsplice.splicer import Splicer

if TYPE_CHECKING:
    from starlette.testclient import TestClient

PREPARED = DATA / "prepared"
RUN = DATA / "runs" / "full"
NAME_ENDS = b"\0FILE\0"  # between the name of a file and its content, in the cases of folders
Read = Callable[[bytes], None]

SMALL = (
    *("--set", "training.processes=1", "--set", "training.max_steps=1", "--set", "training.epochs=1"),
    *("--set", "training.batch_sequences=2", "--set", "training.micro_sequences=2"),
    *("--set", "training.validate_sequences=2", "--set", "training.max_minutes=0.05"),
)
ALL = ("--split", "all")
GET = ("data", "get", "--to", "{out}")
RULES_FILE = b'[{"rule": "forbid-words", "words": ["cheap"]}, {"rule": "min-sentences", "count": 2}]'


def run_command(*arguments: object) -> None:
    """A command must end with 0 (3 if a gate refused) or, with one line, with 2."""
    before, sys.argv = sys.argv, ["textsplice", *map(str, arguments)]
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
    if code not in (0, None, 2, 3) or "Traceback" in said or "\x1b" in said + out.getvalue():
        raise FaultError(f"ended with {code}: {said[-300:]}")
    if code == 2:
        raise InputError(said.splitlines()[-1] if said else "")


def command(*arguments: object, name: str) -> Read:
    """A command whose argument `{}` is the damaged file, and `{out}` a folder that is not there."""

    def run(content: bytes) -> None:
        path, out = str(written(name, content)), folder() / "out"
        shutil.rmtree(out, ignore_errors=True)
        run_command(*(str(each).replace("{out}", str(out)).replace("{}", path) for each in arguments))

    return run


def in_folder(template: Path, use: Callable[[Path], object]) -> Read:
    """Something that uses a copy of the folder `template`, in which one file is damaged."""

    @cache
    def copied() -> tuple[Path, list[str]]:
        copy = folder() / f"copy-{crc32(repr((str(template), id(use))).encode())}"
        shutil.copytree(template, copy)
        return copy, names_in(template)

    def run(content: bytes) -> None:
        copy, names = copied()
        head, _, body = content.partition(NAME_ENDS)
        name = head.decode("utf-8", "replace")
        if name not in names:  # the name was damaged: another file
            name = names[crc32(head) % len(names)]
        (copy / name).write_bytes(body)
        try:
            use(copy)
        finally:
            (copy / name).write_bytes((template / name).read_bytes())

    return run


def names_in(template: Path) -> list[str]:
    return sorted(path.relative_to(template).as_posix() for path in template.rglob("*") if path.is_file())


def folder_seeds(template: Path) -> list[bytes]:
    """Every file of a folder, with its name."""
    return [name.encode() + NAME_ENDS + (template / name).read_bytes() for name in names_in(template)]


def using(*arguments: object) -> Callable[[Path], None]:
    """A command whose argument `{}` is the folder."""

    def use(copy: Path) -> None:
        out = folder() / "out"
        shutil.rmtree(out, ignore_errors=True)
        run_command(*(str(a).replace("{out}", str(out)).replace("{}", str(copy)) for a in arguments))

    return use


def train_config(prepared: Path) -> bytes:
    """The configuration that the prepared folder was made with."""
    text = (DATA / "config.toml").read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if not line.startswith(("prepared =", "run ="))]
    rest = "\n".join(lines).replace("[output]", "")
    return f'{rest}\n[output]\nprepared = "{prepared.as_posix()}"\nrun = "{folder() / "out"}"\n'.encode()


def _train_in(copy: Path) -> None:
    config = written("in.toml", train_config(copy))
    shutil.rmtree(folder() / "out", ignore_errors=True)
    run_command("train", config, "-q", *SMALL, "--set", f"output.run={folder() / 'out'}")


@cache
def _wikibio_folder() -> Path:
    made = folder() / "wikibio"
    for split in ("train", "valid", "test"):
        written(f"wikibio/{split}.box", b"name_1:walter\tborn_1:22\n")
        written(f"wikibio/{split}.nb", b"1\n")
        written(f"wikibio/{split}.sent", b"walter .\n")
    written("wikibio/SHA256SUMS", b"0" * 64 + b"  other.txt\n")
    return made


@cache
def _e2e_folder() -> Path:
    for name in ("trainset.csv", "devset.csv", "testset_w_refs.csv"):
        written(f"e2e-from/{name}", E2E)
    return folder() / "e2e-from"


@cache
def _splits() -> Path:
    for split in ("train", "dev", "test"):
        written(f"splits/{split}.jsonl", JSONL)
    return folder() / "splits"


@cache
def _quickstart() -> Path:
    out = folder() / "quickstart"
    config = quickstart_config(out)
    written("quickstart/config.toml", to_toml(config).encode())
    shutil.copytree(RUN, out / "run")
    return out


def _check_quickstart(copy: Path) -> None:
    config = quickstart_config(_quickstart())
    check_same(copy / "config.toml", config)
    check_same_run(copy / "run", config)


def _generate_one(copy: Path) -> object:
    return Splicer.load(copy).generate({"name": "The Mill", "area": "riverside"}).to_dict()


def of_folder(name: str, template: Path, use: Callable[[Path], object], weight: float) -> Target:
    return Target(name, folder_seeds(template), in_folder(template, use), weight)


EXPERIMENTS: Sequence[Target] = (
    of_folder("leakage", _splits(), using("experiment", "leakage", "{}", "--out", "{out}"), 0.1),
    Target(
        "automatic",
        ROWS,
        command(
            *("experiment", "automatic", "x={}", "--references", "{}", "--metrics", "BLEU"),
            *("--split", "all", "--out", "{out}"),
            name="x1.jsonl",
        ),
        0.1,
    ),
    Target(
        "interpretability",
        [(DATA / "full.jsonl").read_bytes()],
        command(
            *("experiment", "interpretability", "x={}", "--references", DATA / "prepared"),
            *("--out", "{out}"),
            name="x2.jsonl",
        ),
        0.1,
    ),
    Target(
        "samples",
        ROWS,
        command(
            *("experiment", "samples", "x={}", "--references", "{}", "--split", "all", "--out", "{out}"),
            name="x3.jsonl",
        ),
        0.1,
    ),
    of_folder(
        "neighbor curve",
        PREPARED,
        using(
            *("experiment", "neighbor-curve", "x={}", "--references", "{}", "--ks", "1,2", "--limit", "1"),
            *("--metric", "BLEU", "--no-figure", "--out", "{out}"),
        ),
        0.1,
    ),
    of_folder(
        "control",
        PREPARED,
        using(
            *("experiment", "control", "x={}", "--references", "{}", "--limit", "1", "--no-figure"),
            *("--out", "{out}"),
        ),
        0.1,
    ),
    of_folder("exclusion", PREPARED, using("experiment", "exclusion", "{}", "--out", "{out}"), 0.1),
    Target(
        "ratings make",
        ROWS,
        command(
            *("experiment", "ratings", "make", "a={}", "b={}", "--examples", "1", "--out", "{out}"),
            name="x4.jsonl",
        ),
        0.1,
    ),
    Target(
        "ratings read",
        [filled_sheet()],
        command(
            "experiment", "ratings", "read", sheets(), "{}", "--no-figure", "--out", "{out}", name="x5.csv"
        ),
        0.1,
    ),
)


@cache
def _client() -> TestClient:
    """The API over a small store, in this process."""
    from starlette.testclient import TestClient

    from textsplice.serve.app import create_app
    from textsplice.serve.approved import ApprovedFile
    from textsplice.serve.service import Named, Service

    service = Service(Splicer.untrained(PREPARED), Named("", ""), ApprovedFile(folder() / "approved.jsonl"))
    app = create_app(service, log=lambda _: None)
    return TestClient(app, base_url="http://127.0.0.1", raise_server_exceptions=False)


def sent(path: str, kind: str) -> Read:
    """A request whose body is damaged: it is answered, or refused with a problem."""

    def send(content: bytes) -> None:
        answer = _client().post(path, content=content, headers={"Content-Type": kind})
        if answer.status_code >= 500 or (
            answer.status_code >= 400 and "problem" not in answer.headers["content-type"]
        ):
            raise FaultError(f"ended with {answer.status_code}: {answer.text[:300]}")
        if answer.status_code >= 400:
            raise InputError(answer.json()["detail"])

    return send


def _serve_files(content: bytes) -> None:
    """`serve` with a damaged file of approved texts; it would listen, so only its files are opened."""
    from textsplice.serve.approved import ApprovedFile

    file = ApprovedFile(written("serve.jsonl", content))
    before = file.check()
    if file.add({"table": {"name": "Mill"}, "text": "x"}) != before + 1:
        raise FaultError("a text was lost")


SERVE_TARGETS: Sequence[Target] = (
    Target("serve", [b'{"table": {"name": "Mill"}, "text": "A mill."}\n' * 2], _serve_files, 0.5),
    Target(
        "serve generate",
        [b'{"table": {"name": "The Mill", "area": "riverside"}, "rules": [{"rule": "copy-only"}]}'],
        sent("/v1/generate", "application/json"),
        0.5,
    ),
    Target(
        "serve trace",
        [b'{"text": "Mill is old.", "table": {"name": "Mill"}, "exact": false}'],
        sent("/v1/trace", "application/json"),
        0.3,
    ),
    Target("serve read", [CSV], sent("/v1/read", "text/csv"), 0.3),
)

COMMAND_TARGETS: Sequence[Target] = (
    *SERVE_TARGETS,
    of_folder("run", RUN, _generate_one, 1),
    of_folder("prepared", PREPARED, using("generate", "{}", DATA / "corpus" / "dev.jsonl", "-q"), 0.2),
    of_folder("inspect", PREPARED, using("inspect", "{}"), 0.5),
    of_folder("inspect one", PREPARED, using("inspect", "{}", "--example", "0"), 0.5),
    of_folder("train folder", PREPARED, _train_in, 0.1),
    Target(
        "train",
        [train_config(PREPARED)],
        command("train", "{}", "-q", *SMALL, "--set", "output.run={out}", name="t1.toml"),
        0.1,
    ),
    Target(
        "tune",
        [train_config(PREPARED)],
        command(
            *("tune", "{}", "-q", "--trials", "1", "--minutes", "0.001", *SMALL),
            *("--set", "output.run={out}"),
            name="t2.toml",
        ),
        0.05,
    ),
    of_folder("report run", RUN, using("report", "{}", "--out", "{out}/x.html"), 0.5),
    of_folder("quickstart", _quickstart(), _check_quickstart, 1),
    Target("fit", [CSV], command("fit", "{}", "--out", "/dev/null/x", name="fit.csv"), 0.2),
    of_folder("export", RUN, using("export", "{}", "--out", "{out}"), 0.3),
    Target(
        "export figures",
        [scores_file()],
        command("export", RUN, "--out", "{out}", "--figures", "{}", name="figures.json"),
        0.2,
    ),
    of_folder(
        "data wikibio",
        _wikibio_folder(),
        using("data", "get", "wikibio", "--from", "{}", "--to", "{out}"),
        0.1,
    ),
    of_folder("data e2e", _e2e_folder(), using(*GET, "e2e", "--from", "{}"), 0.1),
    *(
        Target(f"generate {kind}", seeds, command("generate", PREPARED, source, "-q", name=name), 0.2)
        for kind, seeds, source, name in (
            ("jsonl", [JSONL], "{}", "g1.jsonl"),
            ("csv", [CSV], "{}", "g2.csv"),
            ("e2e", [E2E], "e2e:{}", "g3.csv"),
            ("parquet", parquet_files(), "{}", "g4.parquet"),
        )
    ),
    Target(
        "approved",
        [b"w0\nw1\n"],
        command("generate", PREPARED, DATA / "corpus" / "dev.jsonl", "-q", "--approved", "{}", name="a.txt"),
        0.2,
    ),
    Target(
        "rules file",
        [RULES_FILE],
        command("verify", DATA / "full.jsonl", "--rules", "{}", name="rules.json"),
        0.5,
    ),
    Target("verify", ROWS, command("verify", "{}", name="w.jsonl"), 0.5),
    Target("verify run", ROWS, command("verify", "{}", "--run", RUN, name="w2.jsonl"), 0.2),
    Target("trace", [b"Mill is old.\nIt is a mill.\n"], command("trace", PREPARED, "{}", name="t.txt"), 0.3),
    Target(
        "trace jsonl",
        [b'{"text": "Mill is old.", "id": "a", "table": {"name": "Mill"}}\n'],
        command("trace", PREPARED, "{}", name="t.jsonl"),
        0.3,
    ),
    Target("gate", [b"Mill is old.\nIt is a mill.\n"], command("gate", PREPARED, "{}", name="g.txt"), 0.3),
    Target("add", [JSONL], command("add", RUN, "{}", "--out", "{out}", name="a.jsonl"), 0.3),
    Target("add rows", ROWS, command("add", PREPARED, "{}", name="a2.jsonl"), 0.3),
    Target("withdraw", ROWS, command("withdraw", RUN, "w0", "--texts", "{}", name="w3.jsonl"), 0.3),
    Target("withdraw ids", [b"w0\nw1\n"], command("withdraw", RUN, "--ids-from", "{}", name="ids.txt"), 0.3),
    Target("explain", ROWS, command("explain", "{}", name="e.jsonl"), 0.5),
    Target("explain html", ROWS, command("explain", "{}", "--as", "html", name="e2.jsonl"), 0.2),
    Target(
        "evaluate",
        ROWS,
        command(
            "evaluate", "{}", "--references", "{}", "--metrics", "BLEU", "--split", "all", name="f.jsonl"
        ),
        0.5,
    ),
    Target(
        "lexicon check",
        [JSONL],
        command("lexicon", "check", "{}", "--lexicon", "values", "--split", "all", name="h.jsonl"),
        0.5,
    ),
    Target(
        "lexicon file",
        [LEXICON],
        command("lexicon", "check", "bundled", "--lexicon", "{}", "--show", "1", name="h.toml"),
        0.1,
    ),
    Target("lexicon induce", [JSONL], command("lexicon", "induce", "{}", *ALL, name="i.jsonl"), 0.5),
    Target("prepare", [TOML], command("prepare", "{}", "-q", "--out", "/dev/null/x", name="p.toml"), 0.5),
    Target(
        "prepare corpus",
        [JSONL, b"".join(JSONL.splitlines(True) * 3)],
        command(
            *("prepare", DATA / "config.toml", "-q", "--set", "corpus.source={}"),
            *("--set", "corpus.splits=['train']", "--set", "neighbors.k=1"),
            *("--set", "output.prepared={out}"),
            name="pc.jsonl",
        ),
        0.1,
    ),
    *EXPERIMENTS,
)
