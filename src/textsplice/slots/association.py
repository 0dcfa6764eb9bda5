"""Whether two things occur together more often than by chance, and how sure a share is."""

from __future__ import annotations

from collections.abc import Iterable
from math import erfc, exp, lgamma, sqrt
from typing import NamedTuple

SURE = 1.96  # standard deviations: 95 of 100 such bounds hold


class Counts(NamedTuple):
    """A two-by-two table: texts with and without a phrase, of tables with and without a value."""

    both: int
    phrase_only: int
    value_only: int
    neither: int

    @property
    def total(self) -> int:
        """All texts."""
        return sum(self)


def fisher(counts: Counts) -> float:
    """The chance of so many texts with both, or more, if phrase and value were independent (Fisher)."""
    with_phrase, with_value = counts.both + counts.phrase_only, counts.both + counts.value_only
    total = counts.total
    most = min(with_phrase, with_value)
    whole = _log_choose(total, with_phrase)
    chance = 0.0
    for both in range(counts.both, most + 1):
        rest = with_phrase - both
        if rest > total - with_value:
            continue
        term = exp(_log_choose(with_value, both) + _log_choose(total - with_value, rest) - whole)
        chance += term
        if term < chance * 1e-12 and both * total > with_phrase * with_value:
            break  # past the mean, terms only get smaller
    return min(1.0, chance)


def mantel_haenszel(strata: Iterable[Counts]) -> float:
    """The same, from texts that agree in something else (Mantel and Haenszel's test, one-sided).

    1.0 if nothing can be told: within each stratum all tables have the value, or none has.
    """
    excess = variance = 0.0
    for each in strata:
        total = each.total
        if total < 2:
            continue
        with_phrase, with_value = each.both + each.phrase_only, each.both + each.value_only
        excess += each.both - with_phrase * with_value / total
        variance += (
            with_phrase
            * (total - with_phrase)
            * with_value
            * (total - with_value)
            / (total * total * (total - 1))
        )
    if variance <= 0.0:
        return 1.0
    return 0.5 * erfc(max(0.0, excess - 0.5) / sqrt(variance) / sqrt(2)) if excess > 0 else 1.0


def least_share(right: int, total: int, deviations: float = SURE) -> float:
    """The share that is at least to be expected of more of the same (Wilson's lower bound)."""
    if not total:
        return 0.0
    share, square = right / total, deviations * deviations
    centre = share + square / (2 * total)
    spread = deviations * sqrt(share * (1 - share) / total + square / (4 * total * total))
    return max(0.0, (centre - spread) / (1 + square / total))


def _log_choose(n: int, k: int) -> float:
    return lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1)
