"""Flipped bits and truncations in every file of a run and of a prepared folder: a sentence, never a crash.

`python tests/test_runs_damage.py 500` tries that many of each, with and without hashes, and counts the ends.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import shutil
import sys
import tempfile
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import numpy as np
import pytest
import torch

from saved_runs import save_run
from search_world import beginner, prepared, tables
from textsplice.errors import StorageError, TextspliceError
from textsplice.neighbors.features import Features
from textsplice.neighbors.index import Index
from textsplice.runs import Prepared
from textsplice.runs.integrity import CheckedFiles
from textsplice.splicer import Splicer

CASES = 30  # of each kind, in the test suite
# What no text depends on: a record for people.
RECORDS = ("journal.jsonl", "train.jsonl")


def use_run(folder: Path) -> str:
    """The first text of a run."""
    return json.dumps(Splicer.load(folder).generate(tables()[0]).to_dict())


def use_prepared(folder: Path) -> str:
    """Everything that is read from a prepared folder: its splits, a batch for training, a swapped text."""
    opened = Prepared.open(folder)
    said: list[str] = [opened.key]
    policy = _maker().policy
    assert policy is not None
    for name in opened.splits:
        split = opened.split(name)
        rows = np.arange(min(4, len(split)), dtype=np.int64)
        with torch.no_grad():
            said.append(str(float(policy(policy.collate(split, opened.store.tokens, rows)).loss)))
    return json.dumps([*said, Splicer.untrained(folder).generate(tables()[0]).to_dict()])


@cache
def _maker() -> Splicer:
    return beginner()


@cache
def _folders() -> dict[str, Path]:
    """A run and a prepared folder that are whole."""
    home = Path(tempfile.mkdtemp(prefix="textsplice-damage-"))
    maker = _maker()
    save_run(home / "run", maker.config, prepared(), maker.policy)
    shutil.copytree(prepared().folder, home / "prepared")
    return {"run": home / "run", "prepared": home / "prepared"}


USES: dict[str, Callable[[Path], str]] = {"run": use_run, "prepared": use_prepared}


def damage(path: Path, rng: random.Random) -> str:
    """Flips one bit of a file, or cuts it off; says what was done."""
    content = bytearray(path.read_bytes())
    if not content or rng.random() < 0.2:
        size = rng.randrange(len(content) + 1)
        path.write_bytes(content[:size])
        return f"{path.name} cut off at {size}"
    place, bit = rng.randrange(len(content)), rng.randrange(8)
    content[place] ^= 1 << bit
    path.write_bytes(content)
    return f"{path.name} bit {bit} of byte {place}"


def outcome(use: Callable[[Path], str], folder: Path, expected: str, *, hashes: bool) -> str:
    """What a use of the folder ends with, in a process of its own, since it may crash."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        said = "a traceback"
        try:
            with (
                Path(os.devnull).open("w") as nowhere,
                contextlib.redirect_stderr(nowhere),
                warnings.catch_warnings(),
            ):
                warnings.simplefilter("ignore")
                if not hashes:
                    CheckedFiles.path = lambda self, name: self.folder / name  # pyright: ignore
                said = "the same text" if use(folder) == expected else "another text"
        except TextspliceError:
            said = "a sentence"
        except BaseException as error:
            said = f"a traceback: {type(error).__name__}: {error}"
        os.write(writing, said.encode("utf-8", "replace")[:4000])
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        said = pipe.read().decode("utf-8")
    _, status = os.waitpid(child, 0)
    return said if os.WIFEXITED(status) and said else f"a crash (status {status})"


def trials(what: str, count: int, *, hashes: bool, seed: int) -> Iterator[tuple[str, str]]:
    """What was damaged, and how that ended; every file has its turn."""
    whole, use = _folders()[what], USES[what]
    expected = use(whole)
    rng = random.Random(seed)
    names = sorted(p.relative_to(whole) for p in whole.rglob("*") if p.is_file() and p.name not in RECORDS)
    with tempfile.TemporaryDirectory() as home:
        folder = Path(home) / "damaged"
        shutil.copytree(whole, folder)
        for number in range(count):
            name = names[number % len(names)]
            kept = (whole / name).read_bytes()
            done = damage(folder / name, rng)
            if (folder / name).read_bytes() != kept:
                yield f"{name.parent}/{done}", outcome(use, folder, expected, hashes=hashes)
            (folder / name).write_bytes(kept)


