"""The sentences of a canvas, as all rules about sentences count them.

A mark ends a sentence depending on what comes before it (`Ending`) and on what follows it (`Following`); the
table `ENDS` says when. Both are known from a few tokens, so a text, its beginnings and all splices on a
canvas are counted alike. `abbreviations.py` holds the words; the marks are Unicode's sentence terminals.

Libraries were tried (docs/control.md): they read finished texts in a language that one must name, and know
neither canvases nor values.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from textsplice.oracle.sources import Sources
from textsplice.search.abbreviations import MEANING, Stop
from textsplice.search.marks import GREEK, WHOLE_WORD, Ending, Following, Look, core, look_at
from textsplice.text.linearize import Linearized
from textsplice.text.tokens import BEGIN, END, tokenize


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
# What follows a quote that closes.
QUOTED = tuple(_F.QUOTED if f in (_F.LOWER, _F.PARTICLE, _F.LETTER) else f for f in Following)
_QUOTED = np.array(QUOTED, dtype=np.int64)
_LABEL = 3  # the longest label of a list: `12.`, `(1)`
_WORD = "word"  # any that does not abbreviate
_GLUED = re.compile(r"[.!?][^\W_A-Z]")
_SEEN = 8  # more tokens than what a mark is depends on


class Marks(NamedTuple):
    """Marks that end no sentence: between tokens of a value or word, at a value's end, and within a token."""

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
                look = look_at(token)
                if look.inner:
                    within.add(token)
                if look.mark:
                    own = _own(value, place, look)
                    if place + 1 < len(value):
                        inside.add((*own, core(value[place + 1])))
                    elif len(own) > 1 or not look.bare:
                        last.add(own)
        found = cls(frozenset(inside), frozenset(last), frozenset(within))
        return found if any(found) else NO_MARKS

    @classmethod
    def of_sources(cls, sources: Sources) -> Marks:
        """The marks of the table's values, and those inside words of the neighbors."""
        values = cls.of(sources.table)
        words = cls.inside_words(neighbor.text for neighbor in sources.neighbors)
        return values if words is NO_MARKS else values._replace(inside=values.inside | words.inside)

    @classmethod
    def inside_words(cls, texts: Iterable[str]) -> Marks:
        """The marks of texts that have no space after them, as in `mill.xyz` and `a.b/c?d=e`."""
        inside = frozenset(mark for text in texts if _GLUED.search(text) for mark in _glued(text))
        return cls(inside) if inside else NO_MARKS


NO_MARKS = Marks()


@lru_cache(maxsize=1024)
def _glued(text: str) -> tuple[tuple[str, ...], ...]:
    """The marks in a text before a small letter or a digit, without a space; each with its neighbors.

    Before a capital (`walk.It`), the space was rather forgotten.
    """
    words = tokenize(text)
    return tuple(
        (*_own(words, place, look), core(after))
        for place, ((token, after), spaced) in enumerate(zip(pairwise(words), words.spaced[1:], strict=True))
        if (look := look_at(token)).mark and not spaced and (after[0].islower() or after[0].isdigit())
    )


def ends_with_mark(tokens: Sequence[str]) -> bool:
    """Whether a text ends with a mark, or with what closes after one."""
    for token in reversed(tokens):
        look = look_at(token)
        if look.mark or look.wordy or look.start is not Following.THROUGH:
            return bool(look.mark)
    return False


def count_sentences(tokens: Sequence[str], marks: Marks = NO_MARKS) -> int:
    """How many sentences a text has; one without a mark at its end counts too."""
    inner = sum(look_at(token).inner for token in tokens if token not in marks.within)
    return len(sentence_spans(tokens, marks)) + inner


