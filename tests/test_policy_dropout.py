"""Dropout by random bytes."""

from __future__ import annotations

import pytest
import torch

from textsplice.policy.transformer import Dropout


@pytest.mark.parametrize("p", [0.1, 0.5, 0.999])
def test_as_many_are_dropped_as_said_and_the_mean_stays(p: float) -> None:
    torch.manual_seed(1)
    dropout = Dropout(p)
    states = torch.ones(1001, 333, requires_grad=True)
    kept = dropout(states)
    share = dropout.dropped / 256
    assert share == pytest.approx(p, abs=1 / 256)
    assert float((kept == 0).float().mean()) == pytest.approx(share, abs=0.003)
    assert kept.unique().tolist() == pytest.approx([0.0, 1 / (1 - share)])
    kept.sum().backward()
    assert states.grad is not None
    assert torch.equal(states.grad, kept.detach())


def test_every_place_of_eight_is_dropped_alike() -> None:
    torch.manual_seed(2)
    kept = Dropout(0.25)(torch.ones(20_000, 8))
    assert ((kept == 0).float().mean(dim=0) - 0.25).abs().max() < 0.02


def test_the_same_seed_drops_the_same_and_the_next_draw_drops_others() -> None:
    dropout, states = Dropout(0.3), torch.ones(50, 7)
    torch.manual_seed(3)
    first, second = dropout(states), dropout(states)
    torch.manual_seed(3)
    assert torch.equal(dropout(states), first)
    assert not torch.equal(first, second)


def test_nothing_is_dropped_when_not_training_or_when_nothing_is_asked() -> None:
    states = torch.ones(5, 3)
    assert Dropout(0.5).eval()(states) is states
    assert Dropout(0.0)(states) is states
