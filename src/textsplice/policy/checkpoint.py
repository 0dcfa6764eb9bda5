"""New policies, and policies read back from a folder, with every check that needs."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import cast

import torch
from safetensors.torch import save_file

from textsplice.errors import StorageError
from textsplice.files import atomic_path, atomic_write_text
from textsplice.policy.config import FORMAT_VERSION, KINDS, PolicyConfig
from textsplice.policy.copy import CopyPolicy
from textsplice.policy.full import FullPolicy
from textsplice.policy.tensors import read_tensors
from textsplice.policy.token import TokenPolicy

Policy = FullPolicy | TokenPolicy | CopyPolicy
CONFIG, WEIGHTS = "config.json", "model.safetensors"
_CLASSES: Mapping[str, type[FullPolicy] | type[TokenPolicy] | type[CopyPolicy]] = {
    "full": FullPolicy,
    "token": TokenPolicy,
    "copy": CopyPolicy,
}


def new_policy(config: PolicyConfig, seed: int) -> Policy:
    """A policy of `config.kind` with random weights that depend on the seed alone."""
    config.check()
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return _CLASSES[config.kind](config)


def save_policy(policy: Policy, folder: Path) -> None:
    """Writes `config.json` and `model.safetensors`, each whole or not at all.

    The files are those of `save_pretrained`, and `from_pretrained` reads them.
    """
    weights = {name: tensor.contiguous() for name, tensor in policy.state_dict().items()}
    with atomic_path(folder / WEIGHTS) as temporary:
        save_file(weights, temporary, metadata={"format": "pt"})
    atomic_write_text(folder / CONFIG, policy.config.to_json_string())


def load_policy(folder: Path) -> Policy:
    """Reads a policy of any kind; `StorageError` if the folder holds anything but a sound checkpoint."""
    config = _read_config(folder / CONFIG)
    weights = read_tensors(folder / WEIGHTS, "Copy it again from its run.")
    policy = new_policy(config, seed=0)
    expected = {name: tensor.shape for name, tensor in policy.state_dict().items()}
    found = {name: tensor.shape for name, tensor in weights.items()}
    if found != expected:
        wrong = sorted(
            name for name in expected.keys() | found.keys() if expected.get(name) != found.get(name)
        )
        raise StorageError(
            f"holds other weights than {CONFIG} describes: {', '.join(wrong[:3])}"
            f"{' …' if len(wrong) > 3 else ''}.",
            where=str(folder / WEIGHTS),
            remedy="Take both files from the same run.",
        )
    policy.load_state_dict(weights)
    policy.eval()
    return policy


def _read_config(path: Path) -> PolicyConfig:
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise StorageError("there is no policy here.", where=str(path)) from error
    except (OSError, ValueError) as error:
        raise StorageError(f"can't be read as a policy's config: {error}.", where=str(path)) from error
    if not isinstance(data, dict):
        raise StorageError("is not a policy's config.", where=str(path))
    values = cast("dict[str, object]", data)
    version = values.get("format_version")
    if values.get("model_type") != PolicyConfig.model_type:
        raise StorageError(
            f"describes a model of type {values.get('model_type')!r}, not a textsplice policy.",
            where=str(path),
        )
    if version != FORMAT_VERSION:
        raise StorageError(
            f"is a policy of format {version!r}; this version reads {FORMAT_VERSION}.",
            where=str(path),
            remedy="Use the version of textsplice that trained it, or train again.",
        )
    if values.get("kind") not in KINDS:
        raise StorageError(f"names an unknown kind of policy, {values.get('kind')!r}.", where=str(path))
    try:
        return PolicyConfig.from_dict(values)
    except Exception as error:  # transformers raises its own validation errors
        raise StorageError(f"has a value that can't be used: {error}.", where=str(path)) from error
