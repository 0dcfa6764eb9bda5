"""What has become of the sources of a text, in a store that has moved on since the text was made.

A row holds the whole text of each source, which is more than a hash of it, so it needs no further key. Who
changes a source's text in a row could change its hash too. So what a row says of its sources is known only if
something else vouches for it: the store that made it, or one that was made from that store and kept the
hashes of what was taken out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal, NamedTuple

from textsplice.files import text_hash
from textsplice.oracle.sources import OfferedNeighbor
from textsplice.oracle.writing import unmasked
from textsplice.runs.lineage import Earlier, source_hash
from textsplice.search.approved import APPROVED
from textsplice.search.generation import Generation
from textsplice.search.spans import Piece, pieces
from textsplice.text.tokens import BEGIN, END, MASK, Tokenizer

# same: the source has the text it had. kept: it has another, in which the span stands as it did.
# changed: the span no longer stands in it. masked: it does, but belongs to a value of its table now.
# moved: the text stands under another id. withdrawn: it was taken out. gone: there is no such id.
Fate = Literal["same", "kept", "changed", "masked", "moved", "withdrawn", "gone"]
UNCHANGED: tuple[Fate, ...] = ("same", "kept")


class Span(NamedTuple):
    """`text[start:stop]` was copied from a source, and what has become of that; `now` are ids it moved to."""

    source: str
    start: int
    stop: int
    quote: str
    fate: Fate
    now: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, object]:
        """As JSON, with the hash of the quoted characters."""
        return {**self._asdict(), "now": list(self.now), "sha256": text_hash(self.quote)}

    def __str__(self) -> str:
        """`12-19 ' is an' of 't5': the text is gone`."""
        told = {
            "same": "unchanged",
            "kept": "the text has changed, but not here",
            "changed": "the text has changed here",
            "masked": "belongs to a value of its table now",
            "moved": f"the text is now {' and '.join(map(repr, self.now))}",
            "withdrawn": "the text was withdrawn",
            "gone": "the text is gone",
        }
        return f"{self.start}-{self.stop} {self.quote!r} of {self.source!r}: {told[self.fate]}"


def _no_stores() -> dict[str, Earlier]:
    return {}


@dataclass(frozen=True)
class Held:
    """The texts that a store holds now.

    `earlier` are the stores it was made from, by name.
    """

    name: str
    ids: Sequence[str]
    texts: Sequence[str]
    neighbor: Callable[[int], OfferedNeighbor]  # a row as a source, with its values masked
    tokenizer: Tokenizer
    earlier: Mapping[str, Earlier] = field(default_factory=_no_stores)

    @cached_property
    def rows_of(self) -> dict[str, list[int]]:
        """The rows of each id."""
        rows: dict[str, list[int]] = {}
        for row, name in enumerate(self.ids):
            rows.setdefault(name, []).append(row)
        return rows

    @cached_property
    def ids_of(self) -> dict[str, list[str]]:
        """The ids of each text."""
        ids: dict[str, list[str]] = {}
        for name, text in zip(self.ids, self.texts, strict=True):
            ids.setdefault(text, []).append(name)
        return ids

    def under(self, name: str) -> list[OfferedNeighbor]:
        """The texts of an id: a corpus may give one to several."""
        return [self.neighbor(row) for row in self.rows_of.get(name, [])]

    def has(self, neighbor: OfferedNeighbor, *, masks: bool) -> bool:
        """Whether a source has the text here that it is said to have, and the same masks."""
        return any(
            each.text == neighbor.text and (not masks or each.tokens == neighbor.tokens)
            for each in self.under(neighbor.id)
        )

    def invented(self, generation: Generation) -> OfferedNeighbor | None:
        """A source that a row of an earlier store names, though that store never had it."""
        taken_out = self.earlier[generation.run].taken_out
        masks = is_masked(generation)
        for neighbor in generation.sources.neighbors:
            known = taken_out.get(neighbor.id, frozenset())
            said = source_hash(neighbor.text, neighbor.tokens) if masks else text_hash(neighbor.text)
            later = neighbor.id in self.earlier[generation.run].added
            if said not in known and (later or not self.has(neighbor, masks=masks)):
                return neighbor
        return None


def is_masked(generation: Generation) -> bool:
    """Whether its sources have their own values masked: all but those of a trace without a record, and but
    an approved text, which is given as it is."""
    if generation.traced is None:
        return generation.policy != APPROVED.name
    return bool(generation.sources.table.segments)


def spans_now(generation: Generation, held: Held) -> list[Span]:
    """What has become of each span of a text that was copied from a text of a store, from left to right."""
    numbering = generation.sources.numbering
    masks = is_masked(generation)
    found: list[Span] = []
    for piece in pieces(generation.provenance):
        if not numbering.is_neighbor(piece.source):
            continue
        neighbor = generation.sources.neighbors[numbering.rank(piece.source)]
        fate = _fate(neighbor, piece, held, generation, masks=masks)
        now = tuple(held.ids_of[neighbor.text]) if fate == "moved" else ()
        quote = generation.text[piece.start : piece.stop]
        found.append(Span(neighbor.id, piece.start, piece.stop, quote, fate, now))
    return found


def _fate(
    neighbor: OfferedNeighbor, piece: Piece, held: Held, generation: Generation, *, masks: bool
) -> Fate:
    before = held.earlier.get(generation.run)
    if before and neighbor.id in before.taken_out:
        return "withdrawn"
    there = held.under(neighbor.id)
    same = [each for each in there if each.text == neighbor.text]
    if not same and neighbor.text in held.ids_of:
        return "moved"
    if not there:
        return "gone"
    copied = _Written.of(neighbor, generation.cut)
    stands = [_stands(copied, piece, each, held.tokenizer, masks=masks) for each in same or there]
    if "yes" in stands:
        return "same" if same else "kept"
    return "masked" if "masked" in stands else "changed"


class _Written(NamedTuple):
    """A source's tokens as they were written, and whether a space comes before each."""

    tokens: Sequence[str]
    spaced: Sequence[bool | None]

    @classmethod
    def of(cls, neighbor: OfferedNeighbor, cut: Tokenizer) -> _Written:
        words = unmasked(neighbor, cut)
        if words is None:
            return cls(neighbor.tokens, [None] * len(neighbor.tokens))
        return cls((BEGIN, *words, END), (None, None, *words.spaced[1:], None))


def _stands(
    copied: _Written, piece: Piece, there: OfferedNeighbor, cut: Tokenizer, *, masks: bool
) -> Literal["yes", "masked", "no"]:
    """Whether a span stands in a text, with the same spaces inside, and may be copied from there."""
    begin, end = piece.begin, piece.end
    written = _Written.of(there, cut)
    words, inside = list(copied.tokens[begin:end]), list(copied.spaced[begin + 1 : end])
    found: Literal["masked", "no"] = "no"
    for first in range(len(written.tokens) - len(words) + 1):
        last = first + len(words)
        if list(written.tokens[first:last]) != words or list(written.spaced[first + 1 : last]) != inside:
            continue
        if not masks or MASK not in there.tokens[first:last]:
            return "yes"
        found = "masked"
    return found
