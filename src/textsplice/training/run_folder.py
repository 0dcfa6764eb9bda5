"""The folder of a run: complete, so that it can be copied, repeated, and taken up by another person.

config.toml       the exact configuration        config.json, model.safetensors  the best weights
vocab.json        words and numbers              train.jsonl                     the journal
store/            the texts to splice from       checkpoints/last, /best         to go on from
run.json          what made it                   lexicon.toml                    how values are worded
encodings/        of the texts, if `generate --cache-encodings` made them
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import platform
import shutil
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import torch

import textsplice
from textsplice.config import Config, TrainingConfig, load_config, to_toml
from textsplice.errors import StorageError, TrainingError
from textsplice.files import atomic_write_text, storage_error
from textsplice.policy.device import resolve
from textsplice.prepare.folder import Prepared
from textsplice.training.checkpoint import find_checkpoint, read_state
from textsplice.training.precision import multiplies_in_bfloat16

# What a run may go on with: another end, other looks at it, other processes and threads. The last two do
# change updates, in the last bits of sums and in what dropout drops, so a run that changes them says so.
MAY_DIFFER = frozenset(
    {
        "checkpoint_every",
        "device",
        "epochs",
        "log_every",
        "max_minutes",
        "max_steps",
        "patience",
        "processes",
        "tensorboard",
        "threads",
        "validate_every",
    }
)
MADE_BY_TRAINING = (
    "checkpoints",
    "tensorboard",
    "train.jsonl",
    "model.safetensors",
    "config.json",
    "encodings",  # of the weights, by `generate --cache-encodings`
)


@dataclass(frozen=True, slots=True)
class RunFolder:
    """Where the parts of a run are."""

    path: Path

    @property
    def journal(self) -> Path:
        """One line a log point."""
        return self.path / "train.jsonl"

    @property
    def last(self) -> Path:
        """The checkpoint that `--resume` goes on from."""
        return self.path / "checkpoints" / "last"

    @property
    def best(self) -> Path:
        """The checkpoint with the least validation loss."""
        return self.path / "checkpoints" / "best"

    @property
    def tensorboard(self) -> Path:
        """TensorBoard's event files, where they are wanted."""
        return self.path / "tensorboard"

    @property
    def lexicon(self) -> Path:
        """How values are worded, if the corpus was prepared with a lexicon."""
        return self.path / "lexicon.toml"

    @property
    def about(self) -> Path:
        """What made the run; written last, so a folder that has it is complete."""
        return self.path / "run.json"


def open_run(
    config: Config,
    prepared: Prepared,
    *,
    resume: bool,
    fresh: bool,
    command: Sequence[str],
    world: int = 1,
) -> str | None:
    """Makes the run's folder or takes up the one that is there; refuses one of another configuration.

    `world` is how many processes train. If they will compute otherwise than those before them, returns that
    as a sentence for the journal.
    """
    run = RunFolder(Path(config.output.run))
    checkpoint = find_checkpoint(run.last)
    if checkpoint is not None and not (resume or fresh):
        raise TrainingError(
            f"there is a run here already, at step {read_state(checkpoint).step}.",
            where=str(run.path),
            remedy="Go on with --resume, or throw it away with --fresh.",
        )
    computing = _computing(config.training, world)
    change = None
    if resume and run.about.is_file():
        _check_same(run, config, prepared)
        change = _change(_read_about(run).get("computing"), computing)
    try:
        run.path.mkdir(parents=True, exist_ok=True)
        if not resume:
            _remove(run, (run.about.name, *MADE_BY_TRAINING))
        if not run.about.is_file():
            _remove(run, ("store", run.lexicon.name))
            shutil.copytree(prepared.layout.store, run.path / "store")
            if prepared.layout.lexicon.is_file():
                shutil.copy(prepared.layout.lexicon, run.lexicon)
    except OSError as error:
        raise storage_error(error, run.path) from error
    prepared.vocabulary.save(run.path / "vocab.json")
    atomic_write_text(run.path / "config.toml", to_toml(config))
    about = {**_about(config, prepared, command), "computing": computing}
    atomic_write_text(run.about, json.dumps(about, indent=2, ensure_ascii=False) + "\n")
    return change


