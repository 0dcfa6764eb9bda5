"""The same weights every time: seeds that are a function of the step, and no operation that races."""

from __future__ import annotations

import os
from collections.abc import Generator
from contextlib import contextmanager

import numpy as np
import torch
import torch.utils.deterministic


@contextmanager
def deterministic(threads: int, device: torch.device) -> Generator[None]:
    """Torch with this number of threads and only operations whose result does not depend on timing.

    Devices other than the CPU do not have all operations in this form: there, torch warns of them.
    """
    before = torch.get_num_threads(), torch.are_deterministic_algorithms_enabled()
    filled = torch.utils.deterministic.fill_uninitialized_memory  # pyright: ignore[reportAttributeAccessIssue]
    torch.set_num_threads(threads)
    if device.type == "cuda":
        os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")  # or cuBLAS is not deterministic
    torch.use_deterministic_algorithms(True, warn_only=device.type != "cpu")
    # Filling new memory would only matter to code that reads what it has not written.
    torch.utils.deterministic.fill_uninitialized_memory = False  # pyright: ignore[reportAttributeAccessIssue]
    try:
        with torch.random.fork_rng(devices=[]):
            yield
    finally:
        torch.set_num_threads(before[0])
        torch.use_deterministic_algorithms(before[1])
        torch.utils.deterministic.fill_uninitialized_memory = filled  # pyright: ignore[reportAttributeAccessIssue]


def seed_step(seed: int, step: int, rank: int) -> None:
    """Seeds dropout as a function of the step alone, so that no generator's state must be saved."""
    mixed = np.random.SeedSequence([seed, step, rank]).generate_state(1, np.uint64)
    torch.manual_seed(int(mixed[0] >> np.uint64(1)))
