"""What a token shows of the sentence it is in: marks, abbreviations, capitals. `sentences.py` uses it."""

from __future__ import annotations

from enum import IntEnum
from functools import lru_cache
from typing import NamedTuple

import regex

from textsplice.search.abbreviations import DOMAINS, IF_CAPITAL, MEANING, MONTHS, STARTERS, Stop
from textsplice.text.tokens import BEGIN, END, MASK

_STOPS = ".․﹒．"
_DOTS = "…⋯"
_MORE_MARKS = "།༎༏༐༑෴"  # Tibetan and Sinhala, which Unicode does not count
_MARK = rf"[\p{{Sentence_Terminal}}{_DOTS}{_MORE_MARKS}]"
_CLOSING = r"[\p{Pf}\p{Pe}\p{Pi}\"'«»]"
# The last marks of a token, with what closes after them.
_TAIL = regex.compile(
    rf"(?P<marks>{_MARK}+)(?P<closing>[^\p{{L}}\p{{M}}\p{{N}}{_DOTS}\p{{Sentence_Terminal}}]*)$"
)
# A sentence that ends inside a token: there is no space after it, which only some scripts allow.
_INNER = regex.compile(
    rf"(?:(?![\x00-\x7f{_STOPS}{_DOTS}]){_MARK})+(?:{_CLOSING}++(?![とっ]))?+(?=[\p{{L}}\p{{N}}])"
)
_INITIALS = regex.compile(r"\p{L}{1,2}\p{M}*(?:\.\p{L}{1,2}\p{M}*)+")
GREEK = regex.compile(r"\p{Greek}")
_CONTINUING = regex.compile(r"(?!\p{Pd})\p{Sentence_Break=SContinue}")
_GREEK_QUESTION = regex.compile(r"(?<=\p{Greek});$")
# One letter by itself abbreviates; a character of these scripts is a word.
WHOLE_WORD = regex.compile(r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}\p{Khmer}\p{Myanmar}]")
_THAI = regex.compile(r"[\p{Thai}\p{Lao}]")  # a full stop abbreviates; sentences end with a space


class Ending(IntEnum):
    """What a mark at its place could end."""

    NONE = 0  # not a mark, or inside a value
    SURE = 1  # a question or exclamation mark, `。`
    PLAIN = 2  # a full stop after a word that is no abbreviation
    OPEN = 3  # `p.m.`, `etc.`, an ellipsis
    NUMBER = 4  # `No.`
    NAME = 5  # `Dr.`, an initial
    NEVER = 6  # `e.g.`, the `1.` of a list
    VALUE = 7  # the mark at the end of a value
    ORDINAL = 8  # a full stop after a number
    LETTER = 9  # a full stop after a small letter


class Following(IntEnum):
    """What comes after a mark; quotes, brackets, dashes and symbols are looked through."""

    END = 0
    MARK = 1
    COMMA = 2
    LOWER = 3
    QUOTED = 4  # a small letter after a closing quote: `"Go!" he said`
    UPPER = 5
    STARTER = 6  # "It", "The"
    DIGIT = 7
    UNCASED = 8
    HIDDEN = 9  # a mask
    DOMAIN = 10  # "com"
    MONTH = 11
    LETTER = 12
    PARTICLE = 13  # the `と` after a Japanese quote
    INITIAL = 14  # a capital by itself
    THROUGH = 15  # look further


class Look(NamedTuple):
    """What one token shows, whatever stands beside it."""

    mark: Ending  # NONE, SURE, OPEN for an ellipsis, PLAIN for any other full stop
    bare: bool  # marks and quotes only: the word before them is in another token
    stop: Stop  # what a full stop after its last word means
    numeric: bool  # its last word is a number
    start: Following
    closes: bool
    wordy: bool
    inner: int
    special: bool  # a full stop after it may not end a sentence


