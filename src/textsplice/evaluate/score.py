"""A number and how it was made: neither travels without the other."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Literal, cast, get_args

import numpy as np
from numpy.typing import NDArray

from textsplice.config import unknown_name
from textsplice.errors import InputError

Metric = Literal["BLEU", "NIST", "METEOR", "ROUGE_L", "CIDEr", "ROUGE_4"]
METRICS = cast("tuple[Metric, ...]", get_args(Metric))
E2E_METRICS: tuple[Metric, ...] = ("BLEU", "NIST", "METEOR", "ROUGE_L", "CIDEr")
_SHARES = frozenset(("BLEU", "METEOR", "ROUGE_L", "ROUGE_4"))

References = Sequence[Sequence[str]]
Statistics = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Data:
    """What was scored against: a name for people, and a hash of the references."""

    name: str
    hash: str

    @classmethod
    def of(cls, name: str, references: References) -> Data:
        """Hashes the references themselves, so that two files with the same ones agree."""
        text = json.dumps([list(each) for each in references], ensure_ascii=False)
        return cls(name, hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16])


@dataclass(frozen=True, slots=True)
class Signature:
    """All that another person needs to get the same number."""

    metric: Metric
    version: str
    tokenization: str
    case: str
    references: str
    data: str
    hash: str

    def __str__(self) -> str:
        return "|".join(
            (
                self.metric,
                f"refs:{self.references}",
                f"case:{self.case}",
                f"tok:{self.tokenization}",
                f"data:{self.data}@{self.hash}",
                f"version:{self.version}",
            )
        )


@dataclass(frozen=True, slots=True)
class Score:
    """A value as the E2E challenge's script prints it (BLEU from 0 to 1), with its signature."""

    value: float
    signature: Signature

    @property
    def metric(self) -> Metric:
        """Which metric."""
        return self.signature.metric

    @property
    def points(self) -> float:
        """The value as papers print it: shares in per cent, NIST and CIDEr as they are."""
        return self.value * 100 if self.metric in _SHARES else self.value

    def to_dict(self) -> dict[str, object]:
        """Plain data, the signature in parts and as one line."""
        return {
            "metric": self.metric,
            "value": self.value,
            "signature": str(self.signature),
            **{name: value for name, value in asdict(self.signature).items() if name != "metric"},
        }


@dataclass(frozen=True)
class Measurement:
    """A score and the statistics it is made of: one row an item, whose sum gives the score again.

    A resampled test set is a weighted sum of rows, so significance costs a matrix product.
    """

    score: Score
    statistics: Statistics
    of_sums: Callable[[Statistics], float]


def mean_of_sums(sums: Statistics) -> float:
    """For metrics that are a mean over items, whose rows are (score, 1)."""
    return float(sums[0] / sums[1]) if sums[1] else 0.0


def means(scores: Sequence[float]) -> Statistics:
    """Rows (score, 1)."""
    values = np.asarray(scores, dtype=np.float64)
    return np.stack([values, np.ones_like(values)], axis=1)


def reference_counts(references: References) -> str:
    """`1`, or `1-23` where items differ."""
    counts = [len(each) for each in references]
    least, most = min(counts), max(counts)
    return str(least) if least == most else f"{least}-{most}"


def check_parallel(outputs: Sequence[str], references: References) -> None:
    """`InputError` unless there is one output for each item and a reference for each output."""
    if len(outputs) != len(references):
        raise InputError(
            f"there are {len(outputs):,} outputs and {len(references):,} items of references.",
            remedy="Each item needs one output.",
        )
    if not outputs:
        raise InputError("there is no output to score.")
    for number, each in enumerate(references):
        if not each:
            raise InputError(f"item {number} has no reference.")


def metric_named(name: str, where: str = "--metrics") -> Metric:
    """The metric of that name in any case; `rouge-l` is `ROUGE_L`."""
    folded: dict[str, Metric] = {metric.casefold(): metric for metric in METRICS}
    metric = folded.get(name.strip().casefold().replace("-", "_"))
    if metric is None:
        raise unknown_name("metric", name, list(METRICS), where)
    return metric
