"""Is one system better than another? A paired bootstrap over items (Koehn 2004)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from textsplice.errors import InputError
from textsplice.evaluate.score import Measurement

SAMPLES = 1000
SEED = 12345


class Comparison(NamedTuple):
    """Two systems by one metric: their values, the difference with its 95 % interval, and p.

    The values are those that are resampled. METEOR's corpus score is not a mean over items, so for METEOR
    they are the means of the items' scores.
    """

    metric: str
    first: float
    second: float
    difference: float  # second - first
    low: float
    high: float
    p: float
    samples: int
    seed: int


def compare(
    first: Measurement, second: Measurement, *, samples: int = SAMPLES, seed: int = SEED
) -> Comparison:
    """Resamples items with replacement, the same items for both systems.

    p is the share of samples whose difference is at least as far from the mean difference of all samples as
    the real difference is from zero.
    """
    if first.score.signature != second.score.signature:
        raise InputError(
            f"scores with different signatures can't be compared: {first.score.signature} and"
            f" {second.score.signature}."
        )
    weights = _resampled(len(first.statistics), samples, seed)
    drawn = _scores(second, weights) - _scores(first, weights)
    whole = first.of_sums(first.statistics.sum(axis=0)), second.of_sums(second.statistics.sum(axis=0))
    difference = whole[1] - whole[0]
    extreme = np.abs(drawn - drawn.mean()) >= abs(difference) - 1e-12
    low, high = np.quantile(drawn, (0.025, 0.975)).tolist()
    return Comparison(
        metric=first.score.metric,
        first=whole[0],
        second=whole[1],
        difference=difference,
        low=low,
        high=high,
        p=(int(extreme.sum()) + 1) / (samples + 1),
        samples=samples,
        seed=seed,
    )


def _resampled(items: int, samples: int, seed: int) -> NDArray[np.int64]:
    """How often each item is drawn in each sample."""
    generator = np.random.default_rng(seed)
    return generator.multinomial(items, np.full(items, 1 / items), size=samples)


def _scores(measurement: Measurement, weights: NDArray[np.int64]) -> NDArray[np.float64]:
    sums = weights @ measurement.statistics
    return np.array([measurement.of_sums(row) for row in sums])
