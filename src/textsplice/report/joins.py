"""Seams that no text of the store attests, as views show them."""

from __future__ import annotations

from textsplice.search.generation import Generation
from textsplice.search.seams import Seam

SEAM_SIGN = "¦"
UNATTESTED = "no text of the store joins these words so"


def unattested(generation: Generation) -> tuple[Seam, ...]:
    """The seams to be marked; of a row that does not say its seams none."""
    return generation.seams.unattested if generation.seams else ()


def parts(generation: Generation) -> list[str]:
    """The text, cut at its unattested seams."""
    places = [(seam.start, seam.stop) for seam in unattested(generation)]
    starts, stops = (
        [0, *(stop for _, stop in places)],
        [*(start for start, _ in places), len(generation.text)],
    )
    return [generation.text[start:stop] for start, stop in zip(starts, stops, strict=True)]


def seam_lines(generation: Generation) -> list[str]:
    """Each unattested seam with the tokens that meet there: `¦ 24 “in ¦ riverside”: no text …`."""
    places, text = generation.provenance, generation.text
    lines: list[str] = []
    for token, start, stop in unattested(generation):
        before = text[places[token - 1].start : start] if token else ""
        after = text[stop : places[token].stop] if token < len(places) else ""
        lines.append(f"{SEAM_SIGN} {start} “{f'{before} {SEAM_SIGN} {after}'.strip()}”: {UNATTESTED}")
    return lines