@pytest.mark.parametrize("what", USES)
def test_damage_is_a_sentence_and_never_another_text(what: str) -> None:
    ends = dict(trials(what, CASES, hashes=True, seed=1))
    assert {done: end for done, end in ends.items() if end not in ("a sentence", "the same text")} == {}


@pytest.mark.parametrize("what", USES)
def test_damage_in_a_folder_without_hashes_never_crashes(what: str) -> None:
    ends = dict(trials(what, CASES, hashes=False, seed=2))
    allowed = ("a sentence", "the same text", "another text")
    assert {done: end for done, end in ends.items() if end not in allowed} == {}


ARRAYS = {
    "fields.slots": -1,
    "values.slots": 1 << 30,
    "values.offsets": 1 << 40,
    "class_sizes": -5,
    "class_words": 1 << 40,
    "value_sizes": -1,
    "row_offsets": -3,
    "rows": 1 << 30,
    "typicality": float("nan"),
    "group_slots": 1 << 30,
}


@pytest.mark.parametrize("name", ARRAYS)
def test_a_number_that_leads_outside_the_index_is_found_before_the_search(tmp_path: Path, name: str) -> None:
    folder = tmp_path / "index"
    shutil.copytree(prepared().folder / "store" / "index", folder)
    path = folder / f"{name}.npy"
    part = np.load(path)
    if not part.size:
        pytest.skip(f"{name} is empty in this index")
    part.flat[part.size // 2] = ARRAYS[name]
    np.save(path, part)
    with pytest.raises(StorageError) as caught:
        Index.load(folder)
    assert str(caught.value) == f"{path}: this file is truncated or damaged. Prepare the corpus again."


def test_a_slot_that_is_listed_twice_is_found_before_the_search(tmp_path: Path) -> None:
    # 600 tables, of which two share the rare value "x": its slots are a list of two.
    groups = [Features(frozenset({"f"}), frozenset({"x"} if n < 2 else {str(n)})) for n in range(600)]
    Index.build(groups, np.arange(600, dtype=np.int32), np.zeros(600)).save(tmp_path)
    slots, offsets = np.load(tmp_path / "values.slots.npy"), np.load(tmp_path / "values.offsets.npy")
    first = int(offsets[np.flatnonzero(np.diff(offsets) > 1)[0]])
    slots[first + 1] = slots[first]
    np.save(tmp_path / "values.slots.npy", slots)
    with pytest.raises(StorageError, match=r"values\.slots\.npy: this file is truncated or damaged\."):
        Index.load(tmp_path)


def test_a_changed_list_of_hashes_is_found(tmp_path: Path) -> None:
    for what, name in (("run", "run.json"), ("prepared", "manifest.json")):
        folder = tmp_path / what
        shutil.copytree(_folders()[what], folder)
        path = folder / name
        data = json.loads(path.read_text(encoding="utf-8"))
        path.write_text(json.dumps({**data, "digest": "0" * 64}), encoding="utf-8")
        with pytest.raises(StorageError) as caught:
            USES[what](folder)
        assert str(caught.value).startswith(f"{path}: is damaged or was changed. ")


if __name__ == "__main__":
    for kind in USES:
        for checked in (True, False):
            ends = list(trials(kind, int(sys.argv[1]), hashes=checked, seed=3))
            counts = Counter(end.partition(":")[0] for _, end in ends)
            print(f"{kind}, {'with' if checked else 'without'} hashes: {dict(counts)}", flush=True)
            for done, end in ends:
                if end.startswith(("a traceback", "a crash")):
                    print(f"  {done}: {end}"[:300])
