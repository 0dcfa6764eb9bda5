"""Figures of experiments, each as the bytes of a PNG and of an SVG file, by the file's name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from io import BytesIO
from typing import TYPE_CHECKING

from textsplice.errors import MissingExtraError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from textsplice.evaluate.ratings.analysis import Analysis

MARKERS = "osD^vPX*"


def line_figure(
    name: str, lines: Mapping[str, Sequence[tuple[float, float]]], *, x: str, y: str
) -> dict[str, bytes]:
    """One line per system."""
    figure, axes = _figure()
    for marker, (system, points) in zip(MARKERS * len(lines), lines.items(), strict=False):
        axes.plot([a for a, _ in points], [b for _, b in points], marker=marker, markersize=4, label=system)
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    axes.legend(frameon=False)
    return _files(figure, name)


def bar_figure(name: str, bars: Mapping[str, float], *, x: str) -> dict[str, bytes]:
    """One bar per label, with its value at its end."""
    figure, axes = _figure()
    drawn = axes.barh(list(bars), list(bars.values()))
    axes.bar_label(drawn, fmt="%.1f", padding=3)
    axes.invert_yaxis()
    axes.set_xlabel(x)
    return _files(figure, name)


def ratings_figure(name: str, analyses: Sequence[Analysis]) -> dict[str, bytes]:
    """Mean marks by criterion. Systems whose whiskers overlap don't differ significantly (Tukey's HSD)."""
    figure, axes = _figure()
    systems = list(analyses[0].means)
    width = 0.8 / len(systems)
    for number, system in enumerate(systems):
        places = [place + (number - (len(systems) - 1) / 2) * width for place in range(len(analyses))]
        # Half of Tukey's interval on each side: whiskers touch where a difference becomes significant.
        reach = [(each.differences[0].high - each.differences[0].low) / 4 for each in analyses]
        axes.bar(
            places, [each.means[system] for each in analyses], width, yerr=reach, capsize=3, label=system
        )
    axes.set_xticks(range(len(analyses)), [each.criterion for each in analyses])
    axes.set_ylim(1, 5)
    axes.legend(frameon=False, ncols=len(systems))
    return _files(figure, name)


def check_figures() -> None:
    """Raises `MissingExtraError` if matplotlib is not installed."""
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


def _files(figure: Figure, name: str) -> dict[str, bytes]:
    from matplotlib import rc_context

    files: dict[str, bytes] = {}
    for kind in ("png", "svg"):
        buffer = BytesIO()
        # The same bytes every time: no date, and element ids that are not random.
        with rc_context({"svg.hashsalt": "textsplice"}):
            metadata = {"Date": None} if kind == "svg" else {}
            figure.savefig(buffer, format=kind, dpi=200, metadata=metadata)
        files[f"{name}.{kind}"] = buffer.getvalue()
    return files
