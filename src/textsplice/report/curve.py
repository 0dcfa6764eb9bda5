"""The learning curve as an inline figure in the page's colors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from textsplice.report.escape import markup

WIDTH, HEIGHT = 720, 260
LEFT, RIGHT, TOP, BOTTOM = 50, 34, 14, 36


class Point(NamedTuple):
    """A loss at a step of training."""

    step: int
    loss: float


class _Scale(NamedTuple):
    low: float
    high: float
    start: float
    stop: float

    def __call__(self, value: float) -> float:
        share = (value - self.low) / ((self.high - self.low) or 1.0)
        return self.start + share * (self.stop - self.start)


def learning_curve(train: Sequence[Point], validation: Sequence[Point]) -> str:
    """Loss against steps: the training loss as a line, the validation loss as a line with dots."""
    points = [*train, *validation]
    if not points:
        return ""
    x = _Scale(0, max(p.step for p in points), LEFT, WIDTH - RIGHT)
    # The first losses are far above the later ones; the axis follows the later ones.
    settled = sorted(p.loss for p in points)
    top = settled[min(len(settled) - 1, round(0.97 * len(settled)))]
    y = _Scale(min(0.0, settled[0]), top * 1.05 or 1.0, HEIGHT - BOTTOM, TOP)
    parts = [
        f'<svg class="curve" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
        f'aria-label="{markup(_told(train, validation))}">',
        *(_rule(y, value) for value in _ticks(y.low, y.high, 5)),
        *(_step_label(x, value) for value in _ticks(x.low, x.high, 6)),
        f'<text class="axis title" x="{(LEFT + WIDTH - RIGHT) / 2:g}" y="{HEIGHT - 3}" '
        'text-anchor="middle">step</text>',
        _line("train", train, x, y),
        _line("validation", validation, x, y),
        *(
            f'<circle class="validation" cx="{x(p.step):.1f}" cy="{_inside(y(p.loss)):.1f}" r="3.2"/>'
            for p in validation
        ),
        "</svg>",
    ]
    return "\n".join(parts)


def _told(train: Sequence[Point], validation: Sequence[Point]) -> str:
    told = [
        f"{name} loss from {points[0].loss:.2f} to {points[-1].loss:.2f}"
        for name, points in (("training", train), ("validation", validation))
        if points
    ]
    return f"Learning curve: {', '.join(told)}."


def _line(name: str, points: Sequence[Point], x: _Scale, y: _Scale) -> str:
    path = " ".join(f"{x(p.step):.1f},{_inside(y(p.loss)):.1f}" for p in points)
    return f'<polyline class="{name}" points="{path}"/>' if points else ""


def _inside(y: float) -> float:
    return max(float(TOP), y)


def _rule(y: _Scale, value: float) -> str:
    at = f"{y(value):.1f}"
    return (
        f'<path class="grid" d="M{LEFT} {at}H{WIDTH - RIGHT}"/>'
        f'<text class="axis" x="{LEFT - 7}" y="{y(value) + 4:.1f}" text-anchor="end">{value:g}</text>'
    )


def _step_label(x: _Scale, value: float) -> str:
    return (
        f'<text class="axis" x="{x(value):.1f}" y="{HEIGHT - BOTTOM + 20}" '
        f'text-anchor="middle">{value:,.0f}</text>'
    )


def _ticks(low: float, high: float, most: int) -> list[float]:
    """Round numbers between two ends, about `most` of them."""
    if high <= low:
        return [low]
    rough = (high - low) / most
    magnitude = 10.0 ** len(str(int(rough))) / 10 if rough >= 1 else 0.1
    while magnitude > rough:
        magnitude /= 10
    step = next(magnitude * m for m in (1, 2, 5, 10) if magnitude * m >= rough)
    first = -(-low // step)
    return [round(step * (first + n), 10) for n in range(int((high - first * step) / step) + 1)]
