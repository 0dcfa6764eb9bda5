"""What a training step returns."""

from __future__ import annotations

from typing import NamedTuple

from torch import Tensor


class PolicyOutput(NamedTuple):
    """Losses with gradients, and what is needed to report them.

    `loss` is `(first_loss + second_loss) / sequences`. Left-to-right policies make one decision per token: it
    counts as the first, and `second_loss` is 0. `skipped` counts actions that no key can express (a word
    outside the generable vocabulary); they are in no loss and not in `actions`. What only the model knows
    stays in tensors, so that a step on a GPU need not wait for them.
    """

    loss: Tensor
    first_loss: Tensor
    second_loss: Tensor
    actions: int
    first_correct: Tensor
    second_actions: int
    second_correct: Tensor
    sequences: int
    canvas_tokens: int
    skipped: int
