"""`train`: from a configuration to a run, in this process or in several."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import torch

from textsplice.config import Config, PolicyConfig, TrainingConfig, load_config
from textsplice.errors import ConfigError
from textsplice.policy.checkpoint import new_policy
from textsplice.policy.device import resolve
from textsplice.policy.kind import policy_kind
from textsplice.policy.policy import Policy
from textsplice.policy.shape import PolicyShape
from textsplice.runs.prepared import Prepared
from textsplice.runs.run import Run
from textsplice.text.vocabulary import Vocabulary
from textsplice.training.begin import begin_run
from textsplice.training.examples import Examples
from textsplice.training.launch import launch
from textsplice.training.loop import Trainer, TrainingResult
from textsplice.training.processes import is_worker, joined
from textsplice.training.schedule import check_training

MOST_WEIGHTS = 4 * 10**9


def train(
    config: Config | Path | str,
    *,
    resume: bool = False,
    fresh: bool = False,
    quiet: bool = False,
    command: Sequence[str] | None = None,
) -> TrainingResult:
    """Trains a policy on a prepared folder and leaves a run folder that `Splicer` can load.

    `config` may be the path of a TOML file. `resume` continues from the last checkpoint, if any, to the same
    weights as if the run had never stopped; with other processes, threads or precision to nearly the
    same, and the journal says so. `fresh` discards the run in the folder. With `training.processes` above 1
    this process starts and watches the workers, unless `torchrun` started it as one of them.
    """
    config = config if isinstance(config, Config) else load_config(config)
    check_training(config.training)
    policy_kind(config.policy.kind)
    check_policy(config.policy)
    config = replace(config, training=on_device(config.training))
    if resume and fresh:
        raise ConfigError("--resume goes on with a run and --fresh discards it.", remedy="Give one of them.")
    command = sys.argv if command is None else command
    if config.training.processes > 1 and not is_worker():
        return launch(config, resume=resume, fresh=fresh, quiet=quiet, command=command)
    prepared = Prepared.open(config.prepared_folder)
    # What `prepare` found is remembered by the run too.
    found = prepared.config.corpus
    config = replace(
        config,
        corpus=replace(
            config.corpus,
            list_columns=found.list_columns,
            asked=found.asked,
            forms=found.forms,
            placeholders=found.placeholders,
        ),
    )
    check_prepared(config, prepared)
    with joined(config.training.device) as processes, ExitStack() as stack:
        # Made before the folder is touched: settings that can't work must not cost an old run.
        policy = policy_of(config, prepared.vocabulary).to(processes.device)
        Examples.of(prepared, "train", policy, processes).order(config.training)
        run, change = Run(Path(config.run_folder)), None
        if processes.writes:
            stack.enter_context(Run.claimed(run.path))
            run, change = begin_run(
                config, prepared, resume=resume, fresh=fresh, command=command, world=processes.world
            )
        return Trainer(config, prepared, policy, run, processes).run(quiet=quiet, note=change)


def check_policy(policy: PolicyConfig) -> None:
    """`ConfigError` for a shape that no transformer has, or that needs far more memory than machines have."""
    PolicyShape(policy, embedded=0, words=()).check()
    size, layers = policy.d_model, policy.encoder_layers + policy.decoder_layers
    weights = layers * (4 * size * size + 2 * size * policy.ffn) + policy.max_positions * size
    if weights > MOST_WEIGHTS:
        raise ConfigError(
            f"a policy of this shape has about {weights:,} weights; the most is {MOST_WEIGHTS:,}.",
            where="[policy]",
            remedy="Make d_model, ffn, max_positions or the number of layers smaller.",
        )


def on_device(training: TrainingConfig) -> TrainingConfig:
    """The settings with as many processes as the device can serve: one per GPU, any number on CPUs."""
    device = resolve(training.device, where="training.device")
    if device.type == "cpu":
        return training
    most = torch.cuda.device_count() if device.type == "cuda" else 1
    return replace(training, processes=min(training.processes, most))


def policy_of(config: Config, vocabulary: Vocabulary) -> Policy:
    """A new policy of the configured shape; its weights depend on the seed alone."""
    return new_policy(PolicyShape.of(config.policy, vocabulary), config.training.seed)


def _is_place(section: str, key: str, before: object, now: object) -> bool:
    """Whether a setting only says where the corpus or its targets are, and both have them."""
    return section == "corpus" and (key == "source" or (key == "targets" and bool(before) and bool(now)))


def check_prepared(config: Config, prepared: Prepared) -> None:
    """`ConfigError` if the folder was prepared with other settings than the configuration's."""
    before, now = prepared.config.to_dict(), config.to_dict()
    differing = [
        f"{section}.{key} ({before[section][key]} there, {value} now)"
        for section in ("corpus", "text", "neighbors", "vocabulary")
        for key, value in now[section].items()
        if before[section][key] != value and not _is_place(section, key, before[section][key], value)
    ]
    if differing:
        raise ConfigError(
            f"the folder was prepared with another configuration: {', '.join(differing)}.",
            where=str(prepared.folder),
            remedy="Run `textsplice prepare CONFIG` first.",
        )
