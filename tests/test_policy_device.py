"""Devices: which one is taken, and that a step of training and a search leave no tensor on the wrong one."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from fake_gpu import GPU, Recorded, fake_gpu, on_gpu
from policy_toys import toy_shape, toy_split
from test_search_beam import problems
from textsplice.config import Config, SearchConfig, TrainingConfig
from textsplice.errors import ConfigError
from textsplice.policy.checkpoint import new_policy
from textsplice.policy.device import resolve, to_device
from textsplice.policy.full.policy import FullPolicy
from textsplice.policy.lrt import plain
from textsplice.policy.lrt.scoring import best_by_tensors
from textsplice.policy.policy import Policy
from textsplice.search.rules import ForbidWords, RequireFields
from textsplice.training.optimizer import clip_, flat_gradients, new_optimizer
from textsplice.training.tally import Tally

KINDS = ["full", "lrt", "copy"]
SEARCH = SearchConfig(beam=2, max_splices=4, max_tokens=8, start_neighbors=2)


def step(policy: Policy, device: torch.device, lost: str | None = None) -> Tally:
    """One update; the part of the batch called `lost` is left behind on the CPU."""
    split, store = toy_split()
    gradients = flat_gradients(policy)
    optimizer = new_optimizer(policy, TrainingConfig())
    batch = policy.collate(split, store, np.arange(9))
    moved = to_device(batch, device)
    if lost:
        moved = replace(moved, **{lost: getattr(batch, lost)})
    output = policy(moved)
    output.loss.backward()
    tally = Tally.of(output)
    clip_(gradients, 1.0)
    optimizer.step()
    return tally


def new(kind: str) -> Policy:
    return new_policy(toy_shape(kind, dropout=0.1, init_std=0.5), seed=2)


@pytest.mark.parametrize("mixed", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_a_step_of_training_stays_on_the_device(kind: str, mixed: bool) -> None:
    policy = new(kind)
    policy.mixed_precision = mixed
    with Recorded() as recorded:
        expected = step(policy.train(), torch.device("cpu"))
    with fake_gpu(recorded):
        policy = on_gpu(new(kind)).train()
        policy.mixed_precision = mixed
        assert policy.device == GPU
        assert step(policy, GPU) == expected
        assert {weight.device for weight in policy.parameters()} == {GPU}


@pytest.mark.parametrize(("kind", "lost"), [("full", "gap_places"), ("full", "splices"), ("lrt", "encoded")])
def test_a_part_of_a_batch_left_on_the_cpu_is_noticed(kind: str, lost: str) -> None:
    with Recorded() as recorded:
        step(new(kind), torch.device("cpu"))
    with fake_gpu(recorded):
        policy = on_gpu(new(kind))
        with pytest.raises(RuntimeError, match=r"two devices|on cpu|expected device"):
            step(policy, GPU, lost)


@pytest.mark.parametrize("ruled", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_a_search_stays_on_the_device(kind: str, ruled: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    # As on the device, so that the same is read.
    monkeypatch.setattr(plain, "best_of", best_by_tensors)
    monkeypatch.setattr(Policy, "compiled", False)
    some = problems(kind)[:4]
    if ruled:
        rules = (RequireFields(["f0"]), ForbidWords(["w9"]))
        some = [replace(problem, rules=rules) for problem in some]
    policy = new(kind).eval()
    with Recorded() as recorded:
        expected = policy.propose(some, SEARCH)
    assert any(outcome.finished or outcome.unfinished for outcome in expected)
    with fake_gpu(recorded):
        found = on_gpu(new(kind)).eval().propose(some, SEARCH)
    assert [outcome.ranked() for outcome in found] == [outcome.ranked() for outcome in expected]


class Forgetful(FullPolicy):
    """A policy whose `here` forgets `.to(self.device)`."""

    def here(self, array: np.ndarray) -> torch.Tensor:
        return torch.from_numpy(array)


def test_a_search_that_forgets_its_device_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Policy, "compiled", False)
    some = problems("full")[:4]
    with Recorded() as recorded:
        Forgetful(toy_shape()).eval().propose(some, SEARCH)
    with fake_gpu(recorded):
        policy = on_gpu(Forgetful(toy_shape())).eval()
        with pytest.raises(RuntimeError, match=r"two devices|on cpu|expected device"):
            policy.propose(some, SEARCH)


@pytest.mark.parametrize("kind", ["lrt", "copy"])
def test_likelihoods_come_back_to_the_cpu(kind: str) -> None:
    split, _ = toy_split()
    case = problems(kind)[0].case
    with fake_gpu():
        found = on_gpu(new(kind)).eval().log_likelihoods(case, split.targets)
    assert found.device.type == "cpu"
    assert found.shape == (len(split.targets),)


def test_encodings_left_on_the_cpu_are_noticed() -> None:
    some = problems("full")[:2]
    policy = new("full").eval()
    encodings = [policy.encode_texts(problem.case.neighbors) for problem in some]
    with fake_gpu():
        policy = on_gpu(new("full")).eval()
        with pytest.raises(RuntimeError, match=r"two devices|on cpu|expected device"):
            policy.propose(some, SEARCH, encodings)


def test_auto_is_the_best_device_there_is() -> None:
    best = "cuda" if torch.cuda.is_available() else "mps" if torch.backends.mps.is_available() else "cpu"
    assert resolve("auto") == torch.device(best)
    assert resolve("cpu") == torch.device("cpu")


@pytest.mark.skipif(torch.cuda.is_available(), reason="this machine has the device")
def test_a_device_that_is_not_there_is_refused() -> None:
    with pytest.raises(ConfigError) as caught:
        resolve("cuda", where="training.device")
    assert str(caught.value) == (
        'training.device is "cuda", but this machine or this build of torch has no such device. '
        'Set training.device to "auto" or "cpu".'
    )


def test_a_device_that_does_not_exist_is_refused() -> None:
    with pytest.raises(
        ConfigError, match=r"search\.device = 'tpu' is not one of 'auto', 'cpu', 'cuda', 'mps'"
    ):
        Config().with_values(["search.device=tpu"])
