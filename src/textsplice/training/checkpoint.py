"""What the next update depends on, as it is kept in a checkpoint.

Dropout is seeded for every step (see `determinism`) and the order of the data is a function of the epoch (see
`order`), so no generator's state has to be kept: weights, the optimizer's moments and a few numbers suffice.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import cast

import torch
from torch import Tensor, nn

from textsplice.errors import StorageError
from textsplice.runs.checkpoint import REMEDY, CheckpointFolder
from textsplice.training.order import FIRST, Place
from textsplice.training.processes import Processes
from textsplice.training.tally import Tally

FORMAT = 1


@dataclass(frozen=True, slots=True)
class State:
    """Where a training is."""

    step: int = 0
    place: Place = FIRST
    micro_sequences: int = 0
    best_loss: float | None = None
    best_step: int = 0
    stale_validations: int = 0
    validated_step: int = 0
    elapsed: float = 0.0
    # Since the last line of the journal, so that a resumed run writes the same lines.
    seconds: float = 0.0
    tally: Tally = field(default_factory=Tally)

    def to_dict(self) -> dict[str, object]:
        """Plain data."""
        return {"format": FORMAT, **asdict(self)}

    @classmethod
    def from_dict(cls, data: Mapping[str, object], where: str) -> State:
        """Reads what `to_dict` made."""
        try:
            values = dict(data)
            found = values.pop("format")
            place = Place(*cast("list[int]", values.pop("place")))
            tally = Tally(**cast("dict[str, float]", values.pop("tally")))
            if found == FORMAT:
                return cls(**cast("dict[str, int]", values), place=place, tally=tally)
            what = f"is a checkpoint of format {found}; this version reads {FORMAT}."
        except (ValueError, TypeError, KeyError, AttributeError):
            what = "is not the state of a training run."
        raise StorageError(what, where=where, remedy=REMEDY)


def save_checkpoint(
    folder: CheckpointFolder, policy: nn.Module, optimizer: torch.optim.Optimizer, state: State
) -> None:
    """Writes a checkpoint; whatever happens, this one or the one before it can be loaded."""
    folder.save(_weights(policy), _moments(policy, optimizer), state.to_dict())


def read_state(checkpoint: CheckpointFolder) -> State:
    """Where the training was when the checkpoint was written."""
    return State.from_dict(*checkpoint.read_state())


def load_checkpoint(
    checkpoint: CheckpointFolder, policy: nn.Module, optimizer: torch.optim.Optimizer
) -> State:
    """Loads weights and moments, and returns the state."""
    state = read_state(checkpoint)
    weights, moments = checkpoint.read_tensors()
    for name, parameter in policy.named_parameters():
        first, second = f"{name}.exp_avg", f"{name}.exp_avg_sq"
        tensors = [weights.get(name), moments.get(first), moments.get(second)]
        if any(tensor is None or tensor.shape != parameter.shape for tensor in tensors):
            raise StorageError(
                f"holds no {name} of shape {tuple(parameter.shape)}.", where=str(checkpoint.path)
            )
        with torch.no_grad():
            parameter.copy_(weights[name])
        optimizer.state[parameter] = {
            "step": torch.tensor(float(state.step), device=parameter.device),
            "exp_avg": moments[first].to(parameter.device),
            "exp_avg_sq": moments[second].to(parameter.device),
        }
    return state


def broadcast_checkpoint(
    state: State, policy: nn.Module, optimizer: torch.optim.Optimizer, processes: Processes
) -> State:
    """Gives every process what the first one loaded: machines need not share a disk."""
    if processes.world == 1:
        return state
    text = processes.broadcast_text(json.dumps(state.to_dict()))
    state = State.from_dict(json.loads(text), "the first process")
    for parameter in policy.parameters():
        processes.broadcast(parameter.data)
        if state.step:
            moments = optimizer.state[parameter]
            if not processes.writes:
                moments["step"] = torch.tensor(float(state.step), device=parameter.device)
                moments["exp_avg"] = torch.zeros_like(parameter)
                moments["exp_avg_sq"] = torch.zeros_like(parameter)
            processes.broadcast(moments["exp_avg"])
            processes.broadcast(moments["exp_avg_sq"])
    return state


def _weights(policy: nn.Module) -> dict[str, Tensor]:
    return {name: parameter.detach().cpu() for name, parameter in policy.named_parameters()}


def _moments(policy: nn.Module, optimizer: torch.optim.Optimizer) -> dict[str, Tensor]:
    # A parameter without moments has not been updated yet: they are 0.
    return {
        f"{name}.{moment}": optimizer.state[parameter].get(moment, torch.zeros_like(parameter)).cpu()
        for name, parameter in policy.named_parameters()
        for moment in ("exp_avg", "exp_avg_sq")
    }
