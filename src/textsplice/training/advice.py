"""What a training tells a person at its end: whether it was still learning, and what to do next."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from textsplice.runs.journal import read_journal
from textsplice.runs.run import Run

FALLING = 0.01  # of the loss, over the last third of the validations
RISEN = 1.02  # times the least loss


class Validation(NamedTuple):
    """The loss of one validation."""

    step: int
    loss: float


def validations_of(run: Run) -> list[Validation]:
    """The validations that a run's journal has."""
    return [
        Validation(int(line["step"]), float(line["loss"]))
        for line in read_journal(run.journal)
        if line.get("kind") == "validation"
    ]


def advice(validations: Sequence[Validation]) -> str:
    """Whether the loss was still falling, and what follows, in a sentence or two."""
    if len(validations) < 3:
        return (
            "It was validated too seldom to tell how it went: train for more steps, or validate more often "
            "(training.validate_every)."
        )
    best = min(validations, key=lambda each: each.loss)
    last = validations[-1]
    earlier = validations[-1 - max(1, len(validations) // 3)]
    if best is last and earlier.loss - last.loss > FALLING * earlier.loss:
        fell = f"{earlier.loss:.2f} at step {earlier.step:,}, {last.loss:.2f} at step {last.step:,}"
        return (
            f"The validation loss was still falling ({fell}): more steps would help. Raise "
            "training.max_steps and training.total_steps and train anew."
        )
    if last.loss > RISEN * best.loss:
        rose = f"{best.loss:.2f} at step {best.step:,}, {last.loss:.2f} at the end"
        return (
            f"The validation loss has risen again ({rose}). The weights of step {best.step:,} are kept. "
            "More steps would not help; more texts, policy.dropout or a smaller network may."
        )
    return f"The validation loss has settled at about {last.loss:.2f}: more steps would hardly help."
