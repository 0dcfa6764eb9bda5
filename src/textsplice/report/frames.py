"""A canvas as people see it: pieces with their spacing, what is new, what was replaced."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from textsplice.oracle.splice import Origin
from textsplice.report.document import Document
from textsplice.search.generation import Step
from textsplice.text.tokens import BEGIN, END, MASK, Tokenizer, detokenize_with_spans

Role = Literal["kept", "inserted", "replaced"]

MASK_SIGN = "▁▁"
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
    """The finished text, piece by piece."""
    return _written(document, document.origins, "kept")


def label(document: Document, source: int, position: int) -> str:
    """Where a span comes from: `table · name`, `neighbor 3`, `vocabulary`."""
    kind = document.kind(source)
    if kind == "table":
        segment = document.sources.segment_at(position)
        return f"table · {segment.field}" if segment else "table"
    return f"neighbor {source}" if kind == "neighbor" else "vocabulary"


def tag(document: Document, source: int) -> str:
    """The short label of a source: T, N3, V."""
    return {"table": "T", "neighbor": f"N{source}", "vocabulary": "V"}[document.kind(source)]


def sentence(document: Document, number: int) -> str:
    """A step in words: `replaces “▁▁” with “Blue Spice” from table · name`."""
    step = document.steps[number]
    tokenizer = document.generation.tokenizer
    new = shown(step.inserted, tokenizer)
    place = label(document, step.splice.neighbor, step.splice.begin)
    if step.splice.replaces:
        return f"replaces “{shown(step.removed, tokenizer)}” with “{new}” from {place}"
    return f"{'starts with' if number == 0 else 'inserts'} “{new}” from {place}"


def shown(tokens: Sequence[str], tokenizer: Tokenizer) -> str:
    """Tokens as running text; begin and end are shown only if there is nothing else."""
    visible = [token for token in tokens if token not in (BEGIN, END)]
    if not visible:
        return " ".join("⟨begin⟩" if token == BEGIN else "⟨end⟩" for token in tokens)
    return "".join(f"{' ' if spaced else ''}{_sign(token)}" for token, spaced in spacing(visible, tokenizer))


def spacing(tokens: Sequence[str], tokenizer: Tokenizer) -> list[tuple[str, bool]]:
    """Each token with whether a space comes before it."""
    spans = detokenize_with_spans(tokens, tokenizer).spans
    ends = [0, *(stop for _, stop in spans)]
    return [(token, start > end) for token, (start, _), end in zip(tokens, spans, ends, strict=False)]


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
    visible = [origin for origin in origins if document.token(origin) not in (BEGIN, END)]
    tokens = [document.token(origin) for origin in visible]
    return [
        Piece(_sign(token), spaced, role, origin, token == MASK)
        for origin, (token, spaced) in zip(
            visible, spacing(tokens, document.generation.tokenizer), strict=True
        )
    ]


def _sign(token: str) -> str:
    return MASK_SIGN if token == MASK else token.strip(" ") or token
