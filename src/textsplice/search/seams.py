"""Seams: where spans from different places meet in a text, and whether people have written such a join.

A seam is *attested* if the words across it stand in the same order in some text of the store: the trigram
around the word before it and the one around the word after it. Values of the table are masks there, typed by
their field, and so are the values of the store's own tables.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from textsplice.neighbors.trigrams import Trigrams
from textsplice.oracle.numbering import TABLE
from textsplice.oracle.sources import Sources
from textsplice.oracle.splice import Origin
from textsplice.policy.problem import Draft
from textsplice.search.reading import JsonRow
from textsplice.text.typed import typed


class Seam(NamedTuple):
    """The seam before a token: `text[start:stop]` is the space between the tokens that meet, often one blank.

    The seam at the end of a text is before the token that would come next.
    """

    token: int
    start: int
    stop: int


@dataclass(frozen=True, slots=True)
class Seams:
    """How many seams a text has, and those that are not attested, from left to right."""

    count: int
    unattested: tuple[Seam, ...]

    @property
    def score(self) -> float:
        """The share of seams that are attested; 1 if there are none."""
        return 1 - len(self.unattested) / self.count if self.count else 1.0

    def __str__(self) -> str:
        told = f"{self.count} seam{'' if self.count == 1 else 's'}"
        return f"{told}, {len(self.unattested)} unattested" if self.unattested else told

    def to_dict(self) -> dict[str, object]:
        """The key `seams` of a row."""
        return {
            "count": self.count,
            "score": self.score,
            "unattested": [seam._asdict() for seam in self.unattested],
        }

    @classmethod
    def from_row(cls, row: JsonRow) -> Seams:
        """Reads what `to_dict` wrote; `InputError` if something is missing or of another type."""
        (count,) = row.numbers([row.data.get("count")], "count", 1)
        found = (
            Seam(*each.numbers([each.data.get(key) for key in Seam._fields], "unattested", 3))
            for each in row.rows("unattested")
        )
        return cls(count, tuple(found))


def seam_places(origins: Sequence[Origin], sources: Sources) -> list[int]:
    """The tokens before which there is a seam, by the origins of a text's tokens without begin and end.

    The beginning of a text is one too unless its first word begins its source, and the end likewise.
    """
    if not origins:
        return []
    inside = (
        at for at, (one, other) in enumerate(pairwise(origins), 1) if not _adjacent(one, other, sources)
    )
    begins = _is_neighbor(origins[0], sources) and origins[0].position == 1
    last = origins[-1]
    ends = _is_neighbor(last, sources) and last.position == len(sources[last.neighbor]) - 2
    return [*([] if begins else [0]), *inside, *([] if ends else [len(origins)])]


def unattested(
    tokens: Sequence[str], origins: Sequence[Origin], sources: Sources, trigrams: Trigrams
) -> list[int]:
    """The seams of a text that are not attested, by the tokens that follow them.

    A seam inside a value of the table is: the table itself has these words in this order.
    """
    words, starts = typed(tokens, sources.table)
    stands = trigrams.around(words)
    places = {start: number for number, start in enumerate((*starts, len(tokens)))}
    found: list[int] = []
    for seam in seam_places(origins, sources):
        number = places.get(seam)
        if number is not None and not all(stands[max(number - 1, 0) : number + 1]):
            found.append(seam)
    return found


def cost_of_seams(weight: float, trigrams: Trigrams) -> Callable[[Draft], float]:
    """What the unattested seams of a text take from its merit."""

    def cost(draft: Draft) -> float:
        return weight * len(unattested(draft.tokens, draft.origins, draft.sources, trigrams))

    return cost


def find_seams(
    tokens: Sequence[str],
    origins: Sequence[Origin],
    spans: Sequence[tuple[int, int]],
    sources: Sources,
    trigrams: Trigrams,
) -> Seams:
    """The seams of a text whose tokens have these characters."""
    bad = unattested(tokens, origins, sources, trigrams)
    return Seams(len(seam_places(origins, sources)), tuple(seam_at(token, spans) for token in bad))


def seam_at(token: int, spans: Sequence[tuple[int, int]]) -> Seam:
    """The seam before a token of a text whose tokens have these characters."""
    start = spans[token - 1][1] if token else 0
    return Seam(token, start, spans[token][0] if token < len(spans) else start)


def not_where_they_are(
    seams: Seams, origins: Sequence[Origin], spans: Sequence[tuple[int, int]], sources: Sources
) -> str | None:
    """What a text itself says against the seams it is said to have, as a clause; None if nothing."""
    places = seam_places(origins, sources)
    if seams.count != len(places):
        return f"it is said to have {seams.count} seams, its splices make {len(places)}"
    said = [seam.token for seam in seams.unattested]
    if said != sorted(set(said).intersection(places)):
        return "what it says is an unattested seam is none"
    if any(seam != seam_at(seam.token, spans) for seam in seams.unattested):
        return "an unattested seam is not where it says"
    return None


def _adjacent(one: Origin, other: Origin, sources: Sources) -> bool:
    """Whether a token follows another in one source; each value of the table is one of its own."""
    if other[:2] != (one.neighbor, one.position + 1):
        return False
    return one.neighbor != TABLE or sources.segment_at(one.position) == sources.segment_at(other.position)


def _is_neighbor(origin: Origin, sources: Sources) -> bool:
    return sources.numbering.is_neighbor(origin.neighbor)
