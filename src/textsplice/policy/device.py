"""Where tensors are: the device a setting names, and moving whole structures of tensors to it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields, is_dataclass
from typing import Protocol, TypeVar, cast, runtime_checkable

import torch
from torch import Tensor

from textsplice.config import Device
from textsplice.errors import ConfigError

Structure = TypeVar("Structure")


def resolve(name: Device, *, where: str = "device") -> torch.device:
    """The device of this name; "auto" takes cuda, then mps, then cpu. `ConfigError` if it is not there."""
    present = {
        "cuda": torch.cuda.is_available(),
        "mps": torch.backends.mps.is_available(),
        "cpu": True,
    }
    if name == "auto":
        return torch.device(next(each for each, there in present.items() if there))
    if not present[name]:
        raise ConfigError(
            f'{where} is "{name}", but this machine or this build of torch has no such device.',
            remedy=f'Set {where} to "auto" or "cpu".',
        )
    return torch.device(name)


@runtime_checkable
class _Named(Protocol):
    """A named tuple."""

    def _make(self, iterable: Iterable[object], /) -> object: ...


def to_device(structure: Structure, device: torch.device) -> Structure:
    """The same dataclass, tuple or list with all its tensors on the device."""
    return cast("Structure", _moved(structure, device))


def _moved(value: object, device: torch.device) -> object:
    if isinstance(value, Tensor):
        return value.to(device)
    if isinstance(value, list):
        return [_moved(each, device) for each in cast("list[object]", value)]
    if isinstance(value, tuple):
        items = cast("tuple[object, ...]", value)
        moved = [_moved(each, device) for each in items]
        return items._make(moved) if isinstance(items, _Named) else tuple(moved)
    if is_dataclass(value) and not isinstance(value, type):
        return type(value)(**{each.name: _moved(getattr(value, each.name), device) for each in fields(value)})
    return value
