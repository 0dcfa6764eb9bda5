"""What a training step returns."""

from __future__ import annotations

from typing import NamedTuple

from torch import Tensor


class PolicyOutput(NamedTuple):
    """Losses with gradients, and what is needed to report them.

    `loss` is `(first_loss + second_loss) / sequences`. Left-to-right policies have one decision a
    token: theirs is the first, and `second_loss` is 0. `skipped` counts actions that no key can
    express (a word outside the generable vocabulary); they are in no loss and not in `actions`.
    """

    loss: Tensor
    first_loss: Tensor
    second_loss: Tensor
    actions: int
    first_correct: int
    second_actions: int
    second_correct: int
    sequences: int
    canvas_tokens: int
    skipped: int