@lru_cache(maxsize=1 << 16)
def look_at(token: str) -> Look:
    if token in (BEGIN, END):
        return Look(Ending.NONE, False, Stop.PLAIN, False, Following.END, False, False, 0, True)
    if token == MASK:
        return Look(Ending.NONE, False, Stop.PLAIN, False, Following.HIDDEN, False, True, 0, False)
    found = _TAIL.search(token)
    if found and _CONTINUING.search(found["closing"]):
        found = None
    word = regex.sub(
        r"^[^\p{L}\p{M}\p{N}]+|[^\p{L}\p{M}\p{N}]+$", "", token[: found.start()] if found else token
    )
    wordy = any(character.isalnum() for character in token)
    closing = found["closing"] if found else token
    stop = _stop(word)
    return Look(
        mark=_kind(found["marks"]) if found else _semicolon(token),
        bare=not wordy,
        stop=stop,
        numeric=word != "" and word[-1].isdigit() and not any(map(str.isalpha, word)),
        start=_start(token),
        closes=(found is not None or not wordy) and regex.search(_CLOSING, closing) is not None,
        wordy=wordy,
        inner=len(_INNER.findall(token)),
        special=stop is not Stop.PLAIN or len(token) == 1 or found is not None or word[-1:].isdigit(),
    )


def _semicolon(token: str) -> Ending:
    """What a token without a mark is: Greek asks with a semicolon."""
    if _GREEK_QUESTION.search(token):
        return Ending.SURE
    return Ending.LETTER if token.strip() == ";" else Ending.NONE


def _kind(marks: str) -> Ending:
    if any(mark not in _STOPS and mark not in _DOTS for mark in marks):
        return Ending.SURE
    return Ending.PLAIN if len(marks) == 1 and marks in _STOPS else Ending.OPEN


def _stop(word: str) -> Stop:
    """What a full stop after a word means."""
    folded = word.casefold()
    if _THAI.search(word):
        return Stop.NEVER
    if len(word) == 1 and word.isalpha() and not word.islower():
        return Stop.PLAIN if WHOLE_WORD.match(word) else Stop.NAME  # an initial
    known = (word[:1].isupper() and IF_CAPITAL.get(folded)) or MEANING.get(folded)
    if known is None and len(word) == 1 and word.islower():
        return Stop.LETTER
    if known is not None:
        return known
    if _INITIALS.fullmatch(word):
        return Stop.OPEN if word[-1].islower() else Stop.NAME
    if word[-1:].isdigit() and any(WHOLE_WORD.match(letter) for letter in word):
        return Stop.NUMBER  # its decimals follow
    unit = folded.lstrip("0123456789.,")
    return Stop.OPEN if unit != folded and MEANING.get(unit) is Stop.UNIT else Stop.PLAIN


def _start(token: str) -> Following:
    """What a token shows to a mark before it."""
    bare = token.strip()
    if not any(character.isalnum() for character in bare):
        if regex.search(_MARK, bare):
            return Following.MARK
        return Following.COMMA if _CONTINUING.search(bare) else Following.THROUGH
    word = regex.sub(r"^[^\p{L}\p{N}]+|[^\p{L}\p{N}]+$", "", bare)
    first, folded = word[0], word.casefold()
    if not first.isalpha():
        return Following.DIGIT
    if first.isupper() or first.istitle():
        if folded in STARTERS:
            return Following.STARTER
        if len(word) == 1 and word not in "AI":
            return Following.INITIAL
        return Following.MONTH if folded in MONTHS else Following.UPPER
    if not first.islower():
        return Following.PARTICLE if first in "とっ" else Following.UNCASED
    if folded in DOMAINS:
        return Following.DOMAIN
    return Following.LETTER if len(word) == 1 else Following.LOWER


@lru_cache(maxsize=1 << 16)
def core(token: str) -> str:
    """A token without the punctuation around it, if it has more."""
    return regex.sub(r"^[^\p{L}\p{M}\p{N}]+|[^\p{L}\p{M}\p{N}]+$", "", token) or token
