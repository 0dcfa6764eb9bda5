"""The loop on a tiny policy: what it learns, writes, and how it ends."""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from textsplice.config import Config, load_config
from textsplice.errors import ConfigError, MissingExtraError, TrainingError
from textsplice.policy.checkpoint import load_policy
from textsplice.prepare.build import prepare
from textsplice.runs import Prepared, Run
from textsplice.runs.journal import read_journal
from textsplice.training import train
from textsplice.training.begin import begin_run
from textsplice.training.loop import Trainer, TrainingResult
from textsplice.training.processes import Processes
from textsplice.training.start import policy_of
from training_corpus import prepare_tiny, tiny_config


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return prepare_tiny(tmp_path_factory.mktemp("training"))


def config_of(folder: Path, tmp_path: Path, *changes: str) -> Config:
    return tiny_config(folder, f"output.run={tmp_path / 'run'}", *changes)


def weights(result: TrainingResult, checkpoint: str = "last") -> dict[str, torch.Tensor]:
    path = Path(result.run) / "checkpoints" / checkpoint
    moments = load_file(path / "optimizer.safetensors")
    return {**load_file(path / "model.safetensors"), **moments}


def same(left: dict[str, torch.Tensor], right: dict[str, torch.Tensor]) -> bool:
    return left.keys() == right.keys() and all(torch.equal(left[name], right[name]) for name in left)


def close(left: dict[str, torch.Tensor], right: dict[str, torch.Tensor]) -> bool:
    return all(torch.allclose(left[name], right[name], rtol=1e-3, atol=2e-5) for name in left)


def test_training_lowers_the_loss(folder: Path, tmp_path: Path) -> None:
    config = config_of(folder, tmp_path, "training.max_steps=60", "policy.dropout=0.0")
    result = train(config, quiet=True)
    losses = [row["loss"] for row in read_journal(tmp_path / "run/journal.jsonl") if row["kind"] == "train"]
    assert result.ending == "steps"
    assert result.step == 60
    assert losses[-1] < 0.6 * losses[0]


def test_a_run_folder_is_complete(folder: Path, tmp_path: Path) -> None:
    config = config_of(folder, tmp_path)
    result = train(config, quiet=True, command=["textsplice", "train", "tiny.toml"])
    run = Path(result.run)
    assert load_config(run / "config.toml") == config
    assert (run / "vocab.json").is_file()
    assert (run / "store" / "store.json").is_file()
    about = json.loads((run / "run.json").read_text())
    assert about["command"] == ["textsplice", "train", "tiny.toml"]
    assert about["seed"] == 1
    assert len(about["id"]) == 12
    best = load_file(run / "checkpoints/best/model.safetensors")
    loaded = load_policy(Run.open(run)).state_dict()
    assert same(best, {name: loaded[name] for name in best})


def test_the_journal_says_what_a_reader_wants_to_know(folder: Path, tmp_path: Path) -> None:
    train(config_of(folder, tmp_path), quiet=True)
    rows = read_journal(tmp_path / "run/journal.jsonl")
    assert [(row["kind"], row["step"]) for row in rows] == [
        ("train", 2),
        ("validation", 3),
        ("train", 4),
        ("train", 6),
        ("validation", 6),
        ("train", 8),
        ("validation", 9),
    ]
    assert set(rows[0]) == {
        "kind",
        "step",
        "epoch",
        "loss",
        "first_loss",
        "second_loss",
        "first_accuracy",
        "second_accuracy",
        "learning_rate",
        "gradient_norm",
        "actions_per_second",
        "tokens_per_second",
        "elapsed",
        "eta",
    }
    assert rows[0]["learning_rate"] == pytest.approx(1.5e-3)


def test_the_size_of_micro_batches_does_not_change_what_is_learned(folder: Path, tmp_path: Path) -> None:
    runs = [
        train(
            config_of(
                folder,
                tmp_path / str(micro),
                f"training.micro_sequences={micro}",
                "policy.dropout=0.0",
            ),
            quiet=True,
        )
        for micro in (1, 3, 100)
    ]
    assert close(weights(runs[0]), weights(runs[1]))
    assert close(weights(runs[0]), weights(runs[2]))


def test_training_ends_when_validation_stops_improving(folder: Path, tmp_path: Path) -> None:
    config = config_of(
        folder,
        tmp_path,
        "training.learning_rate=1e-30",
        "training.max_steps=0",
        "training.patience=2",
        "training.validate_every=2",
    )
    result = train(config, quiet=True)
    assert (result.ending, result.step, result.best_step) == ("patience", 6, 2)


