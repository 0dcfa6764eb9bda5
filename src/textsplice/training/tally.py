"""Sums over the actions of some sequences, and the rates computed from them."""

from __future__ import annotations

from dataclasses import astuple, dataclass

import torch
from torch import Tensor

from textsplice.policy.output import PolicyOutput


@dataclass(frozen=True, slots=True)
class Tally:
    """Losses and correct decisions on some sequences; tallies can be added."""

    first_loss: float = 0.0
    second_loss: float = 0.0
    sequences: float = 0.0
    first_decisions: float = 0.0
    second_decisions: float = 0.0
    first_correct: float = 0.0
    second_correct: float = 0.0
    canvas_tokens: float = 0.0

    def __add__(self, other: Tally) -> Tally:
        return Tally(*(a + b for a, b in zip(astuple(self), astuple(other), strict=True)))

    @classmethod
    def of(cls, output: PolicyOutput) -> Tally:
        """What one batch adds; reads all that is on the device at once."""
        found = (output.first_loss, output.second_loss, output.first_correct, output.second_correct)
        first_loss, second_loss, first_correct, second_correct = torch.stack(
            [each.detach().float() for each in found]
        ).tolist()
        return cls(
            first_loss=first_loss,
            second_loss=second_loss,
            sequences=output.sequences,
            first_decisions=output.actions,
            second_decisions=output.second_actions,
            first_correct=first_correct,
            second_correct=second_correct,
            canvas_tokens=output.canvas_tokens,
        )

    @classmethod
    def from_tensor(cls, sums: Tensor) -> Tally:
        """Reads what `tensor` made, for instance after an all-reduce."""
        return cls(*sums.tolist())

    def tensor(self) -> Tensor:
        """The sums as float64."""
        return torch.tensor(astuple(self), dtype=torch.float64)

    @property
    def loss(self) -> float:
        """Negative log-likelihood per sequence, the paper's loss."""
        return (self.first_loss + self.second_loss) / max(self.sequences, 1.0)

    def rates(self) -> dict[str, float]:
        """Loss per sequence; loss and accuracy per decision."""
        first, second = max(self.first_decisions, 1.0), max(self.second_decisions, 1.0)
        return {
            "loss": self.loss,
            "first_loss": self.first_loss / first,
            "second_loss": self.second_loss / second,
            "first_accuracy": self.first_correct / first,
            "second_accuracy": self.second_correct / second,
        }
