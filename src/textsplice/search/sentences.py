"""The sentences of a canvas, as all rules about sentences count them.

A mark ends a sentence depending on what comes before it (`Ending`) and on what follows it (`Following`); the
table `ENDS` says when. Both are known from a few tokens, so a text, its beginnings and all splices on a
canvas are counted alike. `abbreviations.py` holds the words; the marks are Unicode's sentence terminals.

Libraries were tried (docs/control.md): they read finished texts in a language that one must name, and know
neither canvases nor values.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from enum import IntEnum
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import regex
from numpy.typing import NDArray

from textsplice.search.abbreviations import DOMAINS, IF_CAPITAL, MEANING, MONTHS, STARTERS, Stop
from textsplice.text.linearize import Linearized
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
_GREEK = regex.compile(r"\p{Greek}")
_CONTINUING = regex.compile(r"(?!\p{Pd})\p{Sentence_Break=SContinue}")
_GREEK_QUESTION = regex.compile(r"(?<=\p{Greek});$")
# One letter by itself abbreviates; a character of these scripts is a word.
_WHOLE_WORD = regex.compile(r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}\p{Khmer}\p{Myanmar}]")
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


def _row(*followings: Following) -> tuple[bool, ...]:
    return tuple(following in (Following.END, *followings) for following in Following)


_F = Following
_CAPITAL = (_F.UPPER, _F.STARTER, _F.INITIAL, _F.MONTH, _F.HIDDEN)
_ANY = (*_CAPITAL, _F.LOWER, _F.DIGIT, _F.UNCASED, _F.LETTER, _F.PARTICLE)
# Whether a mark ends a sentence. Of several marks in a row the last one does.
ENDS: tuple[tuple[bool, ...], ...] = (
    tuple(False for _ in Following),
    _row(*_ANY, _F.DOMAIN),
    _row(*_ANY),
    _row(*_CAPITAL),
    _row(_F.UPPER, _F.STARTER, _F.INITIAL, _F.MONTH, _F.LOWER, _F.UNCASED, _F.PARTICLE),
    _row(_F.STARTER),
    _row(),
    _row(*_CAPITAL, _F.DIGIT, _F.UNCASED, _F.PARTICLE),
    _row(*(f for f in _ANY if f is not _F.MONTH)),
    _row(*(f for f in _ANY if f not in (_F.LETTER, _F.INITIAL))),
)
_ENDS = np.array(ENDS, dtype=np.int64)


class Marks(NamedTuple):
    """Where values of a table have marks: between tokens, at their ends, and within a token."""

    inside: frozenset[tuple[str, ...]] = frozenset()
    last: frozenset[tuple[str, ...]] = frozenset()
    within: frozenset[str] = frozenset()

    @classmethod
    def of(cls, table: Linearized) -> Marks:
        """The marks in the values of a table; most have none."""
        inside: set[tuple[str, ...]] = set()
        last: set[tuple[str, ...]] = set()
        within: set[str] = set()
        for segment in table.segments:
            value = table.tokens[segment.start : segment.stop]
            for place, token in enumerate(value):
                look = _look(token)
                if look.inner:
                    within.add(token)
                if look.mark:
                    own = _own(value, place, look)
                    if place + 1 < len(value):
                        inside.add((*own, _core(value[place + 1])))
                    elif len(own) > 1 or not look.bare:
                        last.add(own)
        found = cls(frozenset(inside), frozenset(last), frozenset(within))
        return found if any(found) else NO_MARKS


NO_MARKS = Marks()


class _Look(NamedTuple):
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


def ends_with_mark(tokens: Sequence[str]) -> bool:
    """Whether a text ends with a mark, or with what closes after one."""
    for token in reversed(tokens):
        look = _look(token)
        if look.mark or look.wordy or look.start is not Following.THROUGH:
            return bool(look.mark)
    return False


def count_sentences(tokens: Sequence[str], marks: Marks = NO_MARKS) -> int:
    """How many sentences a text has; one without a mark at its end counts too."""
    inner = sum(_look(token).inner for token in tokens if token not in marks.within)
    return len(sentence_spans(tokens, marks)) + inner


def sentence_spans(tokens: Sequence[str], marks: Marks = NO_MARKS) -> list[tuple[int, int]]:
    """The half-open spans of the sentences, each with the marks that end it; begin and end are in none.

    Marks, quotes and symbols without a word are no sentence; they belong to the sentence before them.
    """
    looks = [_look(token) for token in tokens]
    ended = _ended(tokens, looks, marks)
    spans: list[tuple[int, int]] = []
    start, wordy, quotes = -1, False, 0
    size = len(tokens)
    position = 0
    while position < size:
        token, look = tokens[position], looks[position]
        position += 1
        if token in (BEGIN, END):
            if start >= 0:
                _add(spans, start, position - 1, wordy)
            start, wordy = -1, False
            continue
        if start < 0:
            start, quotes = position - 1, 0
        wordy = wordy or look.wordy
        quotes += token == '"'
        if ended[position - 1]:
            while position < size and _closes_here(tokens[position], looks[position], quotes):
                quotes += tokens[position] == '"'
                position += 1
            _add(spans, start, position, wordy)
            start, wordy = -1, False
    if start >= 0:
        _add(spans, start, size, wordy)
    return spans


def latest_stop(canvas: Sequence[str], start: int, marks: Marks = NO_MARKS) -> int:
    """The last `stop` for which `canvas[start:stop]` does not contain a whole sentence.

    Words after the last mark are a sentence only once `END` closes them.
    """
    open_end = len(canvas) if canvas and not ends_with_mark(canvas) else -1
    return min(
        (b - 1 for a, b in sentence_spans(canvas, marks) if a >= start and b != open_end),
        default=len(canvas),
    )


def count_after_splices(
    canvas: Sequence[str], start: int, rest: Sequence[str], marks: Marks = NO_MARKS
) -> tuple[int, NDArray[np.int64]]:
    """How many sentences of a canvas have ended, and how many would have after each splice at `start`.

    By (stop - start, end - begin - 1). What a splice changes further than a word away from its ends is not
    seen: a cut through `e.g.`, for instance.
    """
    looks, ended, following = _scan(tuple(canvas), marks)
    head = [*canvas[:start], *rest]
    before = [*looks[:start], *map(_look, rest)]
    counts, ends = _span_ends(head, before, start, marks)
    right = int(ended[start:].sum()) - np.concatenate(([0], np.cumsum(ended[start:])))
    after = right[:, None] + np.array(counts, dtype=np.int64)
    # The mark at the end of a span sees what is right of the splice.
    for size, (ending, closed, own) in ends.items():
        seen = following[start:]
        if closed:
            seen = np.where(seen == Following.LOWER, Following.QUOTED, seen)
        more = _ENDS[ending][seen]
        if marks.inside:
            more[[(*own, _core(token)) in marks.inside for token in canvas[start:]] + [False]] = 0
        after[:, size] += more
    # A full stop that is right of the splice sees the span.
    stops = [at for at in range(start, len(canvas)) if looks[at].bare and looks[at].mark is Ending.PLAIN]
    if stops:
        fresh = [int(Ending.PLAIN)] * len(rest)
        for size, look in enumerate(before[start:]):
            if look.special:
                fresh[size] = int(_after_word(head, before, start + size))
        for at in stops:
            after[at - start] += _ENDS[fresh, following[at + 1]] - ended[at]
    return int(ended.sum()), after


@lru_cache(maxsize=256)
def _scan(canvas: tuple[str, ...], marks: Marks) -> tuple[list[_Look], NDArray[np.int64], NDArray[np.int64]]:
    """What the tokens of a canvas show, which of them end a sentence, and what follows each place."""
    looks = list(map(_look, canvas))
    following = [int(_following(looks, place)) for place in range(len(looks) + 1)]
    return looks, np.array(_ended(canvas, looks, marks), dtype=np.int64), np.array(following, dtype=np.int64)


def _span_ends(
    head: Sequence[str], looks: Sequence[_Look], start: int, marks: Marks
) -> tuple[list[int], dict[int, tuple[Ending, bool, tuple[str, ...]]]]:
    """Of each span from `start`, how many sentences end in `head` before it ends.

    Of spans that end with a mark, that mark does not count; what it is, whether a quote closes after it, and
    the mark with the word before it are in the second.
    """
    ended = _ended(head, looks, marks)
    counts: list[int] = []
    ends: dict[int, tuple[Ending, bool, tuple[str, ...]]] = {}
    last, closed, count = -1, False, 0
    for place, look in enumerate(looks):
        if look.mark:
            count += last >= 0 and ended[last]
            last, closed = place, look.closes
        elif look.start is Following.THROUGH:
            closed = closed or look.closes
        elif last >= 0:
            count += ended[last]
            last = -1
        if place >= start:
            counts.append(count)
            if last >= 0:
                own = _own(head, last, looks[last]) if last == place else ()
                ends[place - start] = (_ending(head, looks, last, marks, None), closed, own)
    return counts, ends


def _add(spans: list[tuple[int, int]], start: int, stop: int, wordy: bool) -> None:
    if wordy:
        spans.append((start, stop))
    elif spans and spans[-1][1] == start:
        spans[-1] = (spans[-1][0], stop)


def _closes_here(token: str, look: _Look, quotes: int) -> bool:
    """Whether a token after the last mark of a sentence still belongs to it."""
    if token == '"':
        return quotes % 2 == 1
    return look.closes and not look.wordy and unicodedata.category(token[0]) != "Pi" and token != "'"


def _ended(tokens: Sequence[str], looks: Sequence[_Look], marks: Marks) -> list[bool]:
    """Of each token, whether a sentence ends with it."""
    ended = [False] * len(tokens)
    for place, look in enumerate(looks):
        if look.mark:
            seen = _following(looks, place + 1)
            if look.closes and seen is Following.LOWER:
                seen = Following.QUOTED
            after = tokens[place + 1] if place + 1 < len(tokens) else None
            ended[place] = ENDS[_ending(tokens, looks, place, marks, after)][seen]
    return ended


def _following(looks: Sequence[_Look], place: int) -> Following:
    """What comes at a place, for a mark before it."""
    closed = False
    for at in range(place, len(looks)):
        look = looks[at]
        if look.start is not Following.THROUGH:
            quoted = closed and look.start in (Following.LOWER, Following.PARTICLE, Following.LETTER)
            return Following.QUOTED if quoted else look.start
        closed = closed or look.closes
    return Following.END


def _ending(
    tokens: Sequence[str], looks: Sequence[_Look], place: int, marks: Marks, after: str | None
) -> Ending:
    """What the mark at a place is."""
    look = looks[place]
    if marks is not NO_MARKS:
        own = _own(tokens, place, look)
        if after is not None and (*own, _core(after)) in marks.inside:
            return Ending.NONE
        if own in marks.last:
            return Ending.VALUE
    if look.mark is Ending.LETTER:  # a semicolon, which is the Greek question mark
        return Ending.SURE if place and _GREEK.search(tokens[place - 1]) else Ending.NONE
    if look.mark is not Ending.PLAIN:
        return look.mark
    return _after_word(tokens, looks, place - 1 if look.bare else place)


def _own(tokens: Sequence[str], place: int, look: _Look) -> tuple[str, ...]:
    """A mark with the word before it."""
    if look.bare:
        return (*map(_core, tokens[max(place - 1, 0) : place]), tokens[place].strip())
    return (tokens[place].lstrip("\"'([“‘«"),)


@lru_cache(maxsize=1 << 16)
def _core(token: str) -> str:
    """A token without the punctuation around it, if it has more."""
    return regex.sub(r"^[^\p{L}\p{M}\p{N}]+|[^\p{L}\p{M}\p{N}]+$", "", token) or token


def _after_word(tokens: Sequence[str], looks: Sequence[_Look], place: int) -> Ending:
    """What a full stop is after the token at a place."""
    if place < 0:
        return Ending.PLAIN
    look = looks[place]
    if look.bare and look.mark:
        if look.mark is not Ending.PLAIN:
            return look.mark
        before = looks[place - 1] if place else look
        spaced_dots = place > 0 and before.bare and before.mark is Ending.PLAIN
        return Ending.OPEN if spaced_dots else Ending.PLAIN
    if look.numeric:
        label = len(tokens[place]) <= 3 and _begins(tokens, looks, place)
        return Ending.NEVER if label else Ending.ORDINAL
    word = tokens[place]
    if place > 1 and tokens[place - 1] == "." and _is_letter(word) and _is_letter(tokens[place - 2]):
        both = f"{tokens[place - 2]}.{word}".casefold()
        return _OF_STOP[MEANING.get(both, Stop.OPEN if word.islower() else Stop.NAME)]
    if look.stop is not Stop.UNIT:
        return _OF_STOP[look.stop]
    if place and looks[place - 1].numeric:
        return Ending.OPEN
    return Ending.LETTER if len(word) == 1 else Ending.PLAIN


def _is_letter(token: str) -> bool:
    return len(token) == 1 and token.isalpha() and not _WHOLE_WORD.match(token)


def _begins(tokens: Sequence[str], looks: Sequence[_Look], place: int) -> bool:
    """Whether a number begins a sentence, as in a list: `1. Walk on. 2. Turn left.`"""
    if place == 0 or tokens[place - 1] == BEGIN:
        return True
    before = looks[place - 1]
    word = place - 2 if before.bare else place - 1
    if not before.mark or word < 0 or looks[word].numeric:
        return False
    ending = before.mark if before.mark is not Ending.PLAIN else _after_word(tokens, looks, word)
    return ENDS[ending][Following.DIGIT]


_OF_STOP = {
    Stop.PLAIN: Ending.PLAIN,
    Stop.OPEN: Ending.OPEN,
    Stop.NUMBER: Ending.NUMBER,
    Stop.NAME: Ending.NAME,
    Stop.NEVER: Ending.NEVER,
    Stop.LETTER: Ending.LETTER,
}


@lru_cache(maxsize=1 << 16)
def _look(token: str) -> _Look:
    if token in (BEGIN, END):
        return _Look(Ending.NONE, False, Stop.PLAIN, False, Following.END, False, False, 0, False)
    if token == MASK:
        return _Look(Ending.NONE, False, Stop.PLAIN, False, Following.HIDDEN, False, True, 0, False)
    found = _TAIL.search(token)
    if found and _CONTINUING.search(found["closing"]):
        found = None
    word = regex.sub(
        r"^[^\p{L}\p{M}\p{N}]+|[^\p{L}\p{M}\p{N}]+$", "", token[: found.start()] if found else token
    )
    wordy = any(character.isalnum() for character in token)
    closing = found["closing"] if found else token
    stop = _stop(word)
    return _Look(
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
        return Stop.PLAIN if _WHOLE_WORD.match(word) else Stop.NAME  # an initial
    known = (word[:1].isupper() and IF_CAPITAL.get(folded)) or MEANING.get(folded)
    if known is None and len(word) == 1 and word.islower():
        return Stop.LETTER
    if known is not None:
        return known
    if _INITIALS.fullmatch(word):
        return Stop.OPEN if word[-1].islower() else Stop.NAME
    if word[-1:].isdigit() and any(_WHOLE_WORD.match(letter) for letter in word):
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
