"""The precision in which layers multiply during training."""

from __future__ import annotations

import torch

from textsplice.config import TrainingConfig
from textsplice.policy.device import resolve


def multiplies_in_bfloat16(training: TrainingConfig) -> bool:
    """Whether to train in bfloat16: as configured, or if the device multiplies in it natively.

    If it does not, bfloat16 is emulated, which is slower than float32.
    """
    if training.precision == "auto":
        device = resolve(training.device, where="training.device")
        if device.type != "cpu":
            return device.type == "cuda" and torch.cuda.is_bf16_supported()
        capabilities = getattr(torch.cpu, "get_capabilities", dict)  # torch has it since 2.9
        return bool(capabilities().get("avx512_bf16"))
    return training.precision == "bfloat16"
