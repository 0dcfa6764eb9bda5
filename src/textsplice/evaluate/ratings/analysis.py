"""Do raters see a difference? Means, analysis of variance, and Tukey's honestly significant differences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from importlib.util import find_spec
from itertools import combinations
from math import sqrt
from typing import NamedTuple

from textsplice.errors import InputError, MissingExtraError
from textsplice.evaluate.ratings.items import CRITERIA
from textsplice.evaluate.ratings.reading import Rating, Ratings
from textsplice.evaluate.tables import markdown

LEVEL = 0.95
FACTORS = ("system", "example", "rater")


class Effect(NamedTuple):
    """One factor of the analysis of variance."""

    factor: str
    sum_of_squares: float
    degrees: float
    f: float
    p: float


class Difference(NamedTuple):
    """Two systems: the difference of their means, its interval and p, corrected for comparing all pairs."""

    first: str
    second: str
    difference: float  # second - first
    low: float
    high: float
    p: float


@dataclass(frozen=True, slots=True)
class Analysis:
    """One criterion."""

    criterion: str
    means: dict[str, float]
    effects: tuple[Effect, ...]
    residual_mean_square: float
    residual_degrees: float
    differences: tuple[Difference, ...]

    def effect(self, factor: str) -> Effect:
        """The effect of one factor."""
        return next(effect for effect in self.effects if effect.factor == factor)


def analyze(ratings: Ratings) -> list[Analysis]:
    """Analyzes each criterion by system, example and rater, and compares pairs of systems."""
    if find_spec("statsmodels") is None:
        raise MissingExtraError(
            "the analysis needs statsmodels, which is not installed.",
            remedy="Install it with `pip install 'textsplice[eval]'`.",
        )
    if len(ratings.systems) < 2:
        raise InputError("there is only one system, so there is nothing to compare.")
    return [
        _analyze(criterion, [mark for mark in ratings.marks if mark.criterion == criterion])
        for criterion in CRITERIA
    ]


def tukey(
    means: dict[str, float], counts: dict[str, int], mean_square: float, degrees: float
) -> tuple[Difference, ...]:
    """The Tukey–Kramer test for all pairs, with the residuals of the fitted model."""
    from scipy.stats import studentized_range

    critical = _critical(len(means), degrees)
    found: list[Difference] = []
    for first, second in combinations(means, 2):
        difference = means[second] - means[first]
        error = sqrt(mean_square / 2 * (1 / counts[first] + 1 / counts[second]))
        reach = critical * error
        p = float(studentized_range.sf(abs(difference) / error, len(means), degrees)) if error else 0.0
        found.append(Difference(first, second, difference, difference - reach, difference + reach, p))
    return tuple(found)


@lru_cache(maxsize=64)
def _critical(groups: int, degrees: float) -> float:
    """Slow to compute (integration and root finding), and the same for every criterion."""
    from scipy.stats import studentized_range

    return float(studentized_range.ppf(LEVEL, groups, degrees))


def analyses_as_data(ratings: Ratings, analyses: Sequence[Analysis]) -> dict[str, object]:
    """Plain data."""
    return {
        "raters": [rater + 1 for rater in ratings.raters],
        "excluded": {str(rater + 1): reason for rater, reason in ratings.excluded.items()},
        "empty": list(ratings.empty),
        "criteria": [
            {
                **asdict(each),
                "effects": [effect._asdict() for effect in each.effects],
                "differences": [difference._asdict() for difference in each.differences],
            }
            for each in analyses
        ],
    }


def analyses_as_markdown(ratings: Ratings, analyses: Sequence[Analysis]) -> str:
    """Means, effects and differences as tables."""
    parts = [f"# Ratings by {len(ratings.raters)} raters\n"]
    parts += [f"Rater {r + 1} is left out: {why}.\n" for r, why in sorted(ratings.excluded.items())]
    parts += [f"{path} is left out: it has no rows.\n" for path in ratings.empty]
    rows = [[s, *(f"{each.means[s]:.2f}" for each in analyses)] for s in ratings.systems]
    parts.append(markdown(["mean", *(each.criterion for each in analyses)], rows))
    for each in analyses:
        parts.append(f"## {each.criterion}\n")
        effects = [
            [e.factor, f"{e.degrees:.0f}", f"{e.sum_of_squares:.2f}", f"{e.f:.2f}", _p(e.p)]
            for e in each.effects
        ]
        parts.append(markdown(["factor", "df", "sum of squares", "F", "p"], effects))
        pairs = [
            [f"{d.second} − {d.first}", f"{d.difference:+.2f}", f"{d.low:+.2f} … {d.high:+.2f}", _p(d.p)]
            for d in each.differences
        ]
        parts.append(markdown(["Tukey HSD", "difference", "95 % interval", "p"], pairs))
    return "\n".join(parts)


def _analyze(criterion: str, marks: Sequence[Rating]) -> Analysis:
    import pandas as pd
    from statsmodels.formula.api import ols
    from statsmodels.stats.anova import anova_lm

    frame = pd.DataFrame(marks)
    # A factor with one level can't be estimated.
    levels = {factor: len({getattr(mark, factor) for mark in marks}) for factor in FACTORS}
    factors = [factor for factor in FACTORS if levels[factor] > 1]
    model = ols("mark ~ " + " + ".join(f"C({factor})" for factor in factors), frame).fit()
    if model.df_resid < 1:
        raise InputError("there are too few marks for an analysis.", remedy="Rate more examples.")
    table = anova_lm(model, typ=2)
    effects = tuple(
        Effect(
            factor,
            float(table.loc[f"C({factor})", "sum_sq"]),
            float(table.loc[f"C({factor})", "df"]),
            float(table.loc[f"C({factor})", "F"]),
            float(table.loc[f"C({factor})", "PR(>F)"]),
        )
        for factor in factors
    )
    by_system: dict[str, list[int]] = {}
    for mark in marks:
        by_system.setdefault(mark.system, []).append(mark.mark)
    means = {system: sum(given) / len(given) for system, given in sorted(by_system.items())}
    counts = {system: len(given) for system, given in by_system.items()}
    square, degrees = float(model.mse_resid), float(model.df_resid)
    return Analysis(criterion, means, effects, square, degrees, tukey(means, counts, square, degrees))


def _p(p: float) -> str:
    return "< 0.001" if p < 0.001 else f"{p:.3f}"