def test_epochs_and_minutes_end_a_run(folder: Path, tmp_path: Path) -> None:
    epochs = config_of(folder, tmp_path / "a", "training.epochs=2", "training.max_steps=0")
    result = train(epochs, quiet=True)
    assert (result.ending, result.epoch) == ("epochs", 2)
    minutes = config_of(folder, tmp_path / "b", "training.max_minutes=1e-4", "training.max_steps=0")
    result = train(minutes, quiet=True)
    assert (result.ending, result.step) == ("minutes", 1)
    # Even the shortest run leaves weights that can be used, and a validation of them.
    assert load_policy(Run.open(tmp_path / "b/run")).shape.config.d_model == 16
    assert result.best_step == 1


def test_a_corpus_without_validation_data_keeps_the_last_weights(tmp_path: Path) -> None:
    only_train = 'corpus.splits=["train"]'
    prepare_tiny(tmp_path, only_train)
    result = train(tiny_config(tmp_path, only_train), quiet=True)
    assert (result.step, result.best_loss) == (9, None)
    last = load_file(tmp_path / "run/checkpoints/last/model.safetensors")
    used = load_policy(Run.open(tmp_path / "run")).state_dict()
    assert same(last, {name: used[name] for name in last})


def test_a_loss_that_is_not_a_number_stops_with_the_last_good_checkpoint(
    folder: Path, tmp_path: Path
) -> None:
    config = config_of(
        folder,
        tmp_path,
        "training.learning_rate=2e9",
        "training.warmup_steps=0",
        "training.checkpoint_every=1",
        "training.validate_every=100",
    )
    with pytest.raises(TrainingError) as caught:
        train(config, quiet=True)
    run = tmp_path / "run"
    assert str(caught.value) == (
        f"{run}: the loss is not a number at step 2. "
        f"The last good checkpoint is {run / 'checkpoints/last'} (step 1)."
    )


def trainer_of(config: Config) -> Trainer:
    prepared = Prepared.open(config.output.prepared)
    run, _ = begin_run(config, prepared, resume=False, fresh=True, command=[])
    policy = policy_of(config, prepared.vocabulary)
    return Trainer(config, prepared, policy, run, Processes())


