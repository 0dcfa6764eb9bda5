"""Figures of experiments, each as PNG and SVG."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from textsplice.errors import MissingExtraError
from textsplice.files import atomic_path

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from textsplice.evaluate.ratings.analysis import Analysis

MARKERS = "osD^vPX*"


def line_figure(
    stem: Path, lines: Mapping[str, Sequence[tuple[float, float]]], *, x: str, y: str
) -> list[Path]:
    """One line a system through its points."""
    figure, axes = _figure()
    for marker, (name, points) in zip(MARKERS * len(lines), lines.items(), strict=False):
        axes.plot([a for a, _ in points], [b for _, b in points], marker=marker, markersize=4, label=name)
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    axes.legend(frameon=False)
    return _save(figure, stem)


def bar_figure(stem: Path, bars: Mapping[str, float], *, x: str) -> list[Path]:
    """One bar a label, with its value at its end."""
    figure, axes = _figure()
    drawn = axes.barh(list(bars), list(bars.values()))
    axes.bar_label(drawn, fmt="%.1f", padding=3)
    axes.invert_yaxis()
    axes.set_xlabel(x)
    return _save(figure, stem)


def ratings_figure(stem: Path, analyses: Sequence[Analysis]) -> list[Path]:
    """Mean marks by criterion; bars of systems whose whiskers overlap don't differ by Tukey's measure."""
    figure, axes = _figure()
    systems = list(analyses[0].means)
    width = 0.8 / len(systems)
    for number, system in enumerate(systems):
        places = [place + (number - (len(systems) - 1) / 2) * width for place in range(len(analyses))]
        # Half of Tukey's reach, so that two whiskers touch where the difference just reaches it.
        reach = [(each.differences[0].high - each.differences[0].low) / 4 for each in analyses]
        axes.bar(
            places, [each.means[system] for each in analyses], width, yerr=reach, capsize=3, label=system
        )
    axes.set_xticks(range(len(analyses)), [each.criterion for each in analyses])
    axes.set_ylim(1, 5)
    axes.legend(frameon=False, ncols=len(systems))
    return _save(figure, stem)


def check_figures() -> None:
    """`MissingExtraError` if nothing can be drawn here."""
    if find_spec("matplotlib") is None:
        raise MissingExtraError(
            "figures need matplotlib, which is not installed.",
            remedy="Install it with `pip install 'textsplice[eval]'`, or leave them out with --no-figure.",
        )


def _figure() -> tuple[Figure, Axes]:
    check_figures()
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6.4, 3.6), layout="constrained")
    axes = figure.add_subplot()
    axes.spines[["top", "right"]].set_visible(False)
    return figure, axes


def _save(figure: Figure, stem: Path) -> list[Path]:
    from matplotlib import rc_context

    paths = [stem.with_suffix(".png"), stem.with_suffix(".svg")]
    for path in paths:
        # The same bytes every time: no date in the file, and names of parts that are not drawn by lot.
        with atomic_path(path) as temporary, rc_context({"svg.hashsalt": "textsplice"}):
            plain = {"Date": None} if path.suffix == ".svg" else {}
            figure.savefig(temporary, format=path.suffix[1:], dpi=200, metadata=plain)
    return paths
