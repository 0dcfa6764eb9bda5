"""How exactly the layers multiply while they are trained."""

from __future__ import annotations

import torch

from textsplice.config import TrainingConfig


def multiplies_in_bfloat16(training: TrainingConfig) -> bool:
    """Whether to train in bfloat16: as configured, or where this processor multiplies in it natively.

    Elsewhere it is emulated, which is slower than float32.
    """
    if training.precision == "auto":
        capabilities = getattr(torch.cpu, "get_capabilities", dict)  # torch has it since 2.9
        return bool(capabilities().get("avx512_bf16"))
    return training.precision == "bfloat16"
