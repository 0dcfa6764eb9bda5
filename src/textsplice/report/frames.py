"""A canvas as people see it: pieces with their spacing, what is new, what was replaced."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from textsplice.oracle.splice import Origin
from textsplice.oracle.writing import Writing
from textsplice.report.document import Document
from textsplice.search.generation import Step
from textsplice.text.tokens import BEGIN, END, MASK

Role = Literal["kept", "inserted", "replaced"]

MASK_SIGN = "▁▁"
GAP_SIGN = "∅"
CARET = "‸"


class Piece(NamedTuple):
    """A visible token: its text, whether a space comes before it, and where it came from."""

    text: str
    spaced: bool
    role: Role
    origin: Origin
    masked: bool


@dataclass(frozen=True, slots=True)
class Frame:
    """One canvas with the splice that made it; begin and end are left out, as in the paper's figure."""

    number: int
    step: Step
    pieces: tuple[Piece, ...]
    sentence: str


def frames(document: Document) -> list[Frame]:
    """Every canvas of a derivation, in order."""
    return [
        Frame(number + 1, step, tuple(_pieces(document, number)), sentence(document, number))
        for number, step in enumerate(document.steps)
    ]


def finished(document: Document) -> list[Piece]:
    """The finished text, piece by piece; somebody else's has the spaces that it has."""
    pieces = _written(document, document.origins, "kept")
    return [
        piece._replace(spaced=spaced) for piece, spaced in zip(pieces, final_spaces(document), strict=True)
    ]


def final_spaces(document: Document) -> list[bool]:
    """Whether a space comes before each token of the finished text."""
    places = document.generation.provenance
    ends = [0, *(place.stop for place in places)]
    return [place.start > end for place, end in zip(places, ends, strict=False)]


def label(document: Document, source: int, position: int) -> str:
    """Where a span comes from: `table · name`, `neighbor 3`, `vocabulary`; `no source` in a traced text."""
    kind = document.kind(source)
    if kind == "table":
        segment = document.sources.segment_at(position)
        return f"table · {segment.field}" if segment else "table"
    if kind == "neighbor":
        return f"neighbor {source}"
    return "no source" if kind == "gap" else "vocabulary"


def tag(document: Document, source: int) -> str:
    """The short label of a source: T, N3, V, or ∅ for what stands in no source."""
    return {"table": "T", "neighbor": f"N{source}", "vocabulary": "V", "gap": GAP_SIGN}[document.kind(source)]


def sentence(document: Document, number: int) -> str:
    """A step in words: `replaces “▁▁” with “Blue Spice” from table · name`."""
    step = document.steps[number]
    splice = step.splice
    new = shown(document, span(splice.neighbor, splice.begin, splice.end))
    place = label(document, splice.neighbor, splice.begin)
    if splice.replaces:
        return f"replaces “{shown(document, document.removed(number))}” with “{new}” from {place}"
    return f"{'starts with' if number == 0 else 'inserts'} “{new}” from {place}"


def shown(document: Document, origins: Sequence[Origin]) -> str:
    """Tokens as running text; begin and end are shown only if there is nothing else."""
    if not (written := spacing(document.writing, origins)):
        return " ".join("⟨begin⟩" if document.token(o) == BEGIN else "⟨end⟩" for o in origins)
    return "".join(f"{' ' if spaced else ''}{_sign(token)}" for _, token, spaced in written)


def spacing(writing: Writing, origins: Sequence[Origin]) -> list[tuple[Origin, str, bool]]:
    """Each token but begin and end, with whether a space comes before it."""
    tokens = [(origin, writing.sources.token(origin)) for origin in origins]
    visible = [(origin, token) for origin, token in tokens if token not in (BEGIN, END)]
    spans = writing.write([origin for origin, _ in visible]).spans
    ends = [0, *(stop for _, stop in spans)]
    return [(*each, start > end) for each, (start, _), end in zip(visible, spans, ends, strict=False)]


def span(source: int, begin: int, end: int) -> list[Origin]:
    """The places of a span of a source, whichever step copies it."""
    return [Origin(source, position, 0) for position in range(begin, end)]


def _pieces(document: Document, number: int) -> list[Piece]:
    step = document.steps[number]
    canvas = _written(document, step.origins, "kept")
    kept_or_new = [
        piece._replace(role="inserted" if piece.origin.step == number else "kept") for piece in canvas
    ]
    struck = _written(document, document.removed(number), "replaced")
    if not struck:
        return kept_or_new
    # What was replaced comes before its replacement, with a space between them.
    at = sum(1 for token in step.canvas[: step.splice.start] if token not in (BEGIN, END))
    struck[0] = struck[0]._replace(spaced=at > 0)
    after = kept_or_new[at:]
    if after:
        after[0] = after[0]._replace(spaced=True)
    return [*kept_or_new[:at], *struck, *after]


def _written(document: Document, origins: Sequence[Origin], role: Role) -> list[Piece]:
    return [
        Piece(_sign(token), spaced, role, origin, token == MASK)
        for origin, token, spaced in spacing(document.writing, origins)
    ]


def _sign(token: str) -> str:
    return MASK_SIGN if token == MASK else token.strip(" ") or token
