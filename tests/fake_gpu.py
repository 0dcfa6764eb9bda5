"""A device that is not the CPU, on a machine that has none: tensors without values that know where they are.

Torch's `FakeTensorMode` runs every operation on shapes, types and devices alone, and refuses to mix devices. A
build of torch without CUDA can't even differentiate fake CUDA tensors, so the device here is torch's
`PrivateUse1`, registered from Python under the name "gpu".

What a search reads back from its device decides how it goes on, and fake tensors have nothing to read. So the
same search runs on the CPU first; `Recorded` notes what is read, and `Replayed` answers the fake run with it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from unittest.mock import patch

import torch
from torch import Tensor
from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode
from torch.overrides import TorchFunctionMode
from torch.utils.backend_registration import _DummyBackendModule, _setup_privateuseone_for_python_backend

from textsplice.policy.policy import Policy


class Backend(_DummyBackendModule):
    """The device's module, `torch.gpu`; `torch.autocast` asks it for its types."""

    def get_amp_supported_dtype(self) -> list[torch.dtype]:
        return [torch.bfloat16]


_setup_privateuseone_for_python_backend("gpu", backend_module=Backend())
GPU = torch.device("gpu", 0)
# Autocast has nothing of its own to do on this device; the operations run as they are.
AUTOCAST = torch.library.Library("_", "IMPL", "AutocastPrivateUse1")
AUTOCAST.fallback(torch.library.fallthrough_kernel)
READS = (Tensor.tolist, Tensor.numpy, Tensor.item, Tensor.__float__, Tensor.__int__, Tensor.__bool__)


class Recorded(TorchFunctionMode):
    """Notes everything that the host reads of tensors."""

    def __init__(self) -> None:
        super().__init__()
        self.reads: list[tuple[object, object]] = []

    def __torch_function__(self, func, types, args=(), kwargs=None):
        found = func(*args, **(kwargs or {}))
        if func in READS:
            self.reads.append((func, found.copy() if func is Tensor.numpy else found))
        return found


class Replayed(TorchFunctionMode):
    """Answers what is read of fake tensors with what was recorded, in the same order."""

    def __init__(self, fake: FakeTensorMode, reads: list[tuple[object, object]]) -> None:
        super().__init__()
        self.fake = fake
        self.reads = iter(reads)

    def __torch_function__(self, func, types, args=(), kwargs=None):
        if func in READS:
            expected, found = next(self.reads)
            assert func is expected, (func, expected)
            return found
        if func is Tensor.to:
            here = args[0] if isinstance(args[0], FakeTensor) else self.fake.from_tensor(args[0])
            here.constant = None  # fake tensors of one number keep it, and it could not be moved
            args = (here, *args[1:])
        return func(*args, **(kwargs or {}))


def on_gpu(policy: Policy) -> Policy:
    """The policy with weights on the fake device; torch's own `to` can't move fake parameters."""
    for module in policy.modules():
        for name, weight in module._parameters.items():
            if weight is not None:
                module._parameters[name] = torch.nn.Parameter(torch.empty(weight.shape, device=GPU))
        for name, buffer in module._buffers.items():
            module._buffers[name] = torch.empty(buffer.shape, dtype=buffer.dtype, device=GPU)
    return policy


@contextmanager
def fake_gpu(recorded: Recorded | None = None) -> Iterator[None]:
    """Operations on tensors without values; what the host reads comes from the recording."""
    fake = FakeTensorMode(allow_non_fake_inputs=True)
    # Fake tensors have a `tolist` of their own, which asks for one number after another.
    one_read = patch.object(FakeTensor, "tolist", Tensor.tolist)
    with one_read, fake, Replayed(fake, recorded.reads if recorded else []):
        yield
