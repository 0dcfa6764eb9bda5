"""The rules of the house: who may import whom, and who may know a file name inside our folders."""

from __future__ import annotations

import ast
import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tools"))

from import_graph import (  # noqa: E402
    BASE,
    OPEN,
    ROOMS,
    against_the_order,
    cycles,
    import_graph,
    longest_files,
    longest_functions,
    modules,
    room_of,
)

PACKAGE = ROOT / "src" / "textsplice"
# Names of files and folders that only `runs/` may write.
OURS = re.compile(
    r"[\w./-]*(run\.json|manifest\.json|model\.safetensors|optimizer\.safetensors|state\.json|journal\.jsonl"
    r"|train\.jsonl|vocab\.json|words\.json|lexicon\.toml|checkpoints|encodings\.json|textsplice\.json"
    r"|export\.json|kinds\.json|word-ids\.json)"
)
LONGEST_FUNCTION = 60
LONGEST_FILE = 450


@pytest.fixture(scope="module")
def graph() -> dict[str, set[str]]:
    return import_graph(PACKAGE)


def test_every_module_is_in_a_room_or_is_a_base_module(graph: dict[str, set[str]]) -> None:
    assert {room_of(module) for module in graph} <= {*BASE, *ROOMS, *OPEN}


def test_no_import_goes_against_the_order(graph: dict[str, set[str]]) -> None:
    assert against_the_order(graph) == []


def test_no_modules_import_each_other_in_a_circle(graph: dict[str, set[str]]) -> None:
    assert cycles(graph) == []


def test_the_rules_notice_what_they_are_for(tmp_path: Path) -> None:
    """A lazy import, one for type checking, and a circle are found in a house that has them."""
    for room in ("corpus", "search"):
        (tmp_path / room).mkdir()
        (tmp_path / room / "__init__.py").write_text("")
    (tmp_path / "corpus/a.py").write_text(
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from textsplice.search import b\n"
    )
    (tmp_path / "search/b.py").write_text("def late():\n    import textsplice.corpus.a\n")
    found = import_graph(tmp_path)
    assert against_the_order(found) == ["corpus.a imports search.b"]
    assert cycles(found) == [["corpus.a", "search.b"]]


def test_only_runs_knows_the_names_of_files_in_our_folders() -> None:
    wrong: list[str] = []
    for name, path in modules(PACKAGE).items():
        if room_of(name) == "runs":
            continue
        tree = ast.parse(path.read_text(encoding="utf-8"))
        prose = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
        texts = [node for node in ast.walk(tree) if isinstance(node, ast.Constant) and id(node) not in prose]
        found = [node for node in texts if isinstance(node.value, str) and OURS.fullmatch(node.value)]
        wrong += [f"{name}:{node.lineno} {node.value!r}" for node in found]
    assert wrong == []


def test_functions_and_files_fit_in_the_head() -> None:
    functions = [each for each in longest_functions(PACKAGE, 1000) if each[0] > LONGEST_FUNCTION]
    files = [each for each in longest_files(PACKAGE, 1000) if each[0] > LONGEST_FILE]
    assert (functions, files) == ([], [])


def test_nothing_pickled_is_read_or_written() -> None:
    """Nor is any function called that would: torch.load, pickle, allow_pickle=True."""
    pattern = re.compile(r"\b(import pickle|torch\.load\(|torch\.save\(|allow_pickle=True|joblib)")
    wrong = [name for name, path in modules(PACKAGE).items() if pattern.search(path.read_text("utf-8"))]
    assert wrong == []
