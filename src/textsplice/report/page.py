"""The player: derivations, styles and script in one file that asks nobody for anything."""

from __future__ import annotations

import base64
import hashlib
import math
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import resources
from string import Template

from textsplice.report.document import Document
from textsplice.report.escape import markup, script_json
from textsplice.report.frames import frames, spacing
from textsplice.report.plain import plain, rule_texts
from textsplice.text.tokens import BEGIN, END, Tokenizer


def player(
    documents: Sequence[Document],
    *,
    title: str = "textsplice",
    notes: Mapping[str, str] | None = None,
) -> str:
    """One HTML file that plays derivations; `notes` say something of an example, by its id."""
    return page(documents, title=title, notes=notes or {}, before="", after="", style="")


def page(
    documents: Sequence[Document],
    *,
    title: str,
    notes: Mapping[str, str],
    before: str,
    after: str,
    style: str,
) -> str:
    """The player between two stretches of markup that must be escaped already."""
    styles = template("player.css") + style
    script = template("player.js")
    return Template(template("page.html")).substitute(
        policy=markup(_policy(styles, script)),
        title=markup(title),
        style=styles,
        before=before,
        after=after,
        still="\n".join(f"<pre>{markup(plain(document))}</pre>" for document in documents),
        data=script_json([_playable(d, notes.get(d.generation.id, "")) for d in documents]),
        script=script,
    )


@cache
def template(name: str) -> str:
    """A file of the package's templates."""
    return resources.files("textsplice.report").joinpath("templates", name).read_text(encoding="utf-8")


def _policy(style: str, script: str) -> str:
    """Nothing may be loaded, and only this style and this script may run."""
    return f"default-src 'none'; style-src '{_hash(style)}'; script-src '{_hash(script)}'"


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _playable(document: Document, note: str) -> dict[str, object]:
    """What the script needs: the splices to replay, and what it can't know, such as spaces."""
    generation, tokenizer = document.generation, document.generation.tokenizer
    has_score = generation.policy != "oracle" and math.isfinite(generation.score)
    return {
        "id": generation.id,
        "text": generation.text,
        "status": generation.status,
        "reason": generation.reason or "",
        "policy": generation.policy,
        "score": generation.score if has_score else None,
        "attribution": generation.attribution,
        "rules": rule_texts(document),
        "note": note,
        "cells": _cells(document),
        "sources": {str(index): _source(document, index, tokenizer) for index in _indices(document)},
        "steps": [
            {
                "splice": list(frame.step.splice),
                "sentence": frame.sentence,
                "spaces": _spaces(frame.step.canvas, tokenizer),
            }
            for frame in frames(document)
        ],
        "places": [
            {"source": place.source, "position": place.position, "step": place.step}
            for place in generation.provenance
        ],
        "spaces": _spaces(generation.tokens, tokenizer),
    }


def _indices(document: Document) -> list[int]:
    words = {source for source in document.used if document.kind(source) == "vocabulary"}
    return [*range(document.sources.first_word), *sorted(words)]


def _cells(document: Document) -> list[dict[str, object]]:
    """The table's values with their places; a field without values has none."""
    filled = {cell.field for cell in document.cells}
    cells: list[dict[str, object]] = []
    for field, _ in document.generation.table:
        cells += [cell._asdict() for cell in document.cells if cell.field == field]
        if field not in filled:
            cells.append({"field": field, "value": "", "start": 0, "stop": 0})
    return cells


def _source(document: Document, index: int, tokenizer: Tokenizer) -> dict[str, object]:
    tokens = document.sources[index]
    kind = document.kind(index)
    offered = document.sources.neighbors[index - 1] if kind == "neighbor" else None
    return {
        "kind": kind,
        "id": offered.id if offered else "",
        "text": offered.text if offered else "",
        "tokens": list(tokens),
        "spaces": _spaces(tokens, tokenizer),
    }


def _spaces(tokens: Sequence[str], tokenizer: Tokenizer) -> str:
    """One digit a token: 1 where a space stands before it."""
    visible = iter(spacing([t for t in tokens if t not in (BEGIN, END)], tokenizer))
    return "".join("0" if t in (BEGIN, END) else str(int(next(visible)[1])) for t in tokens)
