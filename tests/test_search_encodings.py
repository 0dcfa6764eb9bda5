"""Encodings on disk: used where they are what would be computed, and nowhere else."""

from __future__ import annotations

import json
import shutil
import warnings
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file
from typer import Typer
from typer.testing import CliRunner, Result

from saved_runs import forget_hashes, save_run
from search_world import prepared, splicer, tables
from textsplice.cli import generate, verify
from textsplice.errors import ConfigError, StorageError
from textsplice.policy.checkpoint import load_policy, save_policy
from textsplice.runs import Run
from textsplice.search.encodings import Encodings
from textsplice.splicer import Splicer

ROWS = [[3, 1, 4], [1, 5]]


def saved(folder: Path, maker: Splicer) -> Path:
    return save_run(folder, maker.config, prepared(), maker.policy)


@pytest.fixture(scope="module")
def cached(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = saved(tmp_path_factory.mktemp("cached"), splicer("full", 3))
    assert Splicer.load(folder).encodings.save(quiet=True) == folder / "encodings"
    return folder


@pytest.fixture
def run(cached: Path, tmp_path: Path) -> Path:
    """A copy of the run, with its encodings, to be changed."""
    return Path(shutil.copytree(cached, tmp_path / "run"))


def shard_of(run: Path) -> Path:
    (path,) = (run / "encodings").glob("*.safetensors")
    return path


def double(run: Path) -> None:
    """Makes what is on disk differ from what would be computed, which shows where encodings came from."""
    path = shard_of(run)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        key = Splicer.load(run).encodings.key
    save_file({name: 2 * tensor for name, tensor in load_file(path).items()}, path, {"made_from": key})
    relist(run)


def relist(run: Path) -> None:
    """As if the shard had been written as it is now."""
    path = shard_of(run)
    Run.open(run).encodings.write(0, path.read_bytes())


def computed(run: Path) -> list[list[torch.Tensor]]:
    made = Splicer.load(run)
    return Encodings(made.encodings.policy, made.store, None).of(ROWS)


def same(left: list[list[torch.Tensor]], right: list[list[torch.Tensor]]) -> bool:
    pairs = [pair for a, b in zip(left, right, strict=True) for pair in zip(a, b, strict=True)]
    return all(a.shape == b.shape and torch.allclose(a, b, rtol=1e-4, atol=1e-5) for a, b in pairs)


def test_encodings_on_disk_are_read_and_give_the_same_text(run: Path) -> None:
    without = splicer("full", 3)
    before = [g.splices for g in without.generate_many(tables()[:4])]
    assert [g.splices for g in Splicer.load(run).generate_many(tables()[:4])] == before
    wanted = computed(run)
    assert same(Splicer.load(run).encodings.of(ROWS), wanted)
    double(run)
    assert same(Splicer.load(run).encodings.of(ROWS), [[2 * t for t in case] for case in wanted])


def train_on(run: Path) -> None:
    policy = load_policy(Run.open(run))
    with torch.no_grad():
        next(policy.encoder.parameters()).add_(0.1)
    save_policy(policy, Run.open(run))


def other_shape(run: Path) -> None:
    """The same weights read with another number of heads encode otherwise."""
    forget_hashes(run)
    path = run / "config.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "heads": 4}))


@pytest.mark.parametrize("change", [train_on, other_shape])
def test_encodings_of_another_policy_are_never_used(run: Path, change: Callable[[Path], None]) -> None:
    double(run)
    change(run)
    with pytest.warns(
        RuntimeWarning, match=r"was made from other weights or texts\. Make it again with"
    ) as told:
        found = Splicer.load(run).encodings.of(ROWS)
    assert len(told) == 1
    assert same(found, computed(run))
    Splicer.load(run).encodings.save(quiet=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert same(Splicer.load(run).encodings.of(ROWS), found)


def test_weights_that_are_replaced_while_we_encode_do_not_lend_their_name(run: Path) -> None:
    before = Splicer.load(run)
    shutil.rmtree(run / "encodings")
    train_on(run)  # a training goes on in the folder, and `before` holds the weights that were there
    before.encodings.save(quiet=True)
    with pytest.warns(RuntimeWarning, match="was made from other weights or texts"):
        assert same(Splicer.load(run).encodings.of(ROWS), computed(run))


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-100])


def foreign(path: Path) -> None:
    save_file({"weights": torch.zeros(3)}, path)


def without_rows(path: Path) -> None:
    key = Splicer.load(path.parents[1]).encodings.key
    save_file({"0": load_file(path)["0"]}, path, {"made_from": key})


def folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


@pytest.mark.parametrize(
    ("harm", "what"),
    [
        (cut, "is damaged or was changed"),
        (Path.unlink, "is missing"),
        (foreign, "was made from other weights or texts"),
        (without_rows, r"can't be read \("),
        (folder, "is missing"),
    ],
)
def test_a_file_that_can_not_be_used_is_told_of_and_computed(
    run: Path, harm: Callable[[Path], None], what: str
) -> None:
    path = shard_of(run)
    harm(path)
    if path.is_file() and harm is not cut:
        relist(run)
    encodings = Splicer.load(run).encodings
    with pytest.warns(RuntimeWarning, match=what) as told:
        found = [encodings.of([case])[0] for case in ROWS]
    assert [str(each.message).startswith(f"{path}: ") for each in told] == [True]
    assert same(found, computed(run))


def command(*arguments: object) -> Result:
    app = Typer()
    for module in (generate, verify):  # of a single command the name would be left out
        module.register(app)
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


@pytest.fixture
def input_file(tmp_path: Path) -> Path:
    path = tmp_path / "tables.jsonl"
    path.write_text(json.dumps({"id": "w", "table": tables()[0].to_record()}) + "\n", encoding="utf-8")
    return path


def test_generate_keeps_encodings_and_makes_only_what_is_missing(run: Path, input_file: Path) -> None:
    path = shard_of(run)
    whole = load_file(path)
    path.unlink()
    assert command("generate", run, input_file, "--cache-encodings").exit_code == 0
    assert load_file(path).keys() == whole.keys() == {str(row) for row in range(len(prepared().store))}
    assert all(torch.equal(tensor, whole[name]) for name, tensor in load_file(path).items())
    made = path.stat().st_mtime_ns
    assert command("generate", run, input_file, "--cache-encodings").exit_code == 0
    assert path.stat().st_mtime_ns == made


@pytest.mark.parametrize("kind", ["swap", "copy"])
def test_what_encodes_no_neighbors_has_nothing_to_keep(kind: str, input_file: Path, tmp_path: Path) -> None:
    where = prepared().folder
    if kind == "copy":
        (tmp_path / "copy").mkdir()
        where = saved(tmp_path / "copy", splicer("copy", 1))
    error = command("generate", where, input_file, "--cache-encodings").exception
    assert isinstance(error, ConfigError)
    assert str(error) == f"--cache-encodings: {kind} encodes no neighbors. Leave it out."


def test_a_policy_in_memory_has_no_place_for_encodings() -> None:
    with pytest.raises(StorageError) as caught:
        splicer("full", 3).encodings.save()
    assert str(caught.value) == "only a run on disk has a place for encodings."
