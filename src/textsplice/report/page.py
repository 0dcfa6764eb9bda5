"""The player: derivations, styles and script in one file that makes no requests."""

from __future__ import annotations

import base64
import hashlib
import math
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import resources
from string import Template

from textsplice import __version__
from textsplice.oracle.numbering import TABLE
from textsplice.oracle.sources import OfferedNeighbor
from textsplice.oracle.splice import Origin
from textsplice.report.document import Cell, Document
from textsplice.report.escape import markup, script_json
from textsplice.report.frames import GAP_SIGN, final_spaces, sentence, spacing, span
from textsplice.report.joins import unattested
from textsplice.report.marks import NOT_ASKED, checked
from textsplice.report.plain import coverage, plain, rule_texts
from textsplice.text.tokens import BEGIN, END, MASK

GENERATOR = f"textsplice {__version__}"


def player(
    documents: Sequence[Document],
    *,
    title: str = "textsplice",
    notes: Mapping[str, str] | None = None,
) -> str:
    """One HTML file that plays derivations; `notes` are remarks on examples, by id."""
    return page(documents, title=title, notes=notes or {}, before="", after="", style="")


def html(document: Document) -> str:
    """One HTML file that plays one derivation."""
    return player([document], title=document.generation.id)


def page(
    documents: Sequence[Document],
    *,
    title: str,
    notes: Mapping[str, str],
    before: str,
    after: str,
    style: str,
) -> str:
    """The player between two pieces of markup, which must be escaped already."""
    styles = template("player.css") + style
    script = template("player.js")
    return Template(template("page.html")).substitute(
        generator=markup(GENERATOR),
        policy=markup(_policy(styles, script)),
        title=markup(title),
        foreign="\n".join(_foreign(documents)),
        style=styles,
        before=before,
        after=after,
        still="\n".join(f"<pre>{markup(plain(d, canvases=False))}</pre>" for d in documents),
        data=script_json(_playable(documents, notes)),
        script=script,
    )


def _foreign(documents: Sequence[Document]) -> list[str]:
    """The legend of words that no source has: of traces, of other derivations, or of both."""
    traced = {document.generation.traced is not None for document in documents} or {False}
    kinds = [("vocabulary", "vocabulary", "V")] if False in traced else []
    kinds += [("gap", "stands in no source", GAP_SIGN)] if True in traced else []
    return [
        f'<li><span class="run {kind}">{words}</span> <b class="tag {kind}">{sign}</b></li>'
        for kind, words, sign in kinds
    ]


@cache
def template(name: str) -> str:
    """A file of the package's templates."""
    return resources.files("textsplice.report").joinpath("templates", name).read_text(encoding="utf-8")


def _policy(style: str, script: str) -> str:
    """Nothing may be loaded; only this style and this script may run."""
    return f"default-src 'none'; style-src '{_hash(style)}'; script-src '{_hash(script)}'"


def player_hashes() -> tuple[str, str]:
    """Of the style and the script of a player, for a page that shows one within its own policy."""
    return _hash(template("player.css")), _hash(template("player.js"))


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _playable(documents: Sequence[Document], notes: Mapping[str, str]) -> dict[str, object]:
    """What the script needs. Examples share neighbors, so each neighbor's text is included once."""
    pool: dict[OfferedNeighbor, int] = {}
    used: set[OfferedNeighbor] = set()
    for document in documents:
        for source, neighbor in enumerate(document.sources.neighbors, 1):
            pool.setdefault(neighbor, len(pool))
            if source in document.used:
                used.add(neighbor)
    written = {
        neighbor: _written(document, _whole(document, source))
        for document in documents
        for source, neighbor in enumerate(document.sources.neighbors, 1)
    }
    return {
        "neighbors": [
            {
                "id": neighbor.id,
                "text": neighbor.text if neighbor in used else "",
                "tokens": written[neighbor],
            }
            for neighbor in pool
        ],
        "derivations": [_derivation(d, pool, notes.get(d.generation.id, "")) for d in documents],
    }


def _derivation(document: Document, pool: Mapping[OfferedNeighbor, int], note: str) -> dict[str, object]:
    """The splices to replay, and what the script can't know, such as where spaces go."""
    generation = document.generation
    has_score = generation.policy != "oracle" and not generation.traced and math.isfinite(generation.score)
    return {
        "id": generation.id,
        "text": generation.text,
        "status": generation.status,
        "reason": generation.reason or "",
        "policy": generation.policy,
        "score": generation.score if has_score else None,
        "attribution": generation.attribution,
        "coverage": coverage(document),
        "seams": str(generation.seams or ""),
        "unattested": [seam.token for seam in unattested(generation)],
        "spaces": "".join(str(int(spaced)) for spaced in final_spaces(document)),
        "rules": rule_texts(document),
        "note": note,
        "cells": _cells(document),
        "table": _written(document, _whole(document, TABLE)),
        "neighbors": [pool[neighbor] for neighbor in document.sources.neighbors],
        "words": {str(number): [word] for number, word in document.sources.words.items()},
        "steps": [
            {
                "splice": list(step.splice),
                "sentence": sentence(document, number),
                "spaces": "".join(str(int(w.startswith(" "))) for w in _written(document, step.origins)),
            }
            for number, step in enumerate(document.steps)
        ],
    }


def _cells(document: Document) -> list[dict[str, object]]:
    """The table's values with their positions, and what the checker found, if one was asked.

    A field without values has an empty one, and one whose values are never copied has no positions.
    """
    filled = {cell.field for cell in document.cells}
    cells: list[dict[str, object]] = []
    for field, values in document.generation.table:
        own = [cell for cell in document.cells if cell.field == field]
        own = own if field in filled else [Cell(field, value, 0, 0) for value in values or ("",)]
        cells += [cell._asdict() | _mark(cell, document) for cell in own]
    return cells


def _mark(cell: Cell, document: Document) -> dict[str, object]:
    """What the checker found of a value, or of a field that has none and is said all the same."""
    if document.slots is None:
        return {}
    mark = checked(cell, document.slots)
    return {"mark": [*mark]} if cell.value or mark != NOT_ASKED else {}


def _whole(document: Document, source: int) -> list[Origin]:
    return span(source, 0, len(document.sources[source]))


def _written(document: Document, origins: Sequence[Origin]) -> list[str]:
    """Tokens as they are shown, each with the space before it; a masked word is empty."""
    visible = iter(spacing(document.writing, origins))
    written: list[str] = []
    for token in map(document.token, origins):
        if token in (BEGIN, END):
            written.append(token)
            continue
        _, shown, spaced = next(visible)
        word = "" if shown == MASK else shown.strip(" ") or shown
        written.append(f" {word}" if spaced else word)
    return written
