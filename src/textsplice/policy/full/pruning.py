"""Which canvases of a search go on to the next splice."""

from __future__ import annotations

from collections.abc import Sequence

from textsplice.policy.full.hypothesis import BeamSettings, Hypothesis
from textsplice.policy.problem import Outcome


def prune(
    live: Sequence[Hypothesis], outcomes: Sequence[Outcome], settings: BeamSettings
) -> list[Hypothesis]:
    """Without what can't be among the wanted texts, or among those of its start, within the horizon."""
    bars = [outcome.worst_of_best(settings.wanted) for outcome in outcomes]
    of_starts: dict[tuple[int, int], float] = {}
    kept: list[Hypothesis] = []
    for hypothesis in live:
        case, start = hypothesis.item // settings.starts, hypothesis.splices[0].neighbor
        if (case, start) not in of_starts:
            of_starts[case, start] = outcomes[case].worst_of_best(settings.wanted_of_start, start)
        if _bound(hypothesis, settings) > max(bars[case], of_starts[case, start]):
            kept.append(hypothesis)
    return kept


def _bound(hypothesis: Hypothesis, settings: BeamSettings) -> float:
    """The best score that a text from this canvas can have, if all further decisions are certain."""
    splices = min(len(hypothesis.splices) + settings.horizon, settings.max_splices)
    return hypothesis.total / (2 * splices + 1)
