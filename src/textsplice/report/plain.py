"""The view for files, pipes and e-mail: characters only."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from itertools import groupby
from typing import cast

from textsplice.report.document import Document
from textsplice.report.frames import CARET, GAP_SIGN, Frame, Piece, frames, sentence, shown, tag
from textsplice.report.joins import seam_lines
from textsplice.report.marks import marks
from textsplice.visible import visible

LEGEND = "‸ inserted here   {…}N1 new, from neighbor 1 (T table, V vocabulary)   [-…-] replaced   ▁▁ masked"


def plain(document: Document, *, width: int = 100, canvases: bool = True) -> str:
    """A derivation step by step as plain text, no line longer than `width` where words allow."""
    generation = document.generation
    lines = [generation.text or f"(no text: {generation.reason or generation.status})", ""]
    lines += _wrapped(heading(document), width, "")
    lines += _wrapped(coverage(document), width, "") if generation.traced else []
    for gap in generation.gaps:
        told = (
            f"{GAP_SIGN} {gap.start}-{gap.stop} “{generation.text[gap.start : gap.stop]}” stands in no source"
        )
        lines += _wrapped(told, width, "   ")
    for told in seam_lines(generation):
        lines += _wrapped(told, width, "   ")
    legend = (
        LEGEND.replace("V vocabulary", f"{GAP_SIGN} stands in no source") if generation.traced else LEGEND
    )
    lines += _wrapped(legend, width, "")
    for cell, mark in zip(document.cells, marks(document), strict=True):
        lines += _wrapped(f"{mark.sign} {cell.field}: {cell.value}", width, "    ")
    shown_frames = frames(document) if canvases else []
    for number in range(len(document.steps)):
        lines += [""] if canvases or number == 0 else []
        lines += _wrapped(f"{number + 1}. {sentence(document, number)}", width, "   ")
        if canvases:
            lines += _wrapped(canvas_line(document, shown_frames[number]), width, "   ", first="   ")
    lines.append("")
    for source in sorted(document.used):
        if document.kind(source) == "neighbor":
            offered = document.sources.neighbors[source - 1]
            lines += _wrapped(f"N{source} = {offered.id}: {offered.text}", width, "   ")
    unused = len(document.sources.neighbors) - sum(
        document.kind(source) == "neighbor" for source in document.used
    )
    if unused:
        lines.append(f"{unused} more {'neighbor was' if unused == 1 else 'neighbors were'} offered.")
    return "\n".join(map(visible, lines)).rstrip() + "\n"


def heading(document: Document) -> str:
    """What is known about a derivation besides its text: `d1 · 4 splices · 1 neighbor · full · ok`."""
    generation = document.generation
    used = sum(document.kind(source) == "neighbor" for source in document.used)
    parts = [
        generation.id,
        _count(len(document.steps), "splice"),
        _count(used, "neighbor"),
        generation.policy,
        generation.status + (f" ({generation.reason})" if generation.reason else ""),
    ]
    if generation.traced:
        parts += [_count(len(generation.gaps), "gap"), str(generation.certificate)]
    elif generation.policy != "oracle" and generation.status != "abstained":
        parts.append(f"score {generation.score:.3f}")
    parts += [str(generation.seams)] if generation.seams else []
    parts += [f"rule {rule}" for rule in rule_texts(document)]
    return " · ".join(part for part in parts if part)


def coverage(document: Document) -> str:
    """What a trace shows and proves, as two sentences; nothing for another derivation."""
    generation = document.generation
    traced, certificate = generation.traced, generation.certificate
    if traced is None or certificate is None:
        return ""
    # With a gap it is never 100 %.
    percent = f"{min(traced.covered * 100, 99.9 if traced.gaps else 100):.1f} %"
    share = f"{percent} of {len(generation.tokens):,} words and marks have a source"
    gaps = f"; {_count(len(traced.gaps), 'gap')}" if traced.gaps else ""
    if certificate.proved:
        return f"{share}{gaps}. No derivation from all {certificate.rows:,} texts has fewer splices: proved."
    return (
        f"{share}{gaps}. Fewest splices over the {certificate.looked_at:,} texts looked at, "
        f"of {certificate.rows:,}: not proved."
    )


def rule_texts(document: Document) -> list[str]:
    """The rules in force, each as one line."""
    return [_rule_text(rule) for rule in document.generation.rules]


def canvas_line(document: Document, frame: Frame) -> str:
    """One canvas with its marks."""
    if not frame.pieces:
        return f"({shown(document, frame.step.origins)})"
    return "".join(
        _marked(document, role, list(pieces))
        for role, pieces in groupby(frame.pieces, key=lambda piece: piece.role)
    )


def _marked(document: Document, role: str, pieces: list[Piece]) -> str:
    text = "".join(f"{' ' if piece.spaced else ''}{piece.text}" for piece in pieces)
    lead = " " if pieces[0].spaced else ""
    text = text.removeprefix(" ")
    if role == "inserted":
        return f"{lead}{CARET}{{{text}}}{tag(document, pieces[0].origin.neighbor)}"
    return f"{lead}[-{text}-]" if role == "replaced" else f"{lead}{text}"


def _rule_text(rule: Mapping[str, object]) -> str:
    """`forbidden-words: best, cheapest`."""
    values = [
        ", ".join(map(str, cast("list[object]", value))) if isinstance(value, list) else str(value)
        for key, value in rule.items()
        if key != "rule"
    ]
    return ": ".join([str(rule.get("rule", "rule")), *filter(None, ["; ".join(values)])])


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _wrapped(text: str, width: int, indent: str, *, first: str = "") -> list[str]:
    return textwrap.wrap(
        text,
        max(width, 20),
        initial_indent=first,
        subsequent_indent=indent,
        break_long_words=False,
        break_on_hyphens=False,
    ) or [""]
