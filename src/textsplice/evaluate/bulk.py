"""Metrics of systems by the workers of an engine: a part is one metric of one system."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from textsplice.engine import Engine
from textsplice.evaluate.metrics.metric import metric_named
from textsplice.evaluate.outputs import Matched
from textsplice.evaluate.score import Measured, available
from textsplice.runs.parts import Parts
from textsplice.work import Work


def measure_all(
    engine: Engine, place: Parts, systems: Sequence[Matched], metrics: Sequence[str], *, quiet: bool = False
) -> list[dict[str, Measured]]:
    """For each system the value and the statistics of each metric, as `Metric.measure` gives them."""
    names = [metric.name for metric in available(metrics)]
    parts = [
        [name, system.texts, [list(each) for each in system.references]]
        for system in systems
        for name in names
    ]
    work = Work("textsplice.evaluate.bulk:measuring", {})
    keys = engine.run(
        work, parts, place, label="scoring", total=len(parts), size=lambda _part: 1, quiet=quiet
    )
    found = [_read(result) for result in place.results(keys)]
    count = len(names)
    rows = (found[first : first + count] for first in range(0, len(found), count))
    return [dict(zip(names, row, strict=True)) for row in rows]


def measuring(_settings: Mapping[str, Any]) -> Callable[[list[Any]], bytes]:
    """Computes a metric, in a worker."""

    def do(part: list[Any]) -> bytes:
        name, texts, references = part
        value, statistics = metric_named(name).measure(texts, references)
        return json.dumps([value, statistics.tolist()]).encode("ascii")

    return do


def _read(result: bytes) -> Measured:
    value, statistics = json.loads(result)
    return float(value), np.array(statistics, dtype=np.float64)
