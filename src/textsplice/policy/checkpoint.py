"""New policies, and policies read back from a folder, with every check that needs."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import cast

import torch

from textsplice.errors import StorageError
from textsplice.policy.config import FORMAT_VERSION, KINDS, PolicyConfig
from textsplice.policy.copy import CopyPolicy
from textsplice.policy.full import FullPolicy
from textsplice.policy.token import TokenPolicy
from textsplice.runs.run import Run

Policy = FullPolicy | TokenPolicy | CopyPolicy
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


def save_policy(policy: Policy, run: Run) -> None:
    """Writes a policy into its run's folder."""
    weights = {name: tensor.contiguous() for name, tensor in policy.state_dict().items()}
    run.write_policy(policy.config.to_json_string(), weights)


def load_policy(run: Run) -> Policy:
    """Reads the policy of a run; `StorageError` if the folder holds anything but a sound one."""
    config = _read_config(*run.read_shape())
    weights, where = run.read_weights()
    policy = new_policy(config, seed=0)
    expected = {name: tensor.shape for name, tensor in policy.state_dict().items()}
    found = {name: tensor.shape for name, tensor in weights.items()}
    if found != expected:
        wrong = sorted(
            name for name in expected.keys() | found.keys() if expected.get(name) != found.get(name)
        )
        raise StorageError(
            f"holds other weights than its run describes: {', '.join(wrong[:3])}"
            f"{' …' if len(wrong) > 3 else ''}.",
            where=where,
            remedy="Take both files from the same run.",
        )
    policy.load_state_dict(weights)
    policy.eval()
    return policy


def _read_config(text: str, path: str) -> PolicyConfig:
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise StorageError(f"can't be read as a policy's config: {error}.", where=path) from error
    if not isinstance(data, dict):
        raise StorageError("is not a policy's config.", where=path)
    values = cast("dict[str, object]", data)
    version = values.get("format_version")
    if values.get("model_type") != PolicyConfig.model_type:
        raise StorageError(
            f"describes a model of type {values.get('model_type')!r}, not a textsplice policy.",
            where=path,
        )
    if version != FORMAT_VERSION:
        raise StorageError(
            f"is a policy of format {version!r}; this version reads {FORMAT_VERSION}.",
            where=path,
            remedy="Use the version of textsplice that trained it, or train again.",
        )
    if values.get("kind") not in KINDS:
        raise StorageError(f"names an unknown kind of policy, {values.get('kind')!r}.", where=path)
    try:
        return PolicyConfig.from_dict(values)
    except Exception as error:  # transformers raises its own validation errors
        raise StorageError(f"has a value that can't be used: {error}.", where=path) from error
