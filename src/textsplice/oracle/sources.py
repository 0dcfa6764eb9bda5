"""The texts that a derivation splices from, each at its number."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import overload

from textsplice.errors import InputError
from textsplice.oracle.numbering import TABLE, Numbering, SourceKind
from textsplice.oracle.splice import Origin, Splice
from textsplice.text.linearize import Linearized, Segment

__all__ = ["OfferedNeighbor", "SourceKind", "Sources"]


@dataclass(frozen=True, slots=True)
class OfferedNeighbor:
    """A training text offered for splicing: its id in the store, the text as written, its masked tokens."""

    id: str
    text: str
    tokens: tuple[str, ...]


@lru_cache(maxsize=1024)
def _numbering(neighbors: int) -> Numbering:
    return Numbering(neighbors)


@dataclass(frozen=True, slots=True)
class Sources(Sequence[Sequence[str]]):
    """The table, the offered neighbors and the vocabulary words of one example, as `Numbering` numbers them.

    `words` maps ids to words. A generation keeps only the words it uses; other ids raise `InputError`.
    """

    table: Linearized
    neighbors: tuple[OfferedNeighbor, ...]
    words: Mapping[int, str]

    @property
    def numbering(self) -> Numbering:
        """The numbers of these sources."""
        return _numbering(len(self.neighbors))

    @property
    def first_word(self) -> int:
        """The source of word id 0."""
        return self.numbering.first_word

    def __len__(self) -> int:
        return self.numbering.word(1 + max(self.words, default=-1))

    @overload
    def __getitem__(self, index: int) -> Sequence[str]: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Sequence[str]]: ...
    def __getitem__(self, index: int | slice) -> Sequence[str] | Sequence[Sequence[str]]:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        numbering = self.numbering
        if index == TABLE:
            return self.table.tokens
        if numbering.is_neighbor(index):
            return self.neighbors[numbering.rank(index)].tokens
        word = self.words.get(numbering.word_id(index))
        if word is None:
            raise InputError(f"source {index} is neither a neighbor nor a word that was used.")
        return (word,)

    def using(self, splices: Sequence[Splice], words: Sequence[str]) -> Sources:
        """The same sources with only those vocabulary words that the splices use."""
        numbering = self.numbering
        used = {numbering.word_id(s.neighbor) for s in splices if numbering.is_word(s.neighbor)}
        return replace(self, words={number: words[number] for number in sorted(used)})

    def token(self, origin: Origin) -> str:
        """The token at a position of a source."""
        return self[origin.neighbor][origin.position]

    def kind(self, source: int) -> SourceKind:
        """What kind of text a source is."""
        return self.numbering.kind(source)

    def segment_at(self, position: int) -> Segment | None:
        """The segment of the table at a position; None for a field's name."""
        return next((s for s in self.table.segments if s.start <= position < s.stop), None)

    def is_field_name(self, origin: Origin) -> bool:
        """Whether a token is the name of a field of the table, which no text may hold."""
        return origin.neighbor == TABLE and self.segment_at(origin.position) is None

    def label(self, source: int, position: int) -> str:
        """A token's source for people: the field, the neighbor's id, or `vocabulary`."""
        kind = self.kind(source)
        if kind == "neighbor":
            return self.neighbors[self.numbering.rank(source)].id
        segment = self.segment_at(position) if kind == "table" else None
        return segment.field if segment else kind