def test_a_batch_that_does_not_fit_into_memory_is_halved(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = config_of(folder, tmp_path / "large", "training.micro_sequences=8")
    trainer = trainer_of(config)

    def small_machine(_policy: object, inputs: tuple[object, ...]) -> None:
        if inputs[0].sequences > 4:
            raise RuntimeError(
                "[enforce fail at alloc_cpu.cpp:117] DefaultCPUAllocator: can't allocate memory: "
                "you tried to allocate 8589934592 bytes. Error code 12 (Cannot allocate memory)"
            )

    trainer.policy.register_forward_pre_hook(small_machine)
    result = trainer.run()
    said = (
        "out of memory at step 1: from here on 4 references at a time instead of 8; "
        "updates are of the same references as before"
    )
    assert said in capsys.readouterr().err
    notes = [row for row in read_journal(tmp_path / "large/run/journal.jsonl") if row["kind"] == "note"]
    assert notes == [{"kind": "note", "step": 0, "message": said}]
    small = train(config_of(folder, tmp_path / "small", "training.micro_sequences=4"), quiet=True)
    assert same(weights(result), weights(small))


def test_memory_that_is_too_small_for_one_reference_is_an_error(folder: Path, tmp_path: Path) -> None:
    trainer = trainer_of(config_of(folder, tmp_path))

    def no_machine(_policy: object, _inputs: tuple[object, ...]) -> None:
        raise MemoryError

    trainer.policy.register_forward_pre_hook(no_machine)
    with pytest.raises(TrainingError) as caught:
        trainer.run(quiet=True)
    assert str(caught.value) == (
        f"{tmp_path / 'run'}: out of memory with one reference at a time. There is no checkpoint yet."
    )


def test_any_other_failure_is_not_taken_for_a_lack_of_memory(folder: Path, tmp_path: Path) -> None:
    trainer = trainer_of(config_of(folder, tmp_path))

    def broken(_policy: object, _inputs: tuple[object, ...]) -> None:
        raise RuntimeError("shapes do not match")

    trainer.policy.register_forward_pre_hook(broken)
    with pytest.raises(RuntimeError, match="shapes do not match"):
        trainer.run(quiet=True)


def test_costly_references_can_be_left_out(folder: Path, tmp_path: Path) -> None:
    costs = Prepared.open(folder / "prepared").split("train").costs
    cheap = int((costs <= costs.min()).sum())
    trainer = trainer_of(config_of(folder, tmp_path, f"training.max_cost={costs.min()}"))
    assert len(trainer.order.rows) == cheap < len(costs)
    with pytest.raises(TrainingError) as caught:
        trainer_of(config_of(folder, tmp_path / "none", "training.max_cost=1"))
    assert (
        str(caught.value)
        == "split 'train': there are no references of at most max_cost = 1 splices to train on."
    )


def test_only_references_that_say_everything_are_learned_and_validated_on(tmp_path: Path) -> None:
    texts = ("{name} has {food} food .", "{name} is a place to eat .", "For {food} food , go to {name} .")
    corpus = tmp_path / "corpus"
    corpus.mkdir()
    for split, names in (("train", ("Cotto", "Zizzi", "Strada")), ("dev", ("Alimentum",))):
        rows = [
            {"table": {"name": n, "food": "Thai"}, "text": t.format(name=n, food="Thai")}
            for n in names
            for t in texts
        ]
        (corpus / f"{split}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    prepare(tiny_config(tmp_path), quiet=True)
    trainer = trainer_of(tiny_config(tmp_path, "training.verbatim=true"))
    assert trainer.order.rows.tolist() == [0, 2, 3, 5, 6, 8]
    assert trainer.validation is not None
    assert trainer.validation.rows.tolist() == [0, 2]


def test_a_folder_prepared_with_other_settings_is_refused(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        train(config_of(folder, tmp_path, "neighbors.k=7"), quiet=True)
    assert str(caught.value) == (
        f"{folder / 'prepared'}: the folder was prepared with another configuration: "
        "neighbors.k (3 there, 7 now). Run `textsplice prepare CONFIG` first."
    )


def test_tensorboard_is_written_if_wanted(folder: Path, tmp_path: Path) -> None:
    pytest.importorskip("tensorboard")
    train(config_of(folder, tmp_path, "training.tensorboard=true"), quiet=True)
    assert list((tmp_path / "run/tensorboard").glob("events.out.tfevents.*"))


def test_tensorboard_that_is_not_installed_is_named(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", None)
    with pytest.raises(MissingExtraError) as caught:
        train(config_of(folder, tmp_path, "training.tensorboard=true"), quiet=True)
    assert str(caught.value) == (
        "training.tensorboard = true needs TensorBoard, which is not installed. "
        'Install it with `pip install "textsplice[tensorboard]"`, or set it to false.'
    )


def test_two_trainings_do_not_share_a_folder(folder: Path, tmp_path: Path) -> None:
    config = config_of(folder, tmp_path)
    with Run.claimed(tmp_path / "run"), pytest.raises(TrainingError) as caught:
        train(config, quiet=True)
    assert str(caught.value) == (
        f"{tmp_path / 'run'}: another process is training in this folder. "
        "Wait until it ends, or set output.run to another folder."
    )


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_finishes_the_step_and_saves(folder: Path, tmp_path: Path, number: signal.Signals) -> None:
    config = config_of(
        folder,
        tmp_path,
        "training.max_steps=5000",
        "training.checkpoint_every=0",
        "training.validate_every=5000",
        "training.epochs=0",
    )
    journal = tmp_path / "run/journal.jsonl"

    def ask_to_stop() -> None:
        while not (journal.exists() and read_journal(journal)):
            time.sleep(0.01)
        os.kill(os.getpid(), number)

    threading.Thread(target=ask_to_stop, daemon=True).start()
    stopped = train(config, quiet=True)
    assert stopped.ending == "interrupted"
    assert 2 <= stopped.step < 5000
    assert load_policy(Run.open(tmp_path / "run")).shape.config.d_model == 16
    end = stopped.step + 3
    longer = replace(config, training=replace(config.training, max_steps=end))
    resumed = train(longer, resume=True, quiet=True)
    assert resumed.step == end
    straight = config_of(
        folder,
        tmp_path / "straight",
        f"training.max_steps={end}",
        "training.validate_every=5000",
        "training.epochs=0",
    )
    assert same(weights(train(straight, quiet=True)), weights(resumed))
