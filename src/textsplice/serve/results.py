"""A generation as the API gives it: blocks of text with citations, slots, seams and gaps."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from textsplice.neighbors.trigrams import Trigrams
from textsplice.oracle.numbering import TABLE
from textsplice.search.generation import Generation, utf16_spans
from textsplice.search.spans import Piece, characters, pieces
from textsplice.slots.check import Status, check_slots
from textsplice.slots.lexicon import Lexicon

Json = dict[str, object]
_Cited = tuple[int, int, list[Json]]  # text[start:stop], and its citations
# What the page ticks off: a value that is said twice is said.
SLOTS: dict[Status, str] = {
    "ok": "said",
    "repeated": "said",
    "missing": "missing",
    "wrong": "wrong",
    "added": "wrong",
    "unchecked": "unchecked",
}


class Written(NamedTuple):
    """A result as it is sent; the thread that searches writes it, so that who is refused need not wait."""

    status: str
    json: bytes


def as_json(value: object) -> bytes:
    """A value as it is sent."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()


class Looking(NamedTuple):
    """What a text is looked at with: how values are worded, and which words meet in texts of the store."""

    lexicon: Lexicon
    trigrams: Trigrams


def result(generation: Generation, looking: Looking, alternatives: int) -> Json:
    """One text with all that the API says of it."""
    return {
        "id": generation.id,
        "status": generation.status,
        "reason": generation.reason,
        "doubts": [doubt.to_dict() for doubt in generation.doubts or ()],
        "text": generation.text,
        "content": list(blocks(generation)),
        "slots": slots(generation, looking.lexicon),
        "seams": seams(generation, looking.trigrams),
        "gaps": places(generation.text, [gap[:2] for gap in generation.gaps]),
        "alternatives": [each._asdict() for each in generation.alternatives[:alternatives]],
        "splices": len(generation.splices),
        "neighbors": len(generation.sources.neighbors),
        "row": generation.to_dict(),
    }


def blocks(generation: Generation) -> Iterator[Json]:
    """The text in pieces, each with what it was copied from; together they are the text.

    What stands between two pieces, a space mostly, is a block without citations, and so is a gap.
    """
    text = generation.text
    found = list(_whole(_cited(generation), len(text)))
    units = utf16_spans(text, [(start, stop) for start, stop, _ in found])
    for (start, stop, citations), utf16 in zip(found, units, strict=True):
        yield {
            "type": "text",
            "text": text[start:stop],
            "start": start,
            "stop": stop,
            "utf16": list(utf16),
            "citations": citations,
        }


def _whole(cited: Iterable[_Cited], length: int) -> Iterator[_Cited]:
    """The same with what is between them."""
    at = 0
    for start, stop, citations in cited:
        if at < start:
            yield at, start, []
        yield start, stop, citations
        at = stop
    if at < length:
        yield at, length, []


def _cited(generation: Generation) -> list[_Cited]:
    """What was copied in one piece; of the table, each value by itself; of a trace, each gap as one."""
    numbering, traced = generation.sources.numbering, generation.traced is not None
    found = [
        (piece.start, piece.stop, _citations(generation, piece))
        for piece in _pieces(generation)
        if not (traced and numbering.is_word(piece.source))
    ]
    return sorted([*found, *((gap.start, gap.stop, []) for gap in generation.gaps)], key=lambda each: each[0])


def _pieces(generation: Generation) -> Iterator[Piece]:
    sources = generation.sources
    run: list[tuple[int, int, int, int, int]] = []
    segment = None
    for place in generation.provenance:
        now = sources.segment_at(place.position) if place.source == TABLE else None
        if run and now != segment:
            yield from pieces(run)
            run = []
        segment = now
        run.append(place)
    yield from pieces(run)


def _citations(generation: Generation, piece: Piece) -> list[Json]:
    sources, numbering = generation.sources, generation.sources.numbering
    words = generation.text[piece.start : piece.stop]
    if piece.source == TABLE:
        field = sources.label(TABLE, piece.begin)
        return [{"type": "span", "source": "table", "field": field, "cited_text": words}]
    if numbering.is_word(piece.source):
        return [{"type": "span", "source": "vocabulary", "cited_text": words}]
    neighbor = sources.neighbors[numbering.rank(piece.source)]
    place = characters(neighbor, piece.begin, piece.end, generation.cut)
    cited: Json = {"type": "span", "source": "text", "id": neighbor.id, "cited_text": words}
    if place is not None:
        start, stop = place
        cited |= {"cited_text": neighbor.text[start:stop], "start": start, "stop": stop}
    return [cited]


def slots(generation: Generation, lexicon: Lexicon) -> list[Json]:
    """Each value of the record, and whether the text says it."""
    if not generation.table.fields or not generation.text:
        return []
    found = check_slots(generation.text, generation.table, lexicon).slots
    return [
        {"field": slot.field, "value": slot.value or slot.said, "status": SLOTS[slot.status]}
        for slot in found
    ]


def seams(generation: Generation, trigrams: Trigrams) -> Json:
    """Where spans meet as in no text of the store."""
    found = generation.seams or (generation.with_seams(trigrams).seams if generation.tokens else None)
    if found is None:
        return {"count": 0, "unattested": []}
    joints = [(seam.start, seam.stop) for seam in found.unattested]
    return {"count": found.count, "unattested": places(generation.text, joints)}


def places(text: str, ranges: Sequence[tuple[int, int]]) -> list[Json]:
    """Ranges of characters, also in UTF-16 units."""
    return [
        {"start": start, "stop": stop, "utf16": list(utf16)}
        for (start, stop), utf16 in zip(ranges, utf16_spans(text, ranges), strict=True)
    ]
