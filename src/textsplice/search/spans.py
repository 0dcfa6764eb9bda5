"""The spans of a text, each copied from one source in one piece, and the selectors that name them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from textsplice.oracle.numbering import TABLE
from textsplice.oracle.sources import OfferedNeighbor, Sources
from textsplice.oracle.writing import unmasked
from textsplice.text.tokens import Tokenizer

QUOTE_CONTEXT = 32  # characters on each side of a quote

Place = tuple[int, int, int, int, int]  # source, position, step, start, stop


class Piece(NamedTuple):
    """`text[start:stop]` was copied from the tokens `[begin:end]` of a source."""

    source: int
    begin: int
    end: int
    start: int
    stop: int


def pieces(places: Iterable[Place]) -> Iterator[Piece]:
    """The runs of tokens that are adjacent in source and text alike, from left to right."""
    piece: Piece | None = None
    for source, position, _, start, stop in places:
        if piece is not None and (source, position) == (piece.source, piece.end):
            piece = piece._replace(end=position + 1, stop=stop)
            continue
        if piece is not None:
            yield piece
        piece = Piece(source, position, position + 1, start, stop)
    if piece is not None:
        yield piece


def selectors(text: str, start: int, stop: int) -> list[dict[str, object]]:
    """A range of characters as W3C Web Annotation says it: by its position, and by what it quotes."""
    return [
        {"type": "TextPositionSelector", "start": start, "end": stop},
        {
            "type": "TextQuoteSelector",
            "exact": text[start:stop],
            "prefix": text[max(start - QUOTE_CONTEXT, 0) : start],
            "suffix": text[stop : stop + QUOTE_CONTEXT],
        },
    ]


def characters(neighbor: OfferedNeighbor, begin: int, end: int, cut: Tokenizer) -> tuple[int, int] | None:
    """The characters of some tokens of a neighbor in its text; None where normalizing it moved them."""
    words = unmasked(neighbor, cut)
    if words is None or words.text != neighbor.text:
        return None
    spans = words.spans  # without the begin, which is token 0 of a neighbor
    return spans[begin - 1][0], spans[end - 2][1]


def spans(
    text: str, copied: Iterable[Piece], gaps: Iterable[tuple[int, int]], sources: Sources, cut: Tokenizer
) -> list[dict[str, object]]:
    """The key `spans` of a row: each span by its selectors, and its source by the source's own."""
    found = [(piece.start, piece.stop, _source(sources, piece, cut)) for piece in copied]
    found += [(start, stop, None) for start, stop in gaps]
    return [
        {"selector": selectors(text, start, stop), "source": source}
        for start, stop, source in sorted(found, key=lambda each: each[0])
    ]


def _source(sources: Sources, piece: Piece, cut: Tokenizer) -> Mapping[str, object] | None:
    numbering = sources.numbering
    if piece.source == TABLE:
        return {"field": sources.label(TABLE, piece.begin)}
    if numbering.is_word(piece.source):
        return {"word": numbering.word_id(piece.source)}
    neighbor = sources.neighbors[numbering.rank(piece.source)]
    place = characters(neighbor, piece.begin, piece.end, cut)
    return {"id": neighbor.id, **({"selector": selectors(neighbor.text, *place)} if place else {})}
