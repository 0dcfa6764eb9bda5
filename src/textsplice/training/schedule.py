"""The learning rate of every step, and the settings of training that can't work."""

from __future__ import annotations

import math

from textsplice.config import TrainingConfig
from textsplice.errors import ConfigError


def learning_rate(training: TrainingConfig, step: int) -> float:
    """The rate of update `step` (the first is 1): linear warm-up, then the schedule's decay."""
    warmup = training.warmup_steps
    if step < warmup:
        return training.learning_rate * step / warmup
    if training.schedule == "inverse-sqrt":
        return training.learning_rate * math.sqrt(max(warmup, 1) / step)
    if training.schedule == "cosine":
        done = min(max(step - 1 - warmup, 0) / (training.total_steps - warmup), 1.0)
        return training.learning_rate * 0.5 * (1.0 + math.cos(math.pi * done))
    return training.learning_rate


def last_step(training: TrainingConfig) -> int | None:
    """The last step, if a setting fixes it; None if only data, time or the loss end training."""
    limits = [training.max_steps]
    if training.schedule == "cosine":
        limits.append(training.total_steps)  # the rate is 0 from there on
    return min((limit for limit in limits if limit), default=None)


def check_training(training: TrainingConfig) -> None:
    """Raises `ConfigError` for settings that no run can be made with."""

    def refuse(what: str, remedy: str) -> None:
        raise ConfigError(what, where="[training]", remedy=remedy)

    for name in ("batch_sequences", "micro_sequences", "log_every", "threads", "processes"):
        if getattr(training, name) < 1:
            refuse(f"{name} = {getattr(training, name)} is too small.", "Give 1 or more.")
    if len(training.betas) != 2 or not all(0.0 <= beta < 1.0 for beta in training.betas):
        refuse(
            f"betas = {list(training.betas)} must be two numbers from 0 up to but not 1.",
            "The paper's are [0.9, 0.999].",
        )
    for name in ("learning_rate", "epsilon"):
        if not getattr(training, name) > 0.0:
            refuse(f"{name} = {getattr(training, name)} must be above 0.", "The paper's is 1e-3.")
    for name in ("weight_decay", "clip", "max_minutes"):
        if not getattr(training, name) >= 0.0:
            refuse(f"{name} = {getattr(training, name)} must not be below 0.", "0 switches it off.")
    if training.schedule == "cosine" and training.total_steps <= training.warmup_steps:
        refuse(
            f"the cosine schedule needs total_steps above warmup_steps = {training.warmup_steps}.",
            "Set training.total_steps to the number of updates the run should take.",
        )
    if not (training.epochs or training.max_minutes or training.patience or last_step(training)):
        refuse(
            "epochs, max_steps, max_minutes and patience are all 0: training would never end.",
            "Set one of them.",
        )
