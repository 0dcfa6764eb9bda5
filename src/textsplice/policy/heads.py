"""The scoring heads of the two decisions (the paper's W₀…W₅).

first:   exp((W₁ ŷ)ᵀ (W₀ x))   or (W₂ ν) for a neighbor, (W_v e) for a word; Stop is one more key
second:  exp((W₄ ŷ)ᵀ (W₃ x))   or (W₅ ν) for a neighbor, (W_w e) for a word
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

from textsplice.policy.config import PolicyConfig


class KeyProjections(nn.Module):
    """One matrix each for tokens of the table, of neighbors, and words of the vocabulary."""

    def __init__(self, config: PolicyConfig) -> None:
        super().__init__()
        self.table = nn.Linear(config.d_model, config.d_model, bias=False)
        # S2S+copy has no neighbors, and a weight without a gradient would upset DDP.
        if config.kind != "copy":
            self.neighbor = nn.Linear(config.d_model, config.d_model, bias=False)
        self.word = nn.Linear(config.d_model, config.d_model, bias=False)


class FirstHead(nn.Module):
    """Scores (token left of the gap, first token of the span).

    Stop is scored once a canvas, against the padding token at its left: it has no gap.
    """

    def __init__(self, config: PolicyConfig) -> None:
        super().__init__()
        self.canvas = nn.Linear(config.d_model, config.d_model, bias=False)
        self.keys = KeyProjections(config)
        self.stop = nn.Parameter(torch.zeros(config.d_model))


class SecondHead(nn.Module):
    """Scores (token that follows the span, last token of the span).

    `conditioned` adds to either side what the first decision chose; without it (the paper's form) the
    first decision only limits the choice.
    """

    def __init__(self, config: PolicyConfig) -> None:
        super().__init__()
        width = config.d_model
        self.canvas = nn.Linear(width, width, bias=False)
        self.keys = KeyProjections(config)
        self.conditioned = config.conditioned_second
        if self.conditioned:
            self.expand = nn.Linear(2 * width, width)
            self.contract = nn.Linear(width, 2 * width)

    def condition(self, left: Tensor, begin: Tensor) -> tuple[Tensor, Tensor]:
        """What is added to `[A, d]` queries and keys, from the token left of the gap and the first key."""
        both = self.contract(functional.gelu(self.expand(torch.cat([left, begin], dim=-1))))
        query, key = both.chunk(2, dim=-1)
        return query, key
