"""Whether a value fits the word before or after it: no `the the old mill`, no `an moderate walk`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from textsplice.corpus.table import Table
from textsplice.text.tokens import tokenize

# English, German, Spanish, French.
ARTICLES = frozenset(
    (
        *("the", "a", "an"),
        *("der", "die", "das", "dem", "den", "des", "ein", "eine", "einen", "einem", "einer"),
        *("el", "la", "los", "las", "un", "una", "unos", "unas"),
        *("le", "les", "une"),
    )
)
FORMS = {"a": "an", "an": "a"}  # of one article, by the sound that follows
ENOUGH = 5  # texts that write the other form before the same letter


@dataclass(frozen=True)
class Beside:
    """How often texts write each form of the article before each letter."""

    before: Counter[tuple[str, str]] = field(default_factory=Counter[tuple[str, str]])

    @classmethod
    def of(cls, texts: Iterable[str]) -> Beside:
        """What texts do."""
        before = Counter[tuple[str, str]]()
        for text in texts:
            tokens = [token.casefold() for token in tokenize(text)]
            pairs = pairwise(tokens)
            before.update({(word, after[0]) for word, after in pairs if word in FORMS and after[0].isalpha()})
        return cls(before)

    def misfits(self, text: str, table: Table) -> Iterator[str]:
        """What reads wrong where a value meets the words beside it, as clauses, each once."""
        tokens = tokenize(text)
        folded = [token.casefold() for token in tokens]
        found: dict[str, None] = {}
        for value in (value for _, values in table for value in values):
            words = [token.casefold() for token in tokenize(value)]
            for start in _places(words, folded):
                stop = start + len(words)
                if start > 0 and self._clash(tokens[start - 1], tokens[start]):
                    found[f"{tokens[start - 1]} {tokens[start]}"] = None
                if stop < len(tokens) and _same(tokens[stop - 1], tokens[stop]):
                    found[f"{tokens[stop - 1]} {tokens[stop]}"] = None
        return (f"it says {pair!r}, which hardly reads well" for pair in found)

    def _clash(self, word: str, first: str) -> bool:
        """Whether a word does not go with the first word of a value."""
        if _same(word, first) or (_is_article(word) and _is_article(first)):
            return True
        form, letter = word.casefold(), first[0].casefold()
        if form not in FORMS or not letter.isalpha():
            return False
        return not self.before[form, letter] and self.before[FORMS[form], letter] >= ENOUGH


def _same(word: str, other: str) -> bool:
    return len(word) > 1 and word.isalpha() and word.casefold() == other.casefold()


def _is_article(word: str) -> bool:
    """A capital A may be a grade, or a name."""
    return word.casefold() in ARTICLES and word != "A"


def _places(words: Sequence[str], text: Sequence[str]) -> Iterator[int]:
    for start in range(len(text) - len(words) + 1 if words else 0):
        if list(text[start : start + len(words)]) == list(words):
            yield start
