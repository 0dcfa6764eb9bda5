"""Rules about words: none generated, none forbidden."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import ClassVar

import regex

from textsplice.errors import InputError
from textsplice.oracle.sources import OfferedNeighbor, SourceKind
from textsplice.policy.problem import Draft
from textsplice.search.rules.reading import strings
from textsplice.search.rules.rule import Rule
from textsplice.text.tokens import BEGIN, END, normalize

_LETTER = r"[\p{L}\p{M}\p{N}_\u200c\u200d]"  # or digit: what the tokenizer makes words of
_PLAIN_MARKS = str.maketrans("‘’‑", "''-")


@dataclass(frozen=True)
class CopyOnly(Rule):
    """All words are copied from the table or a neighbor, none is generated from the vocabulary."""

    name: ClassVar[str] = "copy-only"

    def permits(self, word: str, kind: SourceKind) -> bool:
        return kind != "vocabulary" or word in (BEGIN, END)

    def violation(self, draft: Draft) -> str | None:
        for token, origin in zip(draft.tokens, draft.origins, strict=True):
            if draft.sources.kind(origin.neighbor) == "vocabulary":
                return f"{token!r} is not copied"
        return None


@dataclass(frozen=True)
class ForbidWords(Rule):
    """None of these words or phrases appears in the text, in upper or lower case.

    A match is not touched by a letter or digit: `can` is found in `can't`, `3` not in `3.5`. Spaces around
    punctuation don't count, so it is found however the tokenizer splits the text.
    """

    words: tuple[str, ...]
    patterns: tuple[regex.Pattern[str], ...] = field(repr=False, compare=False)
    name: ClassVar[str] = "forbid-words"

    def __init__(self, words: Sequence[str]) -> None:
        words = (words,) if isinstance(words, str) else tuple(words)
        object.__setattr__(self, "words", words)
        object.__setattr__(self, "patterns", tuple(map(_pattern, words)))

    def admits(self, neighbor: OfferedNeighbor) -> bool:
        # A policy does not know the rule: it could not be trusted to repair a neighbor that says the word.
        return self._found(neighbor.tokens) is None

    def permits(self, word: str, kind: SourceKind) -> bool:
        del kind
        return self._found((word,)) is None

    def violation(self, draft: Draft) -> str | None:
        found = self._found(draft.tokens)
        return f"the forbidden {found!r} stands in the text" if found else None

    def to_dict(self) -> dict[str, object]:
        return {"rule": self.name, "words": list(self.words)}

    @classmethod
    def from_dict(cls, data: Mapping[str, object], where: str) -> ForbidWords:
        return cls(strings(data, "words", where))

    def _found(self, tokens: Sequence[str]) -> str | None:
        text = _folded(" ".join(tokens))
        for word, pattern in zip(self.words, self.patterns, strict=True):
            if pattern.search(text):
                return word
        return None


def _pattern(phrase: str) -> regex.Pattern[str]:
    """What finds a phrase in tokens that are joined by spaces."""
    atoms: list[str] = regex.findall(rf"{_LETTER}+|\S", _folded(normalize(phrase)))
    if not atoms:
        raise InputError(f"{phrase!r} is no word to forbid.", remedy="Give a word or a phrase.")
    found = regex.escape(atoms[0])
    for before, atom in pairwise(atoms):
        words = _is_word(before) and _is_word(atom)
        found += (r"\s+" if words else r"\s*") + regex.escape(atom)
    left = rf"(?<!{_LETTER})(?<!\p{{N}}[.,:](?=\p{{N}}))" if _is_word(atoms[0]) else ""
    right = rf"(?!{_LETTER})(?!(?<=\p{{N}})[.,:]\p{{N}})" if _is_word(atoms[-1]) else ""
    return regex.compile(left + found + right)


def _folded(text: str) -> str:
    """Text whose letters, apostrophes and hyphens can be compared."""
    return text.casefold().translate(_PLAIN_MARKS)


def _is_word(atom: str) -> bool:
    return regex.match(_LETTER, atom) is not None
