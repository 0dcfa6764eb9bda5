"""One training in two processes."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from textsplice.config import Config, to_toml
from textsplice.errors import DivergedError, TrainingError
from textsplice.runs import Run
from textsplice.runs.journal import read_journal
from textsplice.training import TrainingResult, train
from training_corpus import prepare_tiny, tiny_config

PROGRAM = (
    "import sys; from textsplice.config import load_config; from textsplice.training import train; "
    "print(train(load_config(sys.argv[1]), resume=True, quiet=True).ending)"
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return prepare_tiny(tmp_path_factory.mktemp("processes"))


def config_of(folder: Path, run: Path, *changes: str) -> Config:
    return tiny_config(folder, f"output.run={run}", *changes)


def weights(result: TrainingResult) -> dict[str, torch.Tensor]:
    return load_file(Path(result.run) / "checkpoints/last/model.safetensors")


def test_two_processes_learn_what_one_learns(folder: Path, tmp_path: Path) -> None:
    plain = "policy.dropout=0.0"
    alone = train(config_of(folder, tmp_path / "alone", plain), quiet=True)
    together = train(config_of(folder, tmp_path / "two", plain, "training.processes=2"), quiet=True)
    one, two = weights(alone), weights(together)
    assert all(torch.allclose(one[name], two[name], rtol=1e-3, atol=2e-5) for name in one)
    assert (alone.step, alone.epoch, alone.best_step) == (together.step, together.epoch, together.best_step)
    assert together.best_loss == pytest.approx(alone.best_loss, rel=1e-4)
    rows = [read_journal(Path(result.run) / "journal.jsonl") for result in (alone, together)]
    assert [row["loss"] for row in rows[1]] == pytest.approx([row["loss"] for row in rows[0]], rel=1e-4)


@pytest.mark.slow
def test_two_processes_resume_to_bit_equal_weights(folder: Path, tmp_path: Path) -> None:
    two = "training.processes=2"
    straight = train(config_of(folder, tmp_path / "straight", two), quiet=True)
    train(config_of(folder, tmp_path / "stopped", two, "training.max_steps=5"), quiet=True)
    resumed = train(config_of(folder, tmp_path / "stopped", two), resume=True, quiet=True)
    one, other = weights(straight), weights(resumed)
    assert all(torch.equal(one[name], other[name]) for name in one)
    train(config_of(folder, tmp_path / "stopped", "training.max_steps=10"), resume=True, quiet=True)
    rows = read_journal(tmp_path / "stopped/journal.jsonl")
    assert [(row["step"], row["message"]) for row in rows if row["kind"] == "note"] == [
        (
            9,
            "from here on processes 1 instead of 2: "
            "the weights will not be exactly those of a run that never stopped",
        )
    ]


@pytest.mark.slow
def test_an_error_in_a_worker_is_raised_by_the_launcher(folder: Path, tmp_path: Path) -> None:
    config = config_of(folder, tmp_path / "run", "training.processes=2", "training.max_cost=1")
    with pytest.raises(TrainingError) as caught:
        train(config, quiet=True)
    assert (
        str(caught.value)
        == "split 'train': there are no references of at most max_cost = 1 splices to train on."
    )


@pytest.mark.slow
def test_an_error_keeps_its_kind_on_its_way_from_a_worker(
    folder: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    hopeless = ["training.processes=2", "training.learning_rate=2e9", "training.warmup_steps=0"]
    with pytest.raises(DivergedError, match="the loss is not a number at step 2"):
        train(config_of(folder, tmp_path / "diverging", *hopeless), quiet=True)
    # Of this one only the first worker knows; the others see no more than that it went away.
    with (
        Run.claimed(tmp_path / "busy"),
        pytest.raises(TrainingError, match="another process is training in this folder"),
    ):
        train(config_of(folder, tmp_path / "busy", "training.processes=2"), quiet=True)
    assert "Traceback" not in capfd.readouterr().err


def endless(folder: Path, tmp_path: Path) -> tuple[subprocess.Popen[str], Path]:
    config = config_of(
        folder,
        tmp_path / "run",
        "training.processes=2",
        "training.max_steps=0",
        "training.epochs=0",
        "training.patience=1000000",
        "training.validate_every=1000000",
    )
    (tmp_path / "tiny.toml").write_text(to_toml(config), encoding="utf-8")
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, str(tmp_path / "tiny.toml")], stdout=subprocess.PIPE, text=True
    )
    journal = tmp_path / "run/journal.jsonl"
    while process.poll() is None and not journal.exists():
        time.sleep(0.02)
    return process, tmp_path / "run"


@pytest.mark.slow
def test_a_signal_to_the_launcher_stops_all_and_saves(folder: Path, tmp_path: Path) -> None:
    process, run = endless(folder, tmp_path)
    process.send_signal(signal.SIGINT)
    assert process.communicate(timeout=600)[0] == "interrupted\n"
    assert (run / "checkpoints/last/state.json").is_file()


@pytest.mark.slow
def test_workers_do_not_outlive_a_killed_launcher(folder: Path, tmp_path: Path) -> None:
    process, run = endless(folder, tmp_path)
    process.kill()
    process.wait()
    end = time.monotonic() + 300
    while not _is_free(run) and time.monotonic() < end:
        time.sleep(0.1)
    assert _is_free(run)
    assert (run / "checkpoints/last/state.json").is_file()


def _is_free(run: Path) -> bool:
    try:
        with Run.claimed(run):
            return True
    except TrainingError:
        return False


@pytest.mark.slow
def test_torchrun_starts_the_same_code(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "tiny.toml").write_text(to_toml(config_of(folder, tmp_path / "run")), encoding="utf-8")
    (tmp_path / "program.py").write_text(PROGRAM, encoding="utf-8")
    torchrun = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
    subprocess.run(
        [*torchrun, str(tmp_path / "program.py"), str(tmp_path / "tiny.toml")],
        check=True,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        timeout=600,
    )
    launched = train(config_of(folder, tmp_path / "launched", "training.processes=2"), quiet=True)
    by_torchrun = load_file(tmp_path / "run/checkpoints/last/model.safetensors")
    assert all(torch.equal(by_torchrun[name], tensor) for name, tensor in weights(launched).items())


@pytest.mark.slow
def test_two_nodes_learn_what_two_processes_learn(folder: Path, tmp_path: Path) -> None:
    """The command of docs/paper-size.md; the nodes are processes of this machine."""
    (tmp_path / "tiny.toml").write_text(to_toml(config_of(folder, tmp_path / "run")), encoding="utf-8")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        meeting = f"127.0.0.1:{probe.getsockname()[1]}"
    torchrun = [sys.executable, "-m", "torch.distributed.run", "--nnodes", "2", "--nproc-per-node", "1"]
    torchrun += ["--rdzv-backend", "c10d", "--rdzv-endpoint", meeting]
    command = [*torchrun, "-m", "textsplice", "train", str(tmp_path / "tiny.toml"), "--quiet"]
    nodes = [subprocess.Popen(command, env={**os.environ, "OMP_NUM_THREADS": "1"}) for _ in range(2)]
    assert [node.wait(600) for node in nodes] == [0, 0]
    launched = train(config_of(folder, tmp_path / "launched", "training.processes=2"), quiet=True)
    by_nodes = load_file(tmp_path / "run/checkpoints/last/model.safetensors")
    assert all(torch.equal(by_nodes[name], tensor) for name, tensor in weights(launched).items())
