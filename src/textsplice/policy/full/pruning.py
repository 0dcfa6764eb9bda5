"""Which canvases of a search go on to the next splice."""

from __future__ import annotations

from collections.abc import Sequence

from textsplice.policy.full.hypothesis import BeamSettings, Hypothesis
from textsplice.policy.problem import Outcome


def prune(
    live: Sequence[Hypothesis], outcomes: Sequence[Outcome], settings: BeamSettings
) -> list[Hypothesis]:
    """Without what can't be among the wanted texts within the horizon."""
    bars = [outcome.worst_of_best(settings.wanted) for outcome in outcomes]
    return [h for h in live if _bound(h, settings) > bars[h.item // settings.starts]]


def _bound(hypothesis: Hypothesis, settings: BeamSettings) -> float:
    """The best score that a text from this canvas can have, if all further decisions are certain."""
    splices = min(len(hypothesis.splices) + settings.horizon, settings.max_splices)
    return hypothesis.total / (2 * splices + 1)
