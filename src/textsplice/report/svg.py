"""The figure: sources in solid boxes, canvases in dotted boxes from top to bottom, lines between spans.

Colors are attributes, so that any program draws the light figure. A style sheet replaces each of them where
the reader prefers a dark page.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

from textsplice.report.document import Document, Kind
from textsplice.report.escape import markup
from textsplice.report.figure import (
    GAP,
    NOTE_SIZE,
    PADDING,
    SIZE,
    TITLE,
    Box,
    Extent,
    Word,
    beside,
    canvas_boxes,
    source_boxes,
)
from textsplice.report.frames import MASK_SIGN, Frame, frames
from textsplice.report.plain import coverage
from textsplice.report.widths import FAMILY, Placed, is_estimated, text_width

MARGIN = 16.0
GUTTER = 96.0


class Ink(NamedTuple):
    """The colors of a kind of source: its lines and words, its box, its spans, its underline."""

    line: str
    fill: str
    span: str
    dashes: str


INKS: dict[Kind, Ink] = {
    "neighbor": Ink("#1d4f9c", "#f3f7fd", "#d3e3fb", ""),
    "table": Ink("#9a4a06", "#fef7ee", "#fde0bd", "6 2"),
    "vocabulary": Ink("#1a6b35", "#f1faf3", "#cbeed5", "1.5 2.5"),
    "gap": Ink("#a01a6b", "#fdf3f9", "#f8d6e8", ""),
}
PAPER, TEXT, MUTED, STRUCK, MASKED = "#ffffff", "#1b1d21", "#5b6068", "#6b7078", "#c3c8d0"
DARK = {
    PAPER: "#1b1e24",
    TEXT: "#ebe9e4",
    MUTED: "#a9afba",
    STRUCK: "#959ba6",
    MASKED: "#4d535e",
    **dict(zip(INKS["neighbor"][:3], ("#a3c4ff", "#1a2333", "#1f3862"), strict=True)),
    **dict(zip(INKS["table"][:3], ("#ffc48a", "#2b2219", "#56330f"), strict=True)),
    **dict(zip(INKS["vocabulary"][:3], ("#93dfab", "#18271e", "#17452a"), strict=True)),
    **dict(zip(INKS["gap"][:3], ("#ff9fd0", "#2b1a25", "#57203f"), strict=True)),
}


def svg(document: Document, *, width: int = 1040) -> str:
    """A static figure of a derivation, like those of the paper; the same bytes for the same document."""
    left = round((width - 2 * MARGIN - GUTTER) * 0.42)
    right = width - 2 * MARGIN - GUTTER - left
    steps = frames(document)
    canvases = canvas_boxes(document, steps, MARGIN + left + GUTTER, right)
    sources = beside(source_boxes(document, steps, MARGIN, left), canvases)
    note = coverage(document) or _unused_note(document)
    height = max(box.bottom for box in [*sources, *canvases]) + GAP + (20 if note else 0)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height:.0f}" '
        f'width="{width}" height="{height:.0f}" font-family="{markup(FAMILY)}" '
        f'font-size="{SIZE:.0f}" role="img" aria-label="{markup(_description(document, steps))}">',
        f"<title>{markup(document.generation.text or document.generation.status)}</title>",
        f"<style>{_dark_style(document)}</style>",
        f'<rect width="{width}" height="{height:.0f}" fill="{PAPER}"/>',
        *(_border(box, dotted=False) for box in sources),
        *(_border(box, dotted=True) for box in canvases[:-1]),
        _final_border(canvases[-1]),
        *_spans(sources),
        *_spans(canvases),
        *_gap_marks(canvases[-1]),
        *_lines(sources, canvases),
        *(_title(box) for box in sources),
        *(_step_title(box, step) for box, step in zip(canvases, steps, strict=False)),
        _title(canvases[-1]),
        *(line for box in [*sources, *canvases] for line in _text(box)),
        *(line for box in canvases for line in _strikes(box)),
        *_underlines(canvases[-1]),
        *_carets(steps, canvases),
    ]
    if note:
        parts.append(
            f'<text x="{_n(MARGIN)}" y="{_n(height - GAP)}" font-size="12" fill="{MUTED}">'
            f"{markup(note)}</text>"
        )
    return "\n".join([*parts, "</svg>"]) + "\n"


def _dark_style(document: Document) -> str:
    colors = {
        light: dark for light, dark in DARK.items() if document.generation.traced or light not in INKS["gap"]
    }
    rules = "".join(
        f'[{use}="{light}"]{{{use}:{dark}}}' for light, dark in colors.items() for use in ("fill", "stroke")
    )
    return f"@media (prefers-color-scheme: dark){{{rules}}}"


def _description(document: Document, steps: Sequence[Frame]) -> str:
    told = "; ".join(f"{frame.number}, {frame.sentence}" for frame in steps)
    return f"Derivation of “{document.generation.text}”: {told or 'no splices'}. {coverage(document)}".strip()


def _unused_note(document: Document) -> str:
    used = sum(document.kind(source) == "neighbor" for source in document.used)
    unused = len(document.sources.neighbors) - used
    if not unused:
        return ""
    return f"{unused} more {'neighbor was' if unused == 1 else 'neighbors were'} offered and not used."


def _border(box: Box, *, dotted: bool) -> str:
    ink = INKS[box.kind or "neighbor"]
    style = (
        f'fill="{PAPER}" stroke="{MUTED}" stroke-width="1.2" stroke-dasharray="1.5 3.5" '
        'stroke-linecap="round"'
        if dotted
        else f'fill="{ink.fill}" stroke="{ink.line}" stroke-width="1.4"'
    )
    return _rectangle(box, style)


def _final_border(box: Box) -> str:
    return _rectangle(box, f'fill="{PAPER}" stroke="{TEXT}" stroke-width="1.6"')


def _rectangle(box: Box, style: str) -> str:
    return (
        f'<rect x="{_n(box.x)}" y="{_n(box.y + TITLE)}" width="{_n(box.width)}" '
        f'height="{_n(box.height - TITLE)}" rx="7" {style}/>'
    )


def _spans(boxes: Sequence[Box]) -> Iterator[str]:
    for box in boxes:
        if box.kind is None:
            continue
        for start, stop in box.spans.values():
            for extent in box.extents(start, stop):
                yield (
                    f'<rect x="{_n(extent.left - 2)}" y="{_n(box.baseline(extent.line) - 13)}" '
                    f'width="{_n(extent.right - extent.left + 4)}" height="17.5" rx="3" '
                    f'fill="{INKS[box.kind].span}"/>'
                )


def _lines(sources: Sequence[Box], canvases: Sequence[Box]) -> Iterator[str]:
    """From each copied span to where it was inserted, under the words, through the gutter."""
    laid = {step: box for box in canvases for step in box.spans}
    lanes: Counter[tuple[str, int]] = Counter()
    for box in sources:
        for step, (start, stop) in box.spans.items():
            if step not in laid or box.kind == "gap":  # what stands in no source comes from nowhere
                continue
            canvas = laid[step]
            # A span that continues on another line touches the margin there: the shortest way out or in.
            begin = box.extents(start, stop)[0]
            end = _entry(canvas.extents(*canvas.spans[step]))
            lane = lanes[box.title, begin.line] % 3
            lanes[box.title, begin.line] += 1
            x1, y1 = begin.right + 1, box.baseline(begin.line) + 6.5 + 2.5 * lane
            x2, y2 = end.left - 2, canvas.baseline(end.line) + 8
            out, into = box.x + box.width, canvas.x
            middle = (out + into) / 2
            yield (
                f'<path d="M{_n(x1 - 6)} {_n(y1)}H{_n(out)}C{_n(middle)} {_n(y1)} {_n(middle)} {_n(y2)} '
                f'{_n(into)} {_n(y2)}H{_n(x2)}" fill="none" stroke="{INKS[box.kind or "table"].line}" '
                'stroke-width="1.3" stroke-linejoin="round" stroke-opacity="0.85"/>'
            )


def _entry(extents: Sequence[Extent]) -> Extent:
    return extents[1] if len(extents) > 1 else extents[0]


def _title(box: Box) -> str:
    color = INKS[box.kind].line if box.kind else TEXT
    return (
        f'<text x="{_n(box.x + 2)}" y="{_n(box.y + TITLE - 6)}" font-size="11.5" font-weight="bold" '
        f'fill="{color}">{markup(_fitted(box.title, box.width))}</text>'
    )


def _fitted(title: str, width: float) -> str:
    while text_width(title, 12.5) > width and len(title) > 2:
        title = title[:-2] + "…"
    return title


def _step_title(box: Box, frame: Frame) -> str:
    color = INKS[box.kind].line if box.kind else TEXT
    y = box.y + TITLE - 6
    return (
        f'<circle cx="{_n(box.x + 8)}" cy="{_n(y - 4)}" r="8" fill="{color}"/>'
        f'<text x="{_n(box.x + 8)}" y="{_n(y - 0.5)}" font-size="10" font-weight="bold" '
        f'text-anchor="middle" fill="{PAPER}">{frame.number}</text>'
        f'<text x="{_n(box.x + 21)}" y="{_n(y)}" font-size="11.5" font-weight="bold" '
        f'fill="{color}">{markup(_fitted(box.title, box.width - 21))}</text>'
    )


def _text(box: Box) -> Iterator[str]:
    """One text element per line, so that a selection copies whole lines with their spaces."""
    left = box.x + PADDING
    lines: dict[int, list[str]] = {}
    for word, place in zip(box.words, box.placed, strict=True):
        y = box.baseline(place.line)
        line = lines.setdefault(place.line, [])
        space = " " if word.spaced and line else ""
        style = _word_style(word, place, left)
        line.append(f'{space}<tspan y="{_n(y)}" {style}>{markup(word.text)}</tspan>')
        if word.note:
            line.append(
                f'<tspan x="{_n(left + place.x + place.width + 2)}" y="{_n(y - 6)}" '
                f'font-size="{_n(NOTE_SIZE)}" font-weight="bold" fill="{INKS[word.kind].line}">'
                f"{word.note}</tspan>"
            )
        if word.look in ("masked", "struck") and word.text == MASK_SIGN:
            yield (
                f'<rect x="{_n(left + place.x)}" y="{_n(y - 9.5)}" width="{_n(place.width)}" '
                f'height="10.5" rx="2" fill="{MASKED}"/>'
            )
    yield from (f'<text xml:space="preserve">{"".join(tspans)}</text>' for tspans in lines.values())


def _word_style(word: Word, place: Placed, left: float) -> str:
    color = {"field": MUTED, "masked": "none", "struck": STRUCK}.get(word.look, TEXT)
    style = f'x="{_n(left + place.x)}" fill="{"none" if word.text == MASK_SIGN else color}"'
    if word.look == "field":
        style += ' font-style="italic"'
    if is_estimated(word.text) or place.width < text_width(word.text, SIZE):
        style += f' textLength="{_n(place.width)}" lengthAdjust="spacingAndGlyphs"'
    return style


def _strikes(box: Box) -> Iterator[str]:
    """A line through what was replaced."""
    struck = [n for n, word in enumerate(box.words) if word.look == "struck"]
    if struck:
        for extent in box.extents(struck[0], struck[-1] + 1):
            yield _stroke(extent, box.baseline(extent.line) - 4.5, TEXT, "")


def _underlines(box: Box) -> Iterator[str]:
    """The finished text's sources: one underline per run of words of one kind, dashed by kind."""
    start = 0
    for _, run in groupby(box.words, key=lambda word: word.kind):
        stop = start + len(list(run))
        kind = box.words[start].kind
        for extent in box.extents(start, stop):
            y = box.baseline(extent.line) + 4.5
            yield (
                _wave(extent, y) if kind == "gap" else _stroke(extent, y, INKS[kind].line, INKS[kind].dashes)
            )
        start = stop


