"""One training in several processes: the same code under our own launcher and under `torchrun`.

Each process works on its share of each update. An all-reduce (gloo on CPUs, NCCL on GPUs) adds up the
gradients before the step, so all processes have the same weights at any time, and only the first one writes
files.
"""

from __future__ import annotations

import os
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass

import torch
import torch.distributed as dist
from torch import Tensor

from textsplice.config import Device
from textsplice.policy.device import resolve

CPU = torch.device("cpu")


@dataclass(frozen=True, slots=True)
class Processes:
    """Which of how many processes this one is."""

    rank: int = 0
    world: int = 1
    device: torch.device = CPU

    @property
    def writes(self) -> bool:
        """Whether this process writes files and reports progress: the first one."""
        return self.rank == 0

    def all_reduce(self, tensor: Tensor) -> None:
        """Replaces the tensor by its sum over all processes."""
        if self.world > 1:
            dist.all_reduce(tensor)

    def broadcast(self, tensor: Tensor) -> None:
        """Replaces the tensor by the first process's."""
        if self.world > 1:
            dist.broadcast(tensor, src=0)

    def broadcast_text(self, text: str) -> str:
        """The first process's text."""
        if self.world == 1:
            return text
        data = text.encode("utf-8")
        length = torch.tensor([len(data)])
        self.broadcast(length)
        content = torch.zeros(int(length), dtype=torch.uint8)
        if self.writes:
            content.copy_(torch.frombuffer(bytearray(data), dtype=torch.uint8))
        self.broadcast(content)
        return bytes(content.tolist()).decode("utf-8")


def is_worker() -> bool:
    """Whether `torchrun` or our launcher started this process as one of several."""
    return "RANK" in os.environ and "WORLD_SIZE" in os.environ


def is_first() -> bool:
    """Whether this process is the one that reports progress."""
    return os.environ.get("RANK", "0") == "0"


@contextmanager
def joined(device: Device) -> Generator[Processes]:
    """The processes this one belongs to, from the environment that launchers set."""
    own = resolve(device, where="training.device")
    if not is_worker() or int(os.environ["WORLD_SIZE"]) == 1:
        yield Processes(device=own)
        return
    if own.type == "cuda":
        own = torch.device("cuda", int(os.environ.get("LOCAL_RANK", "0")))
        torch.cuda.set_device(own)
    # Some tensors stay on the CPU (sums of losses, the clock), so gloo is needed beside NCCL.
    dist.init_process_group("cpu:gloo,cuda:nccl" if own.type == "cuda" else "gloo")
    try:
        yield Processes(dist.get_rank(), dist.get_world_size(), own)
    finally:
        dist.destroy_process_group()
