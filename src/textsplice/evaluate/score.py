"""Scores: a number together with its signature, which says how it was made."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import version

from textsplice.errors import InputError
from textsplice.evaluate.metrics.metric import Metric, References, Statistics, metric_named

# What the E2E challenge's script prints.
E2E_METRICS = ("BLEU", "NIST", "METEOR", "ROUGE_L", "CIDEr")


@dataclass(frozen=True, slots=True)
class Data:
    """What was scored against: a name for people, and a hash of the references."""

    name: str
    hash: str

    @classmethod
    def of(cls, name: str, references: References) -> Data:
        """Hashes the references themselves, so that two files with the same references agree."""
        text = json.dumps([list(each) for each in references], ensure_ascii=False)
        return cls(name, hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16])


@dataclass(frozen=True, slots=True)
class Signature:
    """Everything another person needs to get the same number."""

    metric: str
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
    def metric(self) -> str:
        """The name of the metric."""
        return self.signature.metric

    @property
    def points(self) -> float:
        """The value as papers print it: shares as percentages, NIST and CIDEr as they are."""
        return self.value * 100 if metric_named(self.metric).is_share else self.value

    def to_dict(self) -> dict[str, object]:
        """Plain data, with the signature in parts and as one line."""
        return {
            "metric": self.metric,
            "value": self.value,
            "signature": str(self.signature),
            **{name: value for name, value in asdict(self.signature).items() if name != "metric"},
        }


@dataclass(frozen=True)
class Measurement:
    """A score with its statistics: one row per item, whose sum `of_sums` turns into a score again."""

    score: Score
    statistics: Statistics
    of_sums: Callable[[Statistics], float]


Measured = tuple[float, Statistics]


def measure(
    outputs: Sequence[str],
    references: References,
    metrics: Sequence[str],
    *,
    data: str = "unnamed",
    known: Mapping[str, Measured] | None = None,
) -> list[Measurement]:
    """Scores one output per item against the item's references, whose number may differ.

    `known` is what metrics, by name, have given for these very outputs and references already.
    If something that a metric needs is not installed, raises `MissingExtraError` before computing anything.
    """
    check_parallel(outputs, references)
    found = available(metrics)
    hashed = Data.of(data, references)
    measured: list[Measurement] = []
    for metric in found:
        value, statistics = (known or {}).get(metric.name) or metric.measure(outputs, references)
        score = Score(value, _signature(metric, references, hashed))
        measured.append(Measurement(score, statistics, metric.of_sums))
    return measured


def score(
    outputs: Sequence[str], references: References, metrics: Sequence[str], *, data: str = "unnamed"
) -> list[Score]:
    """The scores alone."""
    return [each.score for each in measure(outputs, references, metrics, data=data)]


def available(metrics: Sequence[str], where: str = "--metrics") -> list[Metric]:
    """The metrics of these names; `MissingExtraError` if one can't be computed here."""
    found = [metric_named(name, where) for name in metrics]
    for metric in found:
        if (missing := metric.obstacle()) is not None:
            raise missing
    return found


def check_parallel(outputs: Sequence[str], references: References) -> None:
    """Raises `InputError` unless each item has one output and at least one reference."""
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


def _signature(metric: Metric, references: References, data: Data) -> Signature:
    from textsplice import __version__

    return Signature(
        metric=metric.name,
        version=f"{metric.package}-{version(metric.package)}+textsplice-{__version__}",
        tokenization=metric.tokenization,
        case=metric.case,
        references=_reference_counts(references),
        data=data.name,
        hash=data.hash,
    )


def _reference_counts(references: References) -> str:
    """`1`, or `1-23` if items differ."""
    counts = [len(each) for each in references]
    least, most = min(counts), max(counts)
    return str(least) if least == most else f"{least}-{most}"
