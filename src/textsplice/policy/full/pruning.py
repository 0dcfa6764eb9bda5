"""Which canvases of a search go on to the next splice."""

from __future__ import annotations

from collections.abc import Sequence

from textsplice.policy.full.hypothesis import INFINITY, BeamSettings, Hypothesis
from textsplice.policy.problem import Outcome


def prune(
    live: Sequence[Hypothesis],
    outcomes: Sequence[Outcome],
    scores: Sequence[Sequence[float]],
    settings: BeamSettings,
) -> list[Hypothesis]:
    """Without what can't be among the wanted texts within the horizon.

    `scores[item]` are those of the texts that each start of each table has finished.
    """
    of_tables = [outcome.worst_of_best(settings.wanted) for outcome in outcomes]
    of_starts = [_worst_of_best(own, settings.wanted_of_start) for own in scores]
    bars = [max(of_tables[item // settings.starts], bar) for item, bar in enumerate(of_starts)]
    return [hypothesis for hypothesis in live if _bound(hypothesis, settings) > bars[hypothesis.item]]


def _bound(hypothesis: Hypothesis, settings: BeamSettings) -> float:
    """The best score that a text from this canvas can have, if all further decisions are certain."""
    splices = min(len(hypothesis.splices) + settings.horizon, settings.max_splices)
    return hypothesis.total / (2 * splices + 1)


def _worst_of_best(scores: Sequence[float], count: int) -> float:
    return sorted(scores, reverse=True)[count - 1] if len(scores) >= count else -INFINITY
