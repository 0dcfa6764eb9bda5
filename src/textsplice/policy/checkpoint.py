"""New policies, and policies read back from a folder, with every check that needs."""

from __future__ import annotations

from pathlib import Path

from textsplice.policy.config import PolicyConfig
from textsplice.policy.copy import CopyPolicy
from textsplice.policy.full import FullPolicy
from textsplice.policy.token import TokenPolicy

Policy = FullPolicy | TokenPolicy | CopyPolicy


def new_policy(config: PolicyConfig, seed: int) -> Policy:
    """A policy of `config.kind` with random weights that depend on the seed alone."""
    raise NotImplementedError


def save_policy(policy: Policy, folder: Path) -> None:
    """Writes `config.json` and `model.safetensors` (the Hugging Face way), each whole or not at all."""
    raise NotImplementedError


def load_policy(folder: Path) -> Policy:
    """Reads a policy of any kind; `StorageError` if the folder holds anything but a sound checkpoint."""
    raise NotImplementedError
