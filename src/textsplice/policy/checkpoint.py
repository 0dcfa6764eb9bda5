"""New policies, and policies read from a folder, with all checks that needs."""

from __future__ import annotations

import torch
from torch import nn

from textsplice.errors import StorageError
from textsplice.policy.kind import policy_kind
from textsplice.policy.policy import Policy
from textsplice.policy.shape import PolicyShape
from textsplice.runs.export import ExportedRun
from textsplice.runs.run import Run


def new_policy(shape: PolicyShape, seed: int) -> Policy:
    """A policy of this shape on the CPU, with random weights that depend on the seed alone."""
    shape.check()
    model: type[Policy] = policy_kind(shape.config.kind).load()
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        policy = model(shape)
        _draw_weights(policy, shape.init_std)
    return policy


def save_policy(policy: Policy, run: Run) -> None:
    """Writes a policy into the folder of its run."""
    weights = {name: tensor.cpu().contiguous() for name, tensor in policy.state_dict().items()}
    run.write_policy(policy.shape.to_json(), weights)


def load_policy(run: Run | ExportedRun) -> Policy:
    """Reads the policy of a run or export, onto the CPU; `StorageError` if it does not hold a sound one."""
    policy = new_policy(PolicyShape.from_json(*run.read_shape()), seed=0)
    weights, where = run.read_weights()
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
