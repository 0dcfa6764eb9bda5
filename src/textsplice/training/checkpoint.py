"""Checkpoints: everything that the next update depends on, in a folder that is whole or not there.

Dropout is seeded anew for every step (see `loop`) and the data's order is a function of the epoch (see
`order`), so no generator's state has to be kept: weights, the optimizer's moments and a few numbers are all.
"""

from __future__ import annotations

import json
import os
import shutil
from dataclasses import asdict, dataclass, field
from pathlib import Path

import torch
from safetensors.torch import save
from torch import Tensor, nn

from textsplice.errors import StorageError
from textsplice.files import atomic_write_text, storage_error
from textsplice.policy.tensors import read_tensors
from textsplice.training.order import FIRST, Place
from textsplice.training.processes import Processes
from textsplice.training.tally import Tally

FORMAT = 1
WEIGHTS = "model.safetensors"
MOMENTS = "optimizer.safetensors"
STATE = "state.json"


@dataclass(frozen=True, slots=True)
class State:
    """Where a run is."""

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

    def to_json(self) -> str:
        """The content of `state.json`."""
        return json.dumps({"format": FORMAT, **asdict(self)}, indent=2) + "\n"

    @classmethod
    def from_json(cls, text: str, where: str) -> State:
        """Reads what `to_json` wrote."""
        try:
            data = json.loads(text)
            found = data.pop("format")
            place, tally = Place(*data.pop("place")), data.pop("tally")
            if found == FORMAT:
                return cls(**data, place=place, tally=Tally(**tally))
            what = f"checkpoint format {found}, but this version reads {FORMAT}."
        except (ValueError, TypeError, KeyError, AttributeError):
            what = "not the state of a training run."
        raise StorageError(what, where=where, remedy="Start anew with --fresh.")


def save_checkpoint(folder: Path, policy: nn.Module, optimizer: torch.optim.Optimizer, state: State) -> None:
    """Writes a checkpoint; whatever happens, `folder` or the one before it can be loaded."""
    partial, previous = _beside(folder, "partial"), _beside(folder, "previous")
    try:
        for leftover in (partial, previous) if folder.exists() else (partial,):
            shutil.rmtree(leftover, ignore_errors=True)
        partial.mkdir(parents=True)
        (partial / WEIGHTS).write_bytes(save(_weights(policy)))
        (partial / MOMENTS).write_bytes(save(_moments(policy, optimizer)))
        (partial / STATE).write_text(state.to_json(), encoding="utf-8")
        for file in (WEIGHTS, MOMENTS, STATE):
            with (partial / file).open("rb") as written:
                os.fsync(written.fileno())
        if folder.exists():
            folder.rename(previous)
        partial.rename(folder)
        shutil.rmtree(previous, ignore_errors=True)
    except OSError as error:
        raise storage_error(error, folder) from error


def save_state(checkpoint: Path, state: State) -> None:
    """Notes something that became known after the checkpoint was written."""
    atomic_write_text(checkpoint / STATE, state.to_json())


def find_checkpoint(folder: Path) -> Path | None:
    """`folder`, or the one before it if the writer died between two renames, or None."""
    for candidate in (folder, _beside(folder, "previous")):
        if (candidate / STATE).is_file():
            return candidate
    return None


def read_state(checkpoint: Path) -> State:
    """Where the run was when the checkpoint was written."""
    path = checkpoint / STATE
    return State.from_json(path.read_text(encoding="utf-8"), str(path))


def load_checkpoint(checkpoint: Path, policy: nn.Module, optimizer: torch.optim.Optimizer) -> State:
    """Puts weights and moments in place and returns the state."""
    state = read_state(checkpoint)
    remedy = "Start anew with --fresh, or put a whole checkpoint there."
    weights = read_tensors(checkpoint / WEIGHTS, remedy)
    moments = read_tensors(checkpoint / MOMENTS, remedy)
    for name, parameter in policy.named_parameters():
        first, second = f"{name}.exp_avg", f"{name}.exp_avg_sq"
        tensors = [weights.get(name), moments.get(first), moments.get(second)]
        if any(tensor is None or tensor.shape != parameter.shape for tensor in tensors):
            raise StorageError(f"holds no {name} of shape {tuple(parameter.shape)}.", where=str(checkpoint))
        with torch.no_grad():
            parameter.copy_(weights[name])
        optimizer.state[parameter] = {
            "step": torch.tensor(float(state.step), device=parameter.device),
            "exp_avg": moments[first].to(parameter.device),
            "exp_avg_sq": moments[second].to(parameter.device),
        }
    return state


def hand_out_checkpoint(
    state: State, policy: nn.Module, optimizer: torch.optim.Optimizer, processes: Processes
) -> State:
    """Gives every process what the first one loaded: machines need not share a disk."""
    if processes.world == 1:
        return state
    state = State.from_json(processes.hand_out_text(state.to_json()), "the first process")
    for parameter in policy.parameters():
        processes.hand_out(parameter.data)
        if state.step:
            moments = optimizer.state[parameter]
            if not processes.writes:
                moments["step"] = torch.tensor(float(state.step), device=parameter.device)
                moments["exp_avg"] = torch.zeros_like(parameter)
                moments["exp_avg_sq"] = torch.zeros_like(parameter)
            processes.hand_out(moments["exp_avg"])
            processes.hand_out(moments["exp_avg_sq"])
    return state


def _beside(folder: Path, what: str) -> Path:
    return folder.with_name(f".{folder.name}.{what}")


def _weights(policy: nn.Module) -> dict[str, Tensor]:
    return {name: parameter.detach() for name, parameter in policy.named_parameters()}


def _moments(policy: nn.Module, optimizer: torch.optim.Optimizer) -> dict[str, Tensor]:
    # A parameter without moments has not been updated yet: they are 0.
    return {
        f"{name}.{moment}": optimizer.state[parameter].get(moment, torch.zeros_like(parameter))
        for name, parameter in policy.named_parameters()
        for moment in ("exp_avg", "exp_avg_sq")
    }
