"""How the values of one field are worded, as phrases over words."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import Literal

from textsplice.errors import ConfigError
from textsplice.parsing import short_repr

GAP = frozenset(("...",))
_WORD = re.compile(r"\d+(?:[.,]\d+)*|[^\W\d_]+(?:['’](?:t|re|ve|ll)\b)?|[£$€]|[.!?,;:]")

# One place of a phrase is the set of words allowed there; GAP is up to four words of any kind.
Phrase = tuple[frozenset[str], ...]

# How texts say the values of a field. "" is a field of which nothing is known: said, but for yes and no.
FieldKind = Literal["said", "list", "number", "date", "yes/no", "worded", "coded", "unsaid"]

MOST_VARIANTS = 1024
LONGEST_PHRASE = 10_000  # characters, with its sets written out


@dataclass(frozen=True, slots=True)
class FieldWordings:
    """How the values of one field are worded.

    Of the values in `partial` only some wordings are known: a text that has none may say them all the same.
    If they are `exclusive`, no value is a wording of another one: said word for word, another one is wrong.
    """

    wordings: Mapping[str, tuple[str, ...]]
    values: tuple[str, ...] = ()
    verbatim: bool = True
    repeatable: bool = False
    generic: frozenset[str] = frozenset()
    neutral: tuple[str, ...] = ()
    kind: FieldKind | Literal[""] = ""
    partial: frozenset[str] = frozenset()
    exclusive: bool = False

    def known_values(self) -> list[str]:
        """All values; those with wordings come first."""
        return list(dict.fromkeys((*self.wordings, *self.values)))


def words_of(text: str) -> list[str]:
    """Lowercase words without accents, numbers, currency signs, and punctuation that ends clauses."""
    return _WORD.findall((text if text.isascii() else _without_accents(text)).lower())


def placed_words(text: str) -> list[tuple[str, int, int]]:
    """The same words, each with its characters `text[start:stop]`."""
    pieces = list(text) if text.isascii() else list(map(_without_accents, text))
    at = [place for place, piece in enumerate(pieces) for _ in piece]
    found = _WORD.finditer("".join(pieces).lower())  # which changes no length: accents are gone
    return [(each[0], at[each.start()], at[each.end() - 1] + 1) for each in found]


def _without_accents(text: str) -> str:
    decomposed = unicodedata.normalize("NFKD", text.replace("’", "'"))
    return "".join(c for c in decomposed if not unicodedata.combining(c))


def parse_phrase(text: str, *, where: str = "lexicon") -> list[Phrase]:
    """The variants of a written phrase: with and without each `word?`."""
    if len(text) > LONGEST_PHRASE:
        raise ConfigError(
            f"the phrase {short_repr(text)} has {len(text):,} characters; at most {LONGEST_PHRASE:,} are"
            " allowed.",
            where=where,
        )
    places: list[list[list[frozenset[str]]]] = []
    for part in text.split():
        if part == "...":
            places.append([[GAP]])
            continue
        optional = part.endswith("?")
        # Split as texts are: "kid-friendly" is two words, "don't" is one.
        options = [words_of(option) for option in part.removesuffix("?").split("|")]
        if all(len(option) == 1 for option in options):
            variants = [[frozenset(option[0] for option in options)]]
        else:
            variants = [[frozenset((word,)) for word in option] for option in options if option]
        places.append([*variants, []] if optional else variants)
    count = prod(map(len, places))
    if count > MOST_VARIANTS:
        raise ConfigError(
            f"the phrase {text!r} has {count:,} variants; at most {MOST_VARIANTS:,} are allowed.",
            where=where,
            remedy="Write it as several phrases with fewer optional words.",
        )
    phrases = [tuple(item for piece in choice for item in piece) for choice in product(*places)]
    for phrase in phrases:
        if not phrase or phrase[0] == GAP or phrase[-1] == GAP:
            raise ConfigError(f"the phrase {text!r} must begin and end with a word.", where=where)
    return list(dict.fromkeys(phrases))