def _gap_marks(box: Box) -> Iterator[str]:
    """A tint behind what stands in no source, in the finished text."""
    for place, word in enumerate(box.words):
        if word.kind == "gap":
            joined = place + 1 < len(box.words) and box.words[place + 1].kind == "gap"
            for extent in box.extents(place, place + 1 + joined):
                left, width = _n(extent.left - 2), _n(extent.right - extent.left + 4)
                top, color = _n(box.baseline(extent.line) - 13), INKS["gap"].span
                yield f'<rect x="{left}" y="{top}" width="{width}" height="18" rx="3" fill="{color}"/>'


def _wave(extent: Extent, y: float) -> str:
    """An underline like the one that marks a misspelled word."""
    points = [extent.left]
    while points[-1] + 3 < extent.right:
        points.append(points[-1] + 3)
    path = "L".join(f"{_n(x)} {_n(y + (1.5 if n % 2 else -1.5))}" for n, x in enumerate(points))
    return f'<path d="M{path}" fill="none" stroke="{INKS["gap"].line}" stroke-width="1.5"/>'


def _stroke(extent: Extent, y: float, color: str, dashes: str) -> str:
    dashed = f' stroke-dasharray="{dashes}"' if dashes else ""
    return (
        f'<path d="M{_n(extent.left)} {_n(y)}H{_n(extent.right)}" stroke="{color}" '
        f'stroke-width="1.5"{dashed}/>'
    )


def _carets(steps: Sequence[Frame], canvases: Sequence[Box]) -> Iterator[str]:
    """A caret under the place where a span was inserted without replacing anything."""
    for frame, box in zip(steps, canvases, strict=False):
        if frame.number not in box.spans or frame.step.splice.replaces:
            continue
        extent = box.extents(*box.spans[frame.number])[0]
        x, y = extent.left - 2, box.baseline(extent.line) + 4
        yield (
            f'<path d="M{_n(x - 4.5)} {_n(y + 6)}L{_n(x)} {_n(y)}L{_n(x + 4.5)} {_n(y + 6)}" fill="none" '
            f'stroke="{INKS[box.kind or "neighbor"].line}" stroke-width="1.8" stroke-linejoin="round"/>'
        )


def _n(value: float) -> str:
    """A coordinate with one decimal at most."""
    return f"{value:.1f}".removesuffix(".0")
