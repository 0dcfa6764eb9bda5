"""A run that was stopped goes on to the very weights that one straight through would have."""

from __future__ import annotations

import json
import os
import pickle
import random
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from textsplice.config import Config, to_toml
from textsplice.errors import ConfigError, StorageError, TrainingError
from textsplice.runs import Run
from textsplice.runs.integrity import signed
from textsplice.runs.journal import read_journal
from textsplice.training import TrainingResult, train
from training_corpus import prepare_tiny, tiny_config

TIMES = {"actions_per_second", "tokens_per_second", "elapsed", "eta", "seconds"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return prepare_tiny(tmp_path_factory.mktemp("resuming"))


@pytest.fixture(scope="module")
def straight(folder: Path) -> TrainingResult:
    return train(tiny_config(folder, f"output.run={folder / 'straight'}"), quiet=True)


def config_of(folder: Path, tmp_path: Path, *changes: str) -> Config:
    return tiny_config(folder, f"output.run={tmp_path / 'run'}", *changes)


def tensors(result: TrainingResult) -> dict[str, torch.Tensor]:
    run = Path(result.run)
    found: dict[str, torch.Tensor] = {}
    for file in ("checkpoints/last/model", "checkpoints/last/optimizer", "checkpoints/best/model", "model"):
        loaded = load_file(run / f"{file}.safetensors")
        found |= {f"{file}:{name}": tensor for name, tensor in loaded.items()}
    return found


def journal(result: TrainingResult) -> list[dict[str, object]]:
    rows = read_journal(Path(result.run) / "journal.jsonl")
    return [{key: value for key, value in row.items() if key not in TIMES} for row in rows]


def assert_same_run(left: TrainingResult, right: TrainingResult) -> None:
    first, second = tensors(left), tensors(right)
    assert first.keys() == second.keys()
    assert [name for name in first if not torch.equal(first[name], second[name])] == []
    assert (left.step, left.epoch, left.best_step) == (right.step, right.epoch, right.best_step)
    assert left.best_loss == right.best_loss


def stopped_after(config: Config, steps: int) -> TrainingResult:
    return train(replace(config, training=replace(config.training, max_steps=steps)), resume=True, quiet=True)


@pytest.mark.parametrize("stops", [[1], [3], [4], [8], [2, 5, 6]])
def test_stop_and_resume_gives_bit_equal_weights(
    folder: Path, tmp_path: Path, straight: TrainingResult, stops: list[int]
) -> None:
    config = config_of(folder, tmp_path)
    assert config.policy.dropout > 0
    for steps in stops:
        assert stopped_after(config, steps).step == steps
    assert_same_run(train(config, resume=True, quiet=True), straight)


@pytest.mark.parametrize("kind", ["lrt", "copy"])
def test_left_to_right_policies_resume_too(folder: Path, tmp_path: Path, kind: str) -> None:
    changes = [f"policy.kind={kind}", "training.max_steps=4"]
    straight = train(config_of(folder, tmp_path / "straight", *changes), quiet=True)
    config = config_of(folder, tmp_path / "stopped", *changes)
    stopped_after(config, 2)
    assert_same_run(train(config, resume=True, quiet=True), straight)


def test_bfloat16_resumes_too(folder: Path, tmp_path: Path, straight: TrainingResult) -> None:
    changes = ["training.precision=bfloat16"]
    whole = train(config_of(folder, tmp_path / "straight", *changes), quiet=True)
    config = config_of(folder, tmp_path / "stopped", *changes)
    stopped_after(config, 4)
    assert_same_run(train(config, resume=True, quiet=True), whole)
    exact = tensors(straight)
    assert any(not torch.equal(exact[name], tensor) for name, tensor in tensors(whole).items())


def test_a_resumed_journal_reads_like_one_straight_through(
    folder: Path, tmp_path: Path, straight: TrainingResult
) -> None:
    config = config_of(folder, tmp_path)
    stopped_after(config, 3)  # in the middle of a log interval, at a validation
    assert journal(train(config, resume=True, quiet=True)) == journal(straight)


def test_resuming_where_nothing_is_yet_starts_from_the_beginning(
    folder: Path, tmp_path: Path, straight: TrainingResult
) -> None:
    assert_same_run(train(config_of(folder, tmp_path), resume=True, quiet=True), straight)


def test_resuming_a_finished_run_changes_nothing(folder: Path, straight: TrainingResult) -> None:
    before = {name: tensor.clone() for name, tensor in tensors(straight).items()}
    again = train(tiny_config(folder, f"output.run={straight.run}"), resume=True, quiet=True)
    assert again.step == straight.step
    assert all(torch.equal(before[name], tensor) for name, tensor in tensors(again).items())


def test_a_killed_process_loses_no_more_than_its_last_steps(
    folder: Path, tmp_path: Path, straight: TrainingResult
) -> None:
    config = config_of(folder, tmp_path)
    (tmp_path / "tiny.toml").write_text(to_toml(config), encoding="utf-8")
    program = (
        "import sys; from textsplice.config import load_config; from textsplice.training import train; "
        "train(load_config(sys.argv[1]), quiet=True)"
    )
    process = subprocess.Popen([sys.executable, "-c", program, str(tmp_path / "tiny.toml")])
    run_file = tmp_path / "run/journal.jsonl"
    while process.poll() is None and not run_file.exists():
        time.sleep(0.002)
    time.sleep(random.random() * 0.3)
    process.send_signal(signal.SIGKILL)
    process.wait()
    reached = run_file.read_text(encoding="utf-8").count("\n")
    result = train(config, resume=True, quiet=True)
    assert reached >= 1
    assert_same_run(result, straight)
    assert journal(result) == journal(straight)


def test_a_writer_that_died_between_two_renames_leaves_the_checkpoint_before(
    folder: Path, tmp_path: Path, straight: TrainingResult
) -> None:
    config = config_of(folder, tmp_path)
    stopped_after(config, 4)
    checkpoints = tmp_path / "run/checkpoints"
    (checkpoints / "last").rename(checkpoints / ".last.previous")
    (checkpoints / ".last.partial").mkdir()
    (checkpoints / ".last.partial/model.safetensors").write_bytes(b"half of")
    assert_same_run(train(config, resume=True, quiet=True), straight)
    assert sorted(path.name for path in checkpoints.iterdir()) == ["best", "last"]


def test_a_run_that_is_there_is_not_overwritten_by_accident(folder: Path, tmp_path: Path) -> None:
    config = config_of(folder, tmp_path)
    stopped_after(config, 2)
    with pytest.raises(TrainingError) as caught:
        train(config, quiet=True)
    assert str(caught.value) == (
        f"{tmp_path / 'run'}: there already is a run here, at step 2. "
        "Go on with --resume, or discard it with --fresh."
    )


def test_fresh_throws_the_old_run_away(folder: Path, tmp_path: Path, straight: TrainingResult) -> None:
    stopped_after(config_of(folder, tmp_path, "training.seed=5"), 4)
    Run.open(tmp_path / "run").encodings.write(0, b"of the old weights")
    result = train(config_of(folder, tmp_path), fresh=True, quiet=True)
    assert not (tmp_path / "run/encodings").exists()
    assert_same_run(result, straight)
    assert journal(result) == journal(straight)


def test_resume_and_fresh_contradict_each_other(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        train(config_of(folder, tmp_path), resume=True, fresh=True)
    assert str(caught.value) == "--resume goes on with a run and --fresh discards it. Give one of them."


def test_a_run_of_another_configuration_is_refused_with_the_keys_that_differ(
    folder: Path, tmp_path: Path
) -> None:
    stopped_after(config_of(folder, tmp_path), 2)
    other = config_of(folder, tmp_path, "training.learning_rate=0.5", "policy.ffn=32", "training.threads=2")
    with pytest.raises(TrainingError) as caught:
        train(other, resume=True, quiet=True)
    assert str(caught.value) == (
        f"{tmp_path / 'run'}: the run was made with another configuration: "
        "policy.ffn (16 in the run, 32 now), training.learning_rate (0.003 in the run, 0.5 now). "
        "Use the run's own configuration, another output.run, or --fresh."
    )


def computing(tmp_path: Path) -> object:
    return json.loads((tmp_path / "run/run.json").read_text())["computing"]


def notes(tmp_path: Path) -> list[dict[str, object]]:
    return [row for row in read_journal(tmp_path / "run/journal.jsonl") if row["kind"] == "note"]


def test_a_run_that_goes_on_with_other_threads_or_precision_says_so(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    train(config_of(folder, tmp_path, "training.max_steps=4"), quiet=True)
    assert computing(tmp_path) == {"device": "cpu", "precision": "float32", "processes": 1, "threads": 1}
    # As if that had been on a processor that multiplies in bfloat16: "auto" is resolved where a run goes on.
    about = json.loads((tmp_path / "run/run.json").read_text())
    about["computing"]["precision"] = "bfloat16"
    (tmp_path / "run/run.json").write_text(json.dumps(signed(about)))
    train(config_of(folder, tmp_path, "training.max_steps=6", "training.threads=2"), resume=True)
    said = (
        "from here on precision float32 instead of bfloat16, threads 2 instead of 1: "
        "the weights will not be exactly those of a run that never stopped"
    )
    assert notes(tmp_path) == [{"kind": "note", "step": 4, "message": said}]
    assert said + "\n" in capsys.readouterr().err
    assert computing(tmp_path) == {"device": "cpu", "precision": "float32", "processes": 1, "threads": 2}
    train(config_of(folder, tmp_path, "training.max_steps=8", "training.threads=2"), resume=True, quiet=True)
    assert len(notes(tmp_path)) == 1


@pytest.mark.parametrize("unknown", [None, "computing"])
def test_a_run_that_is_finished_or_of_an_older_version_has_nothing_to_note(
    folder: Path, tmp_path: Path, unknown: str | None
) -> None:
    train(config_of(folder, tmp_path, "training.max_steps=2"), quiet=True)
    about = json.loads((tmp_path / "run/run.json").read_text())
    about.pop(unknown, None)
    (tmp_path / "run/run.json").write_text(json.dumps(signed(about)))
    steps = 2 if unknown is None else 4
    other = config_of(folder, tmp_path, f"training.max_steps={steps}", "training.threads=2")
    assert train(other, resume=True, quiet=True).step == steps
    assert notes(tmp_path) == []


def test_a_run_of_other_data_is_refused(folder: Path, tmp_path: Path) -> None:
    config = config_of(folder, tmp_path)
    stopped_after(config, 2)
    about = json.loads((tmp_path / "run/run.json").read_text())
    (tmp_path / "run/run.json").write_text(json.dumps(signed({**about, "prepared": "something else"})))
    with pytest.raises(TrainingError, match="another configuration: the prepared data"):
        train(config, resume=True, quiet=True)


def test_a_truncated_checkpoint_is_named(folder: Path, tmp_path: Path) -> None:
    config = config_of(folder, tmp_path)
    stopped_after(config, 2)
    path = tmp_path / "run/checkpoints/last/model.safetensors"
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(StorageError) as caught:
        train(config, resume=True, quiet=True)
    assert str(caught.value) == (
        f"{path}: is damaged or was changed: its content is not what textsplice wrote. "
        "Start again with --fresh, or restore a whole checkpoint."
    )


class Bomb:
    """Makes a file when it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[object, ...]:
        return os.mkdir, (str(self.path),)


@pytest.mark.parametrize("write", ["pickle", "torch"])
def test_a_pickle_offered_as_a_checkpoint_is_refused(folder: Path, tmp_path: Path, write: str) -> None:
    config = config_of(folder, tmp_path)
    stopped_after(config, 2)
    path = tmp_path / "run/checkpoints/last/model.safetensors"
    if write == "pickle":
        path.write_bytes(pickle.dumps(Bomb(tmp_path / "exploded")))
    else:
        torch.save({"weights": Bomb(tmp_path / "exploded")}, path)
    with pytest.raises(StorageError) as caught:
        train(config, resume=True, quiet=True)
    assert str(caught.value) == (
        f"{path}: is damaged or was changed: its content is not what textsplice wrote. "
        "Start again with --fresh, or restore a whole checkpoint."
    )
    assert not (tmp_path / "exploded").exists()


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ('{"format": 99}', "is not the state of a training run."),
        ("{", "is not the state of a training run."),
        ("[]", "is not the state of a training run."),
    ],
)
def test_a_state_that_is_none_is_refused(folder: Path, tmp_path: Path, text: str, what: str) -> None:
    config = config_of(folder, tmp_path)
    stopped_after(config, 2)
    path = tmp_path / "run/checkpoints/last/state.json"
    path.write_text(text)
    with pytest.raises(StorageError) as caught:
        train(config, resume=True, quiet=True)
    assert str(caught.value) == f"{path}: {what} Start again with --fresh, or restore a whole checkpoint."


def test_a_checkpoint_of_another_version_is_refused(folder: Path, tmp_path: Path) -> None:
    config = config_of(folder, tmp_path)
    stopped_after(config, 2)
    path = tmp_path / "run/checkpoints/last/state.json"
    state = {**json.loads(path.read_text()), "format": 99}
    del state["digest"]
    path.write_text(json.dumps(state))
    with pytest.raises(StorageError) as caught:
        train(config, resume=True, quiet=True)
    assert str(caught.value) == (
        f"{path}: is a checkpoint of format 99; this version reads 1. "
        "Start again with --fresh, or restore a whole checkpoint."
    )


def test_weights_do_not_depend_on_how_often_one_looks(
    folder: Path, tmp_path: Path, straight: TrainingResult
) -> None:
    config = config_of(
        folder, tmp_path, "training.validate_every=1", "training.checkpoint_every=0", "training.log_every=1"
    )
    mine = load_file(Path(train(config, quiet=True).run) / "checkpoints/last/model.safetensors")
    theirs = load_file(Path(straight.run) / "checkpoints/last/model.safetensors")
    assert all(torch.equal(mine[name], theirs[name]) for name in mine)