def sentence_spans(tokens: Sequence[str], marks: Marks = NO_MARKS) -> list[tuple[int, int]]:
    """The half-open spans of the sentences, each with the marks that end it; begin and end are in none.

    Marks, quotes and symbols without a word are no sentence; they belong to the sentence before them.
    """
    looks = [look_at(token) for token in tokens]
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

    By (stop - start, end - begin - 1).
    """
    looks, ended, following = _scan(tuple(canvas), marks)
    head = [*canvas[:start], *rest]
    before = [*looks[:start], *map(look_at, rest)]
    counts, ends = _span_ends(head, before, start, marks)
    right = int(ended[start:].sum()) - np.concatenate(([0], np.cumsum(ended[start:])))
    after = right[:, None] + np.array(counts, dtype=np.int64)
    # The mark at the end of a span sees what is right of the splice.
    for size, (ending, closed, own) in ends.items():
        seen = following[start:]
        if closed:
            seen = _QUOTED[seen]
        more = _ENDS[ending][seen]
        if own and marks.inside:
            more[[(*own, core(token)) in marks.inside for token in canvas[start:]] + [False]] = 0
        after[:, size] += more
    # A mark that is right of the splice may see the span.
    known: dict[tuple[int | str, ...], list[int]] = {}
    for at in range(start, len(canvas)):
        if looks[at].mark:
            for stop in range(max(_reach(canvas, looks, at, marks) + 1, start), at + 1):
                key = (at - stop, *canvas[stop : at + (1 if marks is NO_MARKS else 2)])
                fresh = known.get(key)
                if fresh is None:
                    fresh = _endings_after(head, before, start, (canvas, looks, stop, at), marks)
                    known[key] = fresh
                after[stop - start] += _ENDS[fresh, _seen(looks[at], following[at + 1])] - ended[at]
    return int(ended.sum()), after


def _reach(tokens: Sequence[str], looks: Sequence[Look], at: int, marks: Marks) -> int:
    """The first place that what the mark at a place is may depend on."""
    mark = looks[at]
    word = at - 1 if mark.bare else at
    if mark.mark not in (Ending.PLAIN, Ending.LETTER):
        return at if marks is NO_MARKS else word
    look = looks[word] if word >= 0 else mark
    if look.numeric and len(tokens[word]) <= _LABEL:
        return word - 5 if word < 1 or looks[word - 1].mark else word - 1
    if _is_letter(tokens[word]):
        return word - 2
    return word - 1 if (look.bare and look.mark) or look.stop is Stop.UNIT else word


def _endings_after(
    head: Sequence[str],
    before: Sequence[Look],
    start: int,
    right: tuple[Sequence[str], Sequence[Look], int, int],
    marks: Marks,
) -> list[int]:
    """What a mark right of a splice is, for each span from `start`; `right` has it at its last number."""
    canvas, looks, stop, at = right
    after = canvas[at + 1] if at + 1 < len(canvas) else None
    own, shown = canvas[stop : at + 1], looks[stop : at + 1]
    # After most words it is the same.
    alike = looks[at].mark is Ending.PLAIN and (stop < at or marks is NO_MARKS)
    usual = _ending([_WORD, *own], [look_at(_WORD), *shown], len(own), marks, after) if alike else Ending.NONE
    found: list[int] = [usual] * (len(head) - start)
    for size, last in enumerate(before[start:]):
        if last.special or not alike:
            stop_of_span = start + size + 1
            first = max(stop_of_span - _SEEN, 0)
            tokens = [*head[first:stop_of_span], *own]
            found[size] = _ending(
                tokens, [*before[first:stop_of_span], *shown], len(tokens) - 1, marks, after
            )
    return found


@lru_cache(maxsize=256)
def _scan(canvas: tuple[str, ...], marks: Marks) -> tuple[list[Look], NDArray[np.int64], NDArray[np.int64]]:
    """What the tokens of a canvas show, which of them end a sentence, and what follows each place."""
    looks = list(map(look_at, canvas))
    following = [int(_following(looks, place)) for place in range(len(looks) + 1)]
    return looks, np.array(_ended(canvas, looks, marks), dtype=np.int64), np.array(following, dtype=np.int64)


def _span_ends(
    head: Sequence[str], looks: Sequence[Look], start: int, marks: Marks
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
                after = None if last == place else head[last + 1]
                ends[place - start] = (_ending(head, looks, last, marks, after), closed, own)
    return counts, ends


def _add(spans: list[tuple[int, int]], start: int, stop: int, wordy: bool) -> None:
    if wordy:
        spans.append((start, stop))
    elif spans and spans[-1][1] == start:
        spans[-1] = (spans[-1][0], stop)


def _closes_here(token: str, look: Look, quotes: int) -> bool:
    """Whether a token after the last mark of a sentence still belongs to it."""
    if token == '"':
        return quotes % 2 == 1
    return look.closes and not look.wordy and unicodedata.category(token[0]) != "Pi" and token != "'"


def _ended(tokens: Sequence[str], looks: Sequence[Look], marks: Marks) -> list[bool]:
    """Of each token, whether a sentence ends with it."""
    ended = [False] * len(tokens)
    for place, look in enumerate(looks):
        if look.mark:
            seen = _seen(look, _following(looks, place + 1))
            after = tokens[place + 1] if place + 1 < len(tokens) else None
            ended[place] = ENDS[_ending(tokens, looks, place, marks, after)][seen]
    return ended


def _following(looks: Sequence[Look], place: int) -> Following:
    """What comes at a place, for a mark before it."""
    closed = False
    for at in range(place, len(looks)):
        look = looks[at]
        if look.start is not Following.THROUGH:
            return QUOTED[look.start] if closed else look.start
        closed = closed or look.closes
    return Following.END


def _seen(mark: Look, following: int) -> int:
    """What a mark sees; it may have a closing quote in its own token."""
    return QUOTED[following] if mark.closes else following


def _ending(
    tokens: Sequence[str], looks: Sequence[Look], place: int, marks: Marks, after: str | None
) -> Ending:
    """What the mark at a place is."""
    look = looks[place]
    if marks is not NO_MARKS:
        own = _own(tokens, place, look)
        if after is not None and (*own, core(after)) in marks.inside:
            return Ending.NONE
        if own in marks.last:
            return Ending.VALUE
    if look.mark is Ending.LETTER:  # a semicolon, which is the Greek question mark
        return Ending.SURE if place and GREEK.search(tokens[place - 1]) else Ending.NONE
    if look.mark is not Ending.PLAIN:
        return look.mark
    return _after_word(tokens, looks, place - 1 if look.bare else place)


def _own(tokens: Sequence[str], place: int, look: Look) -> tuple[str, ...]:
    """A mark with the word before it."""
    if look.bare:
        return (*map(core, tokens[max(place - 1, 0) : place]), tokens[place].strip())
    return (tokens[place].lstrip("\"'([“‘«"),)


def _after_word(tokens: Sequence[str], looks: Sequence[Look], place: int) -> Ending:
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
        label = len(tokens[place]) <= _LABEL and _begins(tokens, looks, place)
        return Ending.NEVER if label else Ending.ORDINAL
    word = tokens[place]
    if place > 1 and tokens[place - 1] == "." and _is_letter(word) and _is_letter(tokens[place - 2]):
        both = f"{tokens[place - 2]}.{word}".casefold()
        return _OF_STOP[MEANING.get(both, Stop.OPEN if word.islower() else Stop.NAME)]
    if look.stop is not Stop.UNIT:
        return _OF_STOP[look.stop]
    if place and looks[place - 1].numeric:
        return Ending.OPEN
    return Ending.LETTER if len(word) == 1 else Ending.NUMBER


def _is_letter(token: str) -> bool:
    return len(token) == 1 and token.isalpha() and not WHOLE_WORD.match(token)


def _begins(tokens: Sequence[str], looks: Sequence[Look], place: int) -> bool:
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
