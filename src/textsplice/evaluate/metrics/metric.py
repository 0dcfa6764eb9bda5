"""What every metric is: a class that turns outputs and references into statistics and a score.

To add a metric, write a subclass of `Metric` and add one line to `textsplice.extensions.METRICS`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from importlib.util import find_spec
from typing import ClassVar, cast

import numpy as np
from numpy.typing import NDArray

from textsplice.config import unknown_name
from textsplice.errors import MissingExtraError
from textsplice.extensions import METRICS

References = Sequence[Sequence[str]]
Statistics = NDArray[np.float64]

OTHERS = "or choose other metrics, such as BLEU and NIST."


class Metric(ABC):
    """One metric. `outputs` has one text per item, `references` all references of each item.

    `statistics` has one row per item, and `of_sums` turns the sum of rows into a score. A resampled test set
    is a weighted sum of rows, so testing for significance costs one matrix product.
    """

    name: ClassVar[str]
    package: ClassVar[str]  # the distribution whose version the signature names
    tokenization: ClassVar[str]
    case: ClassVar[str]
    is_share: ClassVar[bool] = True  # from 0 to 1, printed as a percentage

    @abstractmethod
    def statistics(self, outputs: Sequence[str], references: References) -> Statistics:
        """One row per item; for a mean over items, use `means`."""

    def of_sums(self, sums: Statistics) -> float:
        """The score of summed rows; by default the mean of rows (score, 1)."""
        return mean_of_sums(sums)

    def measure(self, outputs: Sequence[str], references: References) -> tuple[float, Statistics]:
        """The score of the whole corpus, and the statistics."""
        statistics = self.statistics(outputs, references)
        return self.of_sums(statistics.sum(axis=0)), statistics

    def obstacle(self) -> MissingExtraError | None:
        """What must be installed before this metric can be computed; None if nothing is missing."""
        return None


def metric_named(name: str, where: str = "--metrics") -> Metric:
    """The metric of this name, in any case; `rouge-l` is `ROUGE_L`."""
    found = name.strip()
    if found not in METRICS:
        folded = found.casefold().replace("-", "_")
        found = next((known for known in METRICS if known.casefold().replace("-", "_") == folded), None)
    if found is None:
        raise unknown_name("metric", name, list(METRICS), where)
    return cast("type[Metric]", METRICS[found])()


def missing_package(metric: str, package: str, module: str) -> MissingExtraError | None:
    """The error for a package of the `eval` extra that is not installed."""
    if find_spec(module) is not None:
        return None
    return MissingExtraError(
        f"{metric} needs {package}, which is not installed.",
        remedy=f"Install it with `pip install 'textsplice[eval]'`, {OTHERS}",
    )


def means(scores: Sequence[float]) -> Statistics:
    """Rows (score, 1)."""
    values = np.asarray(scores, dtype=np.float64)
    return np.stack([values, np.ones_like(values)], axis=1)


def mean_of_sums(sums: Statistics) -> float:
    """The mean, from summed rows (score, 1)."""
    return float(sums[0] / sums[1]) if sums[1] else 0.0
