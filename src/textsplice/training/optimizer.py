"""AdamW over gradients that are one contiguous tensor."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from textsplice.config import TrainingConfig


def new_optimizer(policy: nn.Module, training: TrainingConfig) -> torch.optim.AdamW:
    """AdamW with the configuration's constants; the learning rate is set before every step."""
    first, second = training.betas
    return torch.optim.AdamW(
        policy.parameters(),
        lr=training.learning_rate,
        betas=(first, second),
        eps=training.epsilon,
        weight_decay=training.weight_decay,
        fused=True,
    )


def flat_gradients(policy: nn.Module) -> Tensor:
    """All gradients as one tensor; the gradient of each parameter is a view of it.

    The all-reduce, clipping and clearing are then one operation each, and a parameter that a batch does not
    use has a gradient of 0 rather than none, in whichever process.
    """
    parameters = list(policy.parameters())
    flat = torch.zeros(sum(p.numel() for p in parameters), device=parameters[0].device)
    offset = 0
    for parameter in parameters:
        parameter.grad = flat[offset : offset + parameter.numel()].view_as(parameter)
        offset += parameter.numel()
    return flat


def clip_(gradients: Tensor, limit: float) -> float:
    """Clips the gradient's norm to `limit` (0: no limit) and returns the norm before."""
    norm = float(torch.linalg.vector_norm(gradients))
    if limit and math.isfinite(norm) and norm > limit:
        gradients.mul_(limit / norm)
    return norm
