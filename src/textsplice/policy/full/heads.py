"""The scoring heads of FULL's two decisions (the paper's W₀…W₅).

    first:   exp(ŷᵀ W₁ᵀ W₀ x)   or W₂ ν for a neighbor, W_v e for a word; Stop is one more key
    second:  exp(ŷᵀ W₄ᵀ W₃ x)   or W₅ ν for a neighbor, W_w e for a word

A batch has far more canvas tokens than keys, so both matrices are applied to the keys.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

from textsplice.config import PolicyConfig


class KeyHead(nn.Module):
    """One matrix each for tokens of the table, of neighbors, and words; one for the canvas."""

    def __init__(self, config: PolicyConfig) -> None:
        super().__init__()
        width = config.d_model
        self.canvas = nn.Linear(width, width, bias=False)
        self.table = nn.Linear(width, width, bias=False)
        self.neighbor = nn.Linear(width, width, bias=False)
        self.word = nn.Linear(width, width, bias=False)

    def table_keys(self, states: Tensor) -> Tensor:
        """What canvas states are multiplied with to score tokens of the table, `[…, d]`."""
        return states @ (self.table.weight.T @ self.canvas.weight)

    def neighbor_keys(self, states: Tensor) -> Tensor:
        """The same for tokens of neighbors."""
        return states @ (self.neighbor.weight.T @ self.canvas.weight)

    def word_keys(self, states: Tensor) -> Tensor:
        """The same for words of the vocabulary."""
        return states @ (self.word.weight.T @ self.canvas.weight)


class FirstHead(KeyHead):
    """Scores (token left of the gap, first token of the span).

    Stop has no gap: it is scored once per canvas, against the padding token at the left.
    """

    def __init__(self, config: PolicyConfig) -> None:
        super().__init__(config)
        self.stop = nn.Parameter(torch.zeros(config.d_model))


class SecondHead(KeyHead):
    """Scores (token that follows the span, last token of the span).

    If `conditioned`, what the first decision chose is added on either side; if not (as in the paper), it only
    limits the choice.
    """

    def __init__(self, config: PolicyConfig) -> None:
        super().__init__(config)
        self.conditioned = config.conditioned_second
        if self.conditioned:
            self.expand = nn.Linear(2 * config.d_model, config.d_model)
            self.contract = nn.Linear(config.d_model, 2 * config.d_model)

    def condition(self, left: Tensor, begin: Tensor) -> tuple[Tensor, Tensor]:
        """What is added to canvas states and keys, `[A, d]` each.

        Computed from the state left of the gap and the encoding of the span's first token.
        """
        both = self.contract(functional.gelu(self.expand(torch.cat([left, begin], dim=-1))))
        to_canvas, to_keys = both.chunk(2, dim=-1)
        return to_canvas, to_keys
