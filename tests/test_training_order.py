"""The order of data, the learning rate, and work done ahead of time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from textsplice.config import TrainingConfig
from textsplice.errors import ConfigError
from textsplice.training.feed import prefetch
from textsplice.training.order import FIRST, Order, Place, pack, share
from textsplice.training.schedule import check_training, last_step, learning_rate

table_sizes = st.lists(st.integers(1, 9), min_size=1, max_size=12)


def tables_with(sizes: list[int]) -> np.ndarray:
    return np.repeat(np.arange(len(sizes)), sizes)


@given(table_sizes, st.integers(1, 12), st.integers(0, 3))
def test_an_epoch_holds_every_reference_once(sizes: list[int], target: int, epoch: int) -> None:
    tables = tables_with(sizes)
    order = Order(np.arange(len(tables)), tables, target, seed=1)
    assert sorted(np.concatenate(order.epoch(epoch)).tolist()) == list(range(len(tables)))


@given(table_sizes, st.integers(1, 12))
def test_a_table_that_fits_is_never_cut(sizes: list[int], target: int) -> None:
    tables = tables_with(sizes)
    part_of = {
        int(row): number
        for number, part in enumerate(pack(np.arange(len(tables)), tables, target))
        for row in part
    }
    for table, size in enumerate(sizes):
        if size <= target:
            assert len({part_of[int(row)] for row in np.flatnonzero(tables == table)}) == 1


@given(table_sizes, st.integers(1, 12))
def test_no_part_misses_its_target_by_more_than_half(sizes: list[int], target: int) -> None:
    tables = tables_with(sizes)
    assert all(2 * len(part) <= 3 * target for part in pack(np.arange(len(tables)), tables, target))


def test_parts_end_where_tables_end() -> None:
    tables = tables_with([3, 3, 2, 7, 1])
    parts = pack(np.arange(16), tables, 5)
    assert [part.tolist() for part in parts] == [
        [0, 1, 2, 3, 4, 5],
        [6, 7, 8, 9, 10],
        [11, 12, 13, 14, 15],
    ]


def test_the_order_depends_on_seed_and_epoch_alone() -> None:
    tables = tables_with([2] * 20)

    def epoch(seed: int, number: int) -> list[list[int]]:
        return [part.tolist() for part in Order(np.arange(40), tables, 4, seed).epoch(number)]

    assert epoch(1, 0) == epoch(1, 0)
    assert epoch(1, 0) != epoch(1, 1)
    assert epoch(1, 0) != epoch(2, 0)


@given(st.integers(0, 12))
def test_going_on_from_any_place_gives_what_would_have_come(skipped: int) -> None:
    order = Order(np.arange(13), tables_with([3, 4, 1, 5]), 4, seed=7)
    straight = list(islice(order.updates(FIRST), skipped + 5))
    place = straight[skipped - 1][0] if skipped else FIRST
    taken_up = list(islice(order.updates(place), 5))
    assert [(p, r.tolist()) for p, r in taken_up] == [(p, r.tolist()) for p, r in straight[skipped:]]


def test_the_place_after_the_last_update_is_the_next_epoch() -> None:
    order = Order(np.arange(4), tables_with([2, 2]), 2, seed=1)
    assert [place for place, _ in islice(order.updates(FIRST), 3)] == [
        Place(0, 1),
        Place(1, 0),
        Place(1, 1),
    ]


@given(st.lists(st.integers(1, 30), min_size=1, max_size=40), st.integers(1, 4))
def test_processes_share_all_rows_in_order_and_almost_equally(weights: list[int], world: int) -> None:
    rows, weight = np.arange(len(weights)), np.array(weights)
    shares = [share(rows, weight, rank, world) for rank in range(world)]
    assert np.concatenate(shares).tolist() == rows.tolist()
    for part in shares:
        assert abs(weight[part].sum() - weight.sum() / world) <= max(weights)


@pytest.mark.parametrize(
    ("schedule", "step", "rate"),
    [
        ("inverse-sqrt", 1, 0.01),
        ("inverse-sqrt", 50, 0.5),
        ("inverse-sqrt", 100, 1.0),
        ("inverse-sqrt", 400, 0.5),
        ("cosine", 50, 0.5),
        ("cosine", 101, 1.0),
        ("cosine", 301, 0.5),
        ("cosine", 501, 0.0),
        ("constant", 30, 0.3),
        ("constant", 10_000, 1.0),
    ],
)
def test_the_rate_warms_up_and_then_follows_its_schedule(schedule: str, step: int, rate: float) -> None:
    training = replace(
        TrainingConfig(), schedule=schedule, learning_rate=1.0, warmup_steps=100, total_steps=500
    )
    assert learning_rate(training, step) == pytest.approx(rate, abs=1e-12)


def test_a_cosine_run_ends_when_its_rate_has_fallen_to_nothing() -> None:
    cosine = TrainingConfig(schedule="cosine", total_steps=500)
    assert last_step(cosine) == 500
    assert last_step(replace(cosine, max_steps=40)) == 40
    assert last_step(TrainingConfig()) is None


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        (
            {"batch_sequences": 0},
            "[training]: batch_sequences = 0 is too small. Give 1 or more.",
        ),
        (
            {"betas": (0.9,)},
            "[training]: betas = [0.9] must be two numbers from 0 up to but not 1. "
            "The paper's are [0.9, 0.999].",
        ),
        (
            {"learning_rate": float("nan")},
            "[training]: learning_rate = nan must be above 0. The paper's is 1e-3.",
        ),
        ({"clip": -1.0}, "[training]: clip = -1.0 must not be below 0. 0 switches it off."),
        (
            {"schedule": "cosine"},
            "[training]: the cosine schedule needs total_steps above warmup_steps = 200. "
            "Set training.total_steps to the number of updates the run should take.",
        ),
        (
            {"epochs": 0, "patience": 0},
            "[training]: epochs, max_steps, max_minutes and patience are all 0: training would never end. "
            "Set one of them.",
        ),
    ],
)
def test_settings_that_no_run_can_be_made_with_are_refused(changes: dict[str, object], sentence: str) -> None:
    with pytest.raises(ConfigError) as caught:
        check_training(replace(TrainingConfig(), **changes))
    assert str(caught.value) == sentence


def test_prefetching_keeps_the_order() -> None:
    with prefetch(iter(range(50)), depth=3) as items:
        assert list(items) == list(range(50))


def test_what_goes_wrong_ahead_of_time_is_raised_where_the_item_is_asked_for() -> None:
    def items() -> Iterator[int]:
        yield 1
        raise ValueError("the second one")

    with prefetch(items()) as ready:
        assert next(ready) == 1
        with pytest.raises(ValueError, match="the second one"):
            next(ready)


def test_an_endless_feed_can_be_left() -> None:
    with prefetch(iter(int, 1), depth=1) as zeros:
        assert next(zeros) == 0
