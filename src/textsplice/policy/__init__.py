"""Policies: which splice comes next. `FullPolicy`, `TokenPolicy` (LRT), `CopyPolicy` (S2S+copy)."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from textsplice.policy.batches import Batch, TrainingSplit, collate
    from textsplice.policy.cases import Case, Keys
    from textsplice.policy.checkpoint import Policy, load_policy, new_policy, save_policy
    from textsplice.policy.config import KINDS, Kind, PolicyConfig
    from textsplice.policy.copy import CopyPolicy
    from textsplice.policy.full import FullPolicy
    from textsplice.policy.full_scores import Canvases, CaseStates, FirstScores
    from textsplice.policy.output import PolicyOutput
    from textsplice.policy.token import Cache, TokenPolicy, TokenStates

__all__ = [
    "KINDS",
    "Batch",
    "Cache",
    "Canvases",
    "Case",
    "CaseStates",
    "CopyPolicy",
    "FirstScores",
    "FullPolicy",
    "Keys",
    "Kind",
    "Policy",
    "PolicyConfig",
    "PolicyOutput",
    "TokenPolicy",
    "TokenStates",
    "TrainingSplit",
    "collate",
    "load_policy",
    "new_policy",
    "save_policy",
]

# Torch and transformers take seconds to import: only when a name is really used.
_MODULES = {
    "batches": ("Batch", "TrainingSplit", "collate"),
    "cases": ("Case", "Keys"),
    "checkpoint": ("Policy", "load_policy", "new_policy", "save_policy"),
    "config": ("KINDS", "Kind", "PolicyConfig"),
    "copy": ("CopyPolicy",),
    "full": ("FullPolicy",),
    "full_scores": ("Canvases", "CaseStates", "FirstScores"),
    "output": ("PolicyOutput",),
    "token": ("Cache", "TokenPolicy", "TokenStates"),
}


def __getattr__(name: str) -> object:
    for module, names in _MODULES.items():
        if name in names:
            return getattr(import_module(f"{__name__}.{module}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
