"""A corpus format from outside the package: one file, and one line that adds it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from textsplice.corpus import Reader, read_corpus
from textsplice.errors import CorpusError
from textsplice.extensions import FORMATS, Registry

PLUGIN = """
from textsplice.corpus import Example, Reader, Table
from textsplice.extensions import FORMATS


class KeyValueReader(Reader):
    def examples(self):
        for number, line in enumerate(self.path.read_text().splitlines(), start=1):
            record, _, text = line.partition(" => ")
            table = Table.of(dict(item.split("=") for item in record.split(";")))
            yield Example(self.id_of(number), table, text or None)


FORMATS.add(".kv", KeyValueReader)
FORMATS.add("kv", KeyValueReader)
"""


@pytest.fixture
def world(tmp_path: Path) -> Path:
    (tmp_path / "key_values.py").write_text(PLUGIN)
    lines = [f"name=Route {n};length={n} km => Route {n} is {n} km long.\n" for n in range(40)]
    (tmp_path / "routes.kv").write_text("".join(lines))
    return tmp_path


def textsplice(world: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    paths = os.pathsep.join(filter(None, [str(world), os.environ.get("PYTHONPATH")]))
    return subprocess.run(
        [sys.executable, "-m", "textsplice", *arguments],
        env=os.environ | {"PYTHONPATH": paths, "TEXTSPLICE_PLUGINS": "key_values"},
        cwd=world,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("source", ["routes.kv", "kv:routes.kv"])
def test_a_format_from_outside_is_prepared(world: Path, source: str):
    (world / "config.toml").write_text(f'[corpus]\nsource = "{source}"\n')
    result = textsplice(world, "prepare", "config.toml", "--out", "prepared")
    assert result.returncode == 0, result.stderr
    assert (world / "prepared" / "manifest.json").is_file()


def test_errors_list_a_format_from_outside(world: Path):
    (world / "a.txt").write_text("x")
    unknown = textsplice(world, "lexicon", "induce", "a.txt")
    assert unknown.returncode == 2
    assert unknown.stderr.rstrip().endswith(
        "Its name must end in one of .jsonl, .jsonl.gz, .csv, .csv.gz, .tsv, .tsv.gz, .xlsx, .parquet, .kv."
    )
    prefix = textsplice(world, "lexicon", "induce", "kw:a.txt")
    assert prefix.stderr == (
        "error [corpus]: kw:a.txt: unknown kind of corpus 'kw'."
        " Write e2e:PATH, wikibio:PATH, webnlg:PATH, hf:NAME, 'bundled', kv:PATH or a path.\n"
    )
    folder = textsplice(world, "lexicon", "induce", "kv:.")
    assert folder.stderr == "error [corpus]: kv:.: . is a folder. Name a file after 'kv:'.\n"


def test_a_folder_may_hold_files_of_a_format_from_outside(world: Path):
    (world / "corpus").mkdir()
    (world / "routes.kv").rename(world / "corpus" / "train.kv")
    result = textsplice(world, "lexicon", "induce", "corpus")
    assert result.returncode == 0, result.stderr
    assert "[length]" in result.stdout


def test_every_built_in_format_is_a_reader():
    assert all(issubclass(FORMATS[name], Reader) for name in FORMATS)  # pyright: ignore[reportArgumentType]


def test_the_longest_ending_wins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    short, long = FORMATS[".csv"], FORMATS[".jsonl"]
    registry = Registry("corpus format", {})
    registry.add(".list", short)
    registry.add(".rows.list", long)
    monkeypatch.setattr("textsplice.corpus.source.FORMATS", registry)
    (tmp_path / "a.rows.list").write_text('{"table": {"a": "b"}}\n')
    assert len(read_corpus(tmp_path / "a.rows.list")) == 1
    with pytest.raises(CorpusError, match=r"must end in one of \.list, \.rows\.list\.$"):
        read_corpus(Path(__file__))
