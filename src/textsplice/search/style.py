"""House style: wordings to avoid and whole sentences. Texts that keep it come before those that don't.

Unlike a rule it never makes a policy abstain: where no text keeps it, the one that keeps most of it is given.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from textsplice.config import SearchConfig
from textsplice.errors import ConfigError
from textsplice.oracle.numbering import TABLE
from textsplice.policy.problem import Draft
from textsplice.search.sentences import ends_with_mark
from textsplice.text.tokens import Tokenizer, tokenize

UNLESS, IF_RECORD_LACKS = "!", "?"  # "in the riverside !area", "restaurant ?eatType ?food"
# They begin a sentence, and hardly any name has them.
OPENERS = frozenset(("It", "It's", "Its", "They", "There", "This", "These", "We", "You"))


@dataclass(frozen=True, slots=True)
class Wording:
    """Words in a row, case-folded, and what excuses them: a word that follows, or any of these fields."""

    words: tuple[str, ...]
    unless: str = ""
    fields: frozenset[str] = frozenset()

    def times(self, tokens: Sequence[str]) -> int:
        """How often a case-folded text has it."""
        size = len(self.words)
        return sum(
            tuple(tokens[place : place + size]) == self.words
            and not (self.unless and tokens[place + size : place + size + 1] == [self.unless])
            for place in range(len(tokens) - size + 1)
        )


@dataclass(frozen=True, slots=True)
class Style:
    """What `search.avoid` and `search.whole_sentences` say."""

    avoid: tuple[Wording, ...]
    whole_sentences: bool

    @classmethod
    def of(cls, search: SearchConfig, tokenizer: Tokenizer) -> Style | None:
        """The style of these settings, if they have one."""
        if not (search.avoid or search.whole_sentences):
            return None
        return cls(tuple(_wording(each, tokenizer) for each in search.avoid), search.whole_sentences)

    def slips(self, draft: Draft) -> int:
        """How often a text breaks the style."""
        folded = [token.casefold() for token in draft.tokens]
        fields = {segment.field for segment in draft.sources.table.segments}
        slips = sum(wording.times(folded) for wording in self.avoid if not wording.fields & fields)
        if self.whole_sentences:
            slips += bool(folded) and not ends_with_mark(draft.tokens)
            slips += _run_together(draft)
        return slips

    def needs_origins(self, tokens: Sequence[str]) -> bool:
        """Whether only the origins of a text's words tell all of its slips."""
        return self.whole_sentences and any(_openers_inside(tokens))


def _wording(written: str, tokenizer: Tokenizer) -> Wording:
    phrase, *fields = written.split(f" {IF_RECORD_LACKS}")
    phrase, asks_word, word = phrase.partition(f" {UNLESS}")
    tokens = tuple(token.casefold() for token in tokenize(phrase, tokenizer))
    unless = tokenize(word, tokenizer)
    if not tokens or len(unless) != bool(asks_word) or not all(map(str.strip, fields)):
        raise ConfigError(
            f"search.avoid has {written!r}, which is no wording.",
            remedy='Write words and, if you like, what excuses them: a word that follows, "in the riverside '
            '!area", or fields of the record, "restaurant ?eatType ?food".',
        )
    return Wording(tokens, unless[0].casefold() if unless else "", frozenset(map(str.strip, fields)))


def _run_together(draft: Draft) -> int:
    """How often a word that begins a sentence follows a word, not a mark."""
    return sum(draft.origins[place].neighbor != TABLE for place in _openers_inside(draft.tokens))


def _openers_inside(tokens: Sequence[str]) -> Iterator[int]:
    """The places of words that begin a sentence and follow a word."""
    for place, (before, token) in enumerate(pairwise(tokens), 1):
        if token in OPENERS and before[-1:].isalnum():
            yield place
