"""Training: the loop, its order of data, checkpoints that resume to the same weights, tuning."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from textsplice.training.loop import TrainingResult
    from textsplice.training.start import train
    from textsplice.training.tuning import TuningResult, tune

__all__ = ["TrainingResult", "TuningResult", "train", "tune"]

# Torch takes seconds to import: only when a name is really used.
_MODULES = {
    "TrainingResult": "loop",
    "train": "start",
    "TuningResult": "tuning",
    "tune": "tuning",
}


def __getattr__(name: str) -> object:
    if name in _MODULES:
        return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
