"""New policies, and policies read from a folder, with all checks that needs."""

from __future__ import annotations

from pathlib import Path

import torch
from safetensors.torch import save_file
from torch import nn

from textsplice.errors import StorageError
from textsplice.files import atomic_path, atomic_write_text
from textsplice.policy.kind import policy_kind
from textsplice.policy.policy import Policy
from textsplice.policy.shape import PolicyShape
from textsplice.policy.tensors import read_tensors

SHAPE, WEIGHTS = "config.json", "model.safetensors"


def new_policy(shape: PolicyShape, seed: int) -> Policy:
    """A policy of this shape on the CPU, with random weights that depend on the seed alone."""
    shape.check()
    model: type[Policy] = policy_kind(shape.config.kind).load()
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        policy = model(shape)
        _draw_weights(policy, shape.init_std)
    return policy


def save_policy(policy: Policy, folder: Path) -> None:
    """Writes `config.json` and `model.safetensors`, each completely or not at all."""
    weights = {name: tensor.cpu().contiguous() for name, tensor in policy.state_dict().items()}
    with atomic_path(folder / WEIGHTS) as temporary:
        save_file(weights, temporary, metadata={"format": "pt"})
    atomic_write_text(folder / SHAPE, policy.shape.to_json())


def load_policy(folder: Path) -> Policy:
    """Reads any policy, onto the CPU; `StorageError` if the folder does not hold a sound one."""
    shape = _read_shape(folder / SHAPE)
    weights = read_tensors(folder / WEIGHTS, "Copy it again from its run.")
    policy = new_policy(shape, seed=0)
    expected = {name: tensor.shape for name, tensor in policy.state_dict().items()}
    found = {name: tensor.shape for name, tensor in weights.items()}
    if found != expected:
        wrong = sorted(
            name for name in expected.keys() | found.keys() if expected.get(name) != found.get(name)
        )
        raise StorageError(
            f"holds other weights than {SHAPE} describes: {', '.join(wrong[:3])}"
            f"{' …' if len(wrong) > 3 else ''}.",
            where=str(folder / WEIGHTS),
            remedy="Take both files from the same run.",
        )
    policy.load_state_dict(weights)
    policy.eval()
    return policy


def _read_shape(path: Path) -> PolicyShape:
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError as error:
        raise StorageError("there is no policy here.", where=str(path)) from error
    except (OSError, UnicodeDecodeError) as error:
        raise StorageError(f"can't be read as a policy's shape: {error}.", where=str(path)) from error
    return PolicyShape.from_json(text, str(path))


@torch.no_grad()
def _draw_weights(policy: Policy, spread: float) -> None:
    """Normal weights, biases of 0, norms of 1; single parameters stay as their module made them."""
    # Children before their parents, as `apply` goes: another order would draw other weights.
    for module in _children_first(policy):
        if isinstance(module, nn.Linear):
            nn.init.normal_(module.weight, std=spread)
            if module.bias is not None:  # pyright: ignore[reportUnnecessaryComparison]
                nn.init.zeros_(module.bias)
        elif isinstance(module, nn.Embedding):
            nn.init.normal_(module.weight, std=spread)
        elif isinstance(module, nn.LayerNorm):
            nn.init.ones_(module.weight)
            nn.init.zeros_(module.bias)


def _children_first(module: nn.Module) -> list[nn.Module]:
    return [below for child in module.children() for below in _children_first(child)] + [module]
