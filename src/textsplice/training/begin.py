"""Whether a training may begin in a folder: a new run, one to go on with, or one to replace."""

from __future__ import annotations

import hashlib
import json
import os
import platform
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import cast

import torch

import textsplice
from textsplice.config import Config, TrainingConfig
from textsplice.errors import TrainingError
from textsplice.policy.device import resolve
from textsplice.runs.prepared import Prepared
from textsplice.runs.run import Run
from textsplice.training.checkpoint import read_state
from textsplice.training.precision import multiplies_in_bfloat16

# What a run may go on with: another end, other reports of it, other processes and threads. The last two do
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


def begin_run(
    config: Config,
    prepared: Prepared,
    *,
    resume: bool,
    fresh: bool,
    command: Sequence[str],
    world: int = 1,
) -> tuple[Run, str | None]:
    """Makes the folder of a new run, or opens the one that is there; refuses one of another configuration.

    `world` is the number of processes. If they will compute otherwise than those before them, also returns
    that as a sentence for the journal. The folder must be claimed.
    """
    folder = Path(config.run_folder)
    run = Run.open(folder) if Run.is_run(folder) else None
    checkpoint = run.last.find() if run else None
    if checkpoint is not None and not (resume or fresh):
        raise TrainingError(
            f"there already is a run here, at step {read_state(checkpoint).step}.",
            where=str(folder),
            remedy="Go on with --resume, or discard it with --fresh.",
        )
    if run is not None and checkpoint is None and run.weights_id is not None and not fresh:
        raise TrainingError(
            "there is a trained policy here, but no checkpoint to continue from.",
            where=str(folder),
            remedy="Restore its checkpoints, set output.run to another folder, or discard it with --fresh.",
        )
    computing = _computing(config.training, world)
    about = {**_about(config, prepared, command), "computing": computing}
    if run is not None and resume and run.is_complete():
        _check_same(run, config, prepared)
        change = _change(run.about.get("computing"), computing)
        run.describe(config, {**about, "id": run.id})  # what it has generated names it by this id
        return run, change
    if run is not None:
        run.require_removable()
        run.remove()
    return Run.create(folder, config, prepared, about), None


def run_id(config: Config, prepared: Prepared) -> str:
    """Twelve hexadecimal digits that differ where settings of training, data or version differ."""
    made_of = {
        "version": textsplice.__version__,
        "prepared": prepared.key,
        "settings": _settings(config),
    }
    return hashlib.sha256(json.dumps(made_of, sort_keys=True).encode()).hexdigest()[:12]


def _settings(config: Config) -> dict[str, object]:
    """The settings that an update's result depends on; later ones only if they are not their defaults."""
    sections = config.stored()
    return {
        f"{section}.{key}": value
        for section in ("policy", "training")
        for key, value in sections[section].items()
        if not (section == "training" and key in MAY_DIFFER)
    }


def _check_same(run: Run, config: Config, prepared: Prepared) -> None:
    before, now = _settings(run.config), _settings(config)
    differing = [
        f"{key} ({before.get(key, 'the default')} in the run, {now.get(key, 'the default')} now)"
        for key in before | now
        if before.get(key) != now.get(key)
    ]
    if not run.is_of(prepared):
        differing.append("the prepared data")
    if differing:
        raise TrainingError(
            f"the run was made with another configuration: {', '.join(differing)}.",
            where=str(run.path),
            remedy="Use the run's own configuration, another output.run, or --fresh.",
        )


def _computing(training: TrainingConfig, world: int) -> dict[str, object]:
    """What the last bits of an update depend on, apart from the settings and the hardware."""
    precision = "bfloat16" if multiplies_in_bfloat16(training) else "float32"
    device = resolve(training.device, where="training.device").type
    return {"device": device, "precision": precision, "processes": world, "threads": training.threads}


def _change(before: object, now: dict[str, object]) -> str | None:
    if not isinstance(before, Mapping):  # recorded since version 0.1
        return None
    known = cast("Mapping[str, object]", before)
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
