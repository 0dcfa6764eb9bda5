"""Rules about words: none generated, none forbidden."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import ClassVar

from textsplice.errors import InputError
from textsplice.oracle.sources import OfferedNeighbor, SourceKind
from textsplice.policy.problem import Draft
from textsplice.search.rules.reading import only, strings, truth
from textsplice.search.rules.rule import Rule
from textsplice.search.rules.spelling import Phrase, find
from textsplice.text.tokens import BEGIN, END


@dataclass(frozen=True)
class CopyOnly(Rule):
    """All words are copied from the table or a neighbor, none is generated from the vocabulary."""

    name: ClassVar[str] = "copy-only"
    of_sources: ClassVar[bool] = True

    def permits(self, word: str, kind: SourceKind) -> bool:
        return kind != "vocabulary" or word in (BEGIN, END)

    def violation(self, draft: Draft) -> str | None:
        for token, origin in zip(draft.tokens, draft.origins, strict=True):
            if draft.sources.kind(origin.neighbor) == "vocabulary":
                return f"{token!r} is not copied"
        return None


@dataclass(frozen=True)
class ForbidWords(Rule):
    """None of these words or phrases appears in the text, however it is spelled (`spelling.py`).

    A match is not touched by a letter or digit: `can` is found in `can't`, `3` not in `3.5`. Spaces around
    punctuation don't count, so it is found however the tokenizer splits the text. With `lookalikes` it is
    found in letters that look like its own, too.
    """

    words: tuple[str, ...]
    lookalikes: bool = False
    phrases: tuple[Phrase, ...] = field(repr=False, compare=False, default=())
    name: ClassVar[str] = "forbid-words"

    def __init__(self, words: Sequence[str], *, lookalikes: bool = False) -> None:
        words = (words,) if isinstance(words, str) else tuple(words)
        object.__setattr__(self, "words", words)
        object.__setattr__(self, "lookalikes", lookalikes)
        object.__setattr__(self, "phrases", tuple(_phrase(word, lookalikes) for word in words))
        # The same words are asked about for every table.
        object.__setattr__(self, "_permitted", lru_cache(maxsize=1 << 16)(self._is_clean))

    def admits(self, neighbor: OfferedNeighbor) -> bool:
        # A policy does not know the rule: it could not be trusted to repair a neighbor that says the word.
        return find(self.phrases, neighbor.tokens) is None

    def permits(self, word: str, kind: SourceKind) -> bool:
        del kind
        return self._permitted(word)

    def violation(self, draft: Draft) -> str | None:
        found = find(self.phrases, draft.tokens)
        return None if found is None else f"the forbidden {self.words[found]!r} appears in the text"

    def to_dict(self) -> dict[str, object]:
        said: dict[str, object] = {"rule": self.name, "words": list(self.words)}
        return {**said, "lookalikes": True} if self.lookalikes else said

    @classmethod
    def from_dict(cls, data: Mapping[str, object], where: str) -> ForbidWords:
        only(data, ("words", "lookalikes"), where)
        return cls(strings(data, "words", where), lookalikes=truth(data, "lookalikes", where))

    def _permitted(self, word: str) -> bool:
        return self._is_clean(word)  # replaced by one that remembers

    def _is_clean(self, word: str) -> bool:
        return find(self.phrases, (word,)) is None


def _phrase(word: str, lookalikes: bool) -> Phrase:
    phrase = Phrase.of(word, lookalikes=lookalikes)
    if phrase is None:
        raise InputError(f"{word!r} is no word to forbid.", remedy="Give a word or a phrase.")
    return phrase
