"""Writing out tokens with their spaces: what was copied in one piece reads exactly as in its source."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from textsplice.corpus.table import Table
from textsplice.oracle.numbering import TABLE
from textsplice.oracle.sources import OfferedNeighbor, Sources
from textsplice.oracle.splice import Origin
from textsplice.text.linearize import value_spaces
from textsplice.text.seams import Placed
from textsplice.text.tokens import (
    BEGIN,
    END,
    MASK,
    OLD_TOKENIZERS,
    TOKENIZERS,
    Detokenized,
    Tokenizer,
    Tokens,
    tokenize,
    write,
)

Spaces = Sequence[bool | None]


class Writing:
    """Writes out tokens of an example's sources; two that are adjacent in a source stand as they do there.

    At a seam, where they are not, `text.seams` decides. Rows of format 1 are written by its old rule alone.
    """

    def __init__(self, sources: Sources, table: Table, tokenizer: Tokenizer) -> None:
        self.sources = sources
        self.table = table
        self.tokenizer: Tokenizer = tokenizer
        self._spaces: dict[int, Spaces] = {}

    def write(self, origins: Sequence[Origin]) -> Detokenized:
        """The text of tokens, and the characters of each; begin and end must not be among them."""
        if self.tokenizer in OLD_TOKENIZERS:
            placed = [Placed(self.sources.token(origin)) for origin in origins]
            return write(placed, [None] * len(placed), self.tokenizer)
        placed = [self._placed(origin) for origin in origins]
        given: list[bool | None] = []
        before: Origin | None = None
        for origin, each in zip(origins, placed, strict=True):
            adjacent = before is not None and origin[:2] == (before.neighbor, before.position + 1)
            given.append(each.before if adjacent else None)
            before = origin
        return write(placed, given, self.tokenizer)

    def _placed(self, origin: Origin) -> Placed:
        source, position, _ = origin
        spaces = self._spaces.get(source)
        if spaces is None:
            spaces = self._spaces[source] = self._spaces_of(source)
        after = spaces[position + 1] if position + 1 < len(spaces) else None
        before = spaces[position] if position < len(spaces) else None
        return Placed(self.sources.token(origin), before, after)

    def _spaces_of(self, source: int) -> Spaces:
        """Whether a space comes before each token of a source; None where it begins or is not known."""
        if source == TABLE:
            return value_spaces(self.table, self.tokenizer)
        numbering = self.sources.numbering
        if numbering.is_word(source):
            return ()
        words = unmasked(self.sources.neighbors[numbering.rank(source)], self.tokenizer)
        return (None, None, *words.spaced[1:], None) if words else ()


def unmasked(neighbor: OfferedNeighbor, tokenizer: Tokenizer) -> Tokens | None:
    """The tokens of a neighbor's text, without begin and end; None if its masked tokens are not made of them.

    A store of an earlier version may have cut the text as that version did.
    """
    words = _reading(neighbor.text, tokenizer)
    if _fits(words, neighbor.tokens):
        return words
    if tokenizer in OLD_TOKENIZERS:
        return None
    words = _reading(neighbor.text, OLD_TOKENIZERS[TOKENIZERS.index(tokenizer)])
    return words if _fits(words, neighbor.tokens) else None


@lru_cache(maxsize=1024)
def _reading(text: str, tokenizer: Tokenizer) -> Tokens:
    return tokenize(text, tokenizer)


def _fits(words: Tokens, masked: Sequence[str]) -> bool:
    return len(masked) == len(words) + 2 and all(
        token in (word, MASK) for word, token in zip((BEGIN, *words, END), masked, strict=True)
    )
