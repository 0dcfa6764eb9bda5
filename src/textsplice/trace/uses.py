"""Which characters of a text were copied from given sources."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from textsplice.search.generation import Generation, utf16_spans
from textsplice.search.spans import pieces, selectors


@dataclass(frozen=True, slots=True)
class Use:
    """`text[start:stop]` of a generation was copied from one source in one piece.

    `start` and `stop` are None if a splice copied from the source, but later ones replaced all of it.
    """

    id: str
    source: str
    start: int | None
    stop: int | None
    text: str

    @property
    def quote(self) -> str:
        """The characters themselves."""
        return self.text[self.start : self.stop] if self.start is not None else ""

    def to_dict(self) -> dict[str, object]:
        """As JSON, with the selectors of W3C Web Annotation, which count code points."""
        if self.start is None or self.stop is None:
            return {"id": self.id, "source": self.source, "start": None, "stop": None, "utf16": None}
        return {
            "id": self.id,
            "source": self.source,
            "start": self.start,
            "stop": self.stop,
            "utf16": list(utf16_spans(self.text, [(self.start, self.stop)])[0]),
            "selector": selectors(self.text, self.start, self.stop),
        }


def uses(
    generation: Generation, sources: Collection[str], texts: Mapping[str, str] | None = None
) -> list[Use]:
    """Every use of these sources (ids of the store) in a text, from left to right.

    With `texts`, which maps their texts to their ids, also under any other id that a row may give them.
    """
    numbering = generation.sources.numbering
    wanted: dict[int, str] = {}
    for rank, neighbor in enumerate(generation.sources.neighbors):
        if neighbor.id in sources:
            wanted[numbering.neighbor(rank)] = neighbor.id
        elif texts and neighbor.text in texts:
            wanted[numbering.neighbor(rank)] = texts[neighbor.text]
    if not wanted:
        return []
    found = [
        Use(generation.id, wanted[piece.source], piece.start, piece.stop, generation.text)
        for piece in pieces(generation.provenance)
        if piece.source in wanted
    ]
    seen = {use.source for use in found}
    spliced = {wanted[s.neighbor] for s in generation.splices if s.neighbor in wanted}
    found += [Use(generation.id, name, None, None, generation.text) for name in sorted(spliced - seen)]
    return found
