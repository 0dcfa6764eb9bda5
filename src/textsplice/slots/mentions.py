"""Finds which values of which fields a text mentions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import groupby
from typing import NamedTuple

from textsplice.slots.wordings import GAP, FieldWordings, Phrase, parse_phrase, words_of

GAP_WORDS = 4
# A gap does not extend over these: "not cheap but family friendly" is family friendly, "for a non family
# friendly meal" is not for families.
BARRIERS = frozenset(
    (*".!?,;:", "but", "and", "yet", "though", "although", "however", "not", "non", "no", "never", "without")
)
_ARTICLES = frozenset(("the", "a", "an"))


class Mention(NamedTuple):
    """`words[start:stop]` says one of `values` of a field."""

    start: int
    stop: int
    field: str
    values: frozenset[str]
    verbatim: bool


class _Entry(NamedTuple):
    phrase: Phrase
    field: str
    values: frozenset[str]
    verbatim: bool


class _Place(NamedTuple):
    """A phrase matched up to `place`; if that is a gap, `skipped` of its words have been read."""

    entry: _Entry
    place: int
    skipped: int = 0


class _Node:
    """A state of the automaton: how far each phrase is matched. Edges are built on first use."""

    __slots__ = ("_edges", "_places", "says")

    def __init__(self, places: Iterable[_Place]) -> None:
        unique = set(places)
        self._places = [place for place in unique if place.place < len(place.entry.phrase)]
        self._edges: dict[str, _Node | None] = {}
        ended: dict[str, list[_Entry]] = {}
        for place in unique:
            if place.place == len(place.entry.phrase):
                ended.setdefault(place.entry.field, []).append(place.entry)
        # A phrase listed under several values says any of them.
        self.says = [
            (field, frozenset().union(*(e.values for e in entries)), any(e.verbatim for e in entries))
            for field, entries in ended.items()
        ]

    def after(self, word: str) -> _Node | None:
        """The state after one more word; None if no phrase continues with it."""
        try:
            return self._edges[word]
        except KeyError:
            following = [next_place for place in self._places for next_place in _read(place, word)]
            node = _Node(following) if following else None
            self._edges[word] = node
            return node


class Matcher:
    """A lexicon as an automaton over words, run from each position until no phrase continues."""

    def __init__(self, fields: Mapping[str, FieldWordings]) -> None:
        by_word: dict[str, list[_Place]] = {}
        self._known: set[tuple[str, str]] = set()
        for name, field in fields.items():
            if field.kind == "unsaid":
                continue
            for entry in _entries(name, field):
                for word in entry.phrase[0]:
                    by_word.setdefault(word, []).append(_Place(entry, 1))
            self._known |= {(name, value) for value in field.known_values()}
        self._otherwise = {name for name, field in fields.items() if not field.verbatim}
        self._first = {word: _Node(places) for word, places in by_word.items()}

    def find(self, words: Sequence[str], own: Iterable[tuple[str, str]] = ()) -> list[Mention]:
        """All mentions; `own` are the slots of the table, whose values may be missing in the lexicon."""
        found: list[Mention] = []
        for start, word in enumerate(words):
            node, stop = self._first.get(word), start + 1
            longest: dict[str, Mention] = {}
            while node is not None:
                for field, values, verbatim in node.says:
                    longest[field] = Mention(start, stop, field, values, verbatim)
                node = node.after(words[stop]) if stop < len(words) else None
                stop += 1
            found.extend(longest.values())
        for field, value in own:
            if (field, value) not in self._known and field not in self._otherwise:
                found += _verbatim_mentions(field, value, words)
        return [mention for mention in _longest(found) if mention.values]


def _read(at: _Place, word: str) -> Iterable[_Place]:
    entry, place, skipped = at
    if entry.phrase[place] == GAP:
        if word in entry.phrase[place + 1]:
            yield _Place(entry, place + 2)
        if skipped < GAP_WORDS and word not in BARRIERS:
            yield _Place(entry, place, skipped + 1)
    elif word in entry.phrase[place]:
        yield _Place(entry, place + 1)


def _entries(name: str, field: FieldWordings) -> list[_Entry]:
    values: dict[tuple[Phrase, bool], set[str]] = {}
    for value, texts in field.wordings.items():
        for text in texts:
            for phrase in parse_phrase(text):
                values.setdefault((phrase, False), set()).add(value)
    if field.verbatim:
        for value in field.known_values():
            for phrase in verbatim_phrases(value):
                values.setdefault((phrase, True), set()).add(value)
    for text in field.neutral:
        for phrase in parse_phrase(text):
            values[phrase, False] = set()
    return [_Entry(phrase, name, frozenset(said), exact) for (phrase, exact), said in values.items()]


@lru_cache(maxsize=1 << 16)
def verbatim_phrases(value: str) -> tuple[Phrase, ...]:
    """The value itself, and without its article: `Vaults` also says `The Vaults`."""
    words = words_of(value)
    phrase = tuple(frozenset((word,)) for word in words)
    if not phrase:
        return ()
    if len(words) > 1 and words[0] in _ARTICLES:
        return (phrase, phrase[1:])
    return (phrase,)


def _verbatim_mentions(field: str, value: str, words: Sequence[str]) -> list[Mention]:
    return [
        Mention(start, start + len(phrase), field, frozenset((value,)), True)
        for phrase in verbatim_phrases(value)
        for start in _starts([word for (word,) in phrase], words)
    ]


def _starts(wanted: Sequence[str], words: Sequence[str]) -> Iterable[int]:
    """Where `wanted` begins in `words`; each word is read once (Knuth, Morris and Pratt)."""
    if wanted[0] not in words:
        return
    # For each beginning of `wanted`, the longest shorter one that it ends with.
    shorter = [0, 0]
    for place in range(1, len(wanted)):
        shorter.append(_longer(wanted, shorter, shorter[-1], wanted[place]))
    matched = 0
    for place, word in enumerate(words):
        matched = _longer(wanted, shorter, matched, word)
        if matched == len(wanted):
            yield place + 1 - matched


def _longer(wanted: Sequence[str], shorter: Sequence[int], matched: int, word: str) -> int:
    """How much of `wanted` is matched after one more word."""
    if matched == len(wanted):
        matched = shorter[matched]
    while matched and wanted[matched] != word:
        matched = shorter[matched]
    return matched + (wanted[matched] == word)


def _longest(found: list[Mention]) -> list[Mention]:
    """The longest of overlapping mentions of a field, and none inside a verbatim value of another field.

    `Raja Indian Cuisine` is a name and does not mention Indian food.
    """
    found.sort(key=lambda mention: (mention.start - mention.stop, mention.start))
    kept: list[Mention] = []
    taken: dict[str, set[int]] = {}  # the places of each field's mentions
    stops: dict[int, int] = {}  # of each place in a verbatim value, where the last such value stops
    for _, alike in groupby(found, key=lambda mention: mention.stop - mention.start):
        several = len(kept)
        for mention in alike:
            places = taken.setdefault(mention.field, set())
            # None is longer than those before it, so an overlap holds its first or its last place.
            overlaps = mention.start in places or mention.stop - 1 in places
            if not overlaps and stops.get(mention.start, 0) < mention.stop:
                kept.append(mention)
                places.update(range(mention.start, mention.stop))
        for mention in kept[several:]:
            if mention.verbatim:
                for place in range(mention.start, mention.stop):
                    stops[place] = max(stops.get(place, 0), mention.stop)
    kept.sort(key=lambda mention: mention.start)
    return kept