@contextmanager
def locked(path: Path) -> Generator[None]:
    """Keeps a second training out of the folder; the lock goes with the process, however it ends."""
    try:
        path.mkdir(parents=True, exist_ok=True)
        handle = os.open(path, os.O_RDONLY)
    except OSError as error:
        raise storage_error(error, path) from error
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    except BlockingIOError:
        raise TrainingError(
            "another process is training in this folder.",
            where=str(path),
            remedy="Wait for it, or set output.run to another folder.",
        ) from None
    finally:
        os.close(handle)


def run_id(config: Config, prepared: Prepared) -> str:
    """Twelve hexadecimal digits that differ where settings of training, data or version differ."""
    made_of = {
        "version": textsplice.__version__,
        "prepared": prepared.key,
        "settings": _settings(config),
    }
    return hashlib.sha256(json.dumps(made_of, sort_keys=True).encode()).hexdigest()[:12]


def _remove(run: RunFolder, names: Sequence[str]) -> None:
    for name in names:
        path = run.path / name
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)


def _settings(config: Config) -> dict[str, object]:
    """The settings that an update's result depends on."""
    sections = config.to_dict()
    return {
        f"{section}.{key}": value
        for section in ("policy", "training")
        for key, value in sections[section].items()
        if not (section == "training" and key in MAY_DIFFER)
    }


def is_of(run: RunFolder, prepared: Prepared) -> bool:
    """Whether the run was made from this prepared data."""
    return _read_about(run).get("prepared") == prepared.key


def _check_same(run: RunFolder, config: Config, prepared: Prepared) -> None:
    before, now = _settings(load_config(run.path / "config.toml")), _settings(config)
    differing = [
        f"{key} ({before[key]} in the run, {now[key]} now)" for key in now if before[key] != now[key]
    ]
    if not is_of(run, prepared):
        differing.append("the prepared data")
    if differing:
        raise TrainingError(
            f"the run was made with another configuration: {', '.join(differing)}.",
            where=str(run.path),
            remedy="Use the run's own config.toml, another output.run, or --fresh.",
        )


def _read_about(run: RunFolder) -> dict[str, object]:
    try:
        return cast("dict[str, object]", json.loads(run.about.read_text(encoding="utf-8")))
    except (OSError, ValueError) as error:
        raise StorageError(f"can't be read: {error}.", where=str(run.about)) from error


def _computing(training: TrainingConfig, world: int) -> dict[str, object]:
    """All but the settings and the hardware that the last bits of an update depend on."""
    precision = "bfloat16" if multiplies_in_bfloat16(training) else "float32"
    device = resolve(training.device, where="training.device").type
    return {"device": device, "precision": precision, "processes": world, "threads": training.threads}


def _change(before: object, now: dict[str, object]) -> str | None:
    if not isinstance(before, dict):  # a run of a version that did not say
        return None
    known = cast("dict[str, object]", before)
    changes = [
        f"{name} {value} instead of {known[name]}"
        for name, value in now.items()
        if name in known and known[name] != value
    ]
    if not changes:
        return None
    consequence = "the weights will not be exactly those of a run that never stopped"
    return f"from here on {', '.join(changes)}: {consequence}"


def _about(config: Config, prepared: Prepared, command: Sequence[str]) -> dict[str, object]:
    return {
        "id": run_id(config, prepared),
        "version": textsplice.__version__,
        "command": list(command),
        "prepared": prepared.key,
        "seed": config.training.seed,
        "hardware": {
            "machine": platform.machine(),
            "system": platform.system(),
            "cores": os.cpu_count(),
            "python": platform.python_version(),
            "torch": str(torch.__version__),
        },
    }
