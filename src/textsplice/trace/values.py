"""Values that a draft says though its record does not have them, known from the records of a store.

No lexicon is needed: what is a value of `food` in one record is taken for a value of `food` in every draft.
But a value can be a plain word, too: `high` is a rating, and prices are high. So a value that stands beside
the record's own one, or for which the record has no field, is passed where approved texts use it like that.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import NamedTuple

from textsplice.corpus.table import Example, Table
from textsplice.neighbors.store import Store
from textsplice.text.masking import STOP_WORDS
from textsplice.text.tokens import BEGIN, END, MASK, Tokenizer, tokenize
from textsplice.text.yes_no import is_yes_or_no

LEAST_TEXTS = 3  # so many approved texts make a plain word of a value
LEAST_SHARE = 0.03  # and they do it at least so often, compared with texts that say it as a value
_ARTICLES = frozenset(("the", "a", "an"))
_WORD = re.compile(r"[^\W_]+(?:(?<=\d)[.,]\d+)*")  # 3.5 is one word, fast-food two

# A value as it is compared: its words, without case, accents, punctuation and the s of a plural.
Key = tuple[str, ...]
_Place = tuple[Key, int, str]  # a value with the word before it (-1) or after it (1)


class Foreign(NamedTuple):
    """`tokens[start:stop]` is a value of a field; the record has `instead`, or nothing, in this field."""

    start: int
    stop: int
    field: str
    instead: tuple[str, ...]


class _Found(NamedTuple):
    start: int
    stop: int
    key: Key
    own: bool


@dataclass(frozen=True)
class _Habits:
    """How often approved texts have a value, next to a word: as their own, and as a plain word."""

    own: Counter[_Place]
    plain: Counter[_Place]
    plain_with: Counter[tuple[_Place, str]]  # in texts whose record has another value of the field


class KnownValues:
    """The values of every field, as the records of a store have them, and how its texts use these words."""

    def __init__(
        self, texts: Sequence[str], tables: Sequence[Table], table_of: Sequence[int], tokenizer: Tokenizer
    ) -> None:
        self.tokenizer: Tokenizer = tokenizer
        self._texts, self._tables, self._table_of = texts, tables, table_of
        self._fields: dict[Key, set[str]] = {}
        for table in tables:
            for name, key in self._slots(table):
                self._fields.setdefault(key, set()).add(name)
        self._lengths = _lengths(self._fields)

    @classmethod
    def of_store(cls, store: Store) -> KnownValues:
        """Those of a run or prepared folder."""
        return cls(store.texts, store.tables, store.table_of.tolist(), store.tokenizer)

    @classmethod
    def of_examples(cls, examples: Iterable[Example], tokenizer: Tokenizer) -> KnownValues:
        """Those of a corpus that was not prepared."""
        numbers: dict[Table, int] = {}
        texts: list[str] = []
        table_of: list[int] = []
        for example in examples:
            if example.text is not None:
                texts.append(example.text)
                table_of.append(numbers.setdefault(example.table, len(numbers)))
        return cls(texts, list(numbers), table_of, tokenizer)

    def foreign(self, tokens: Sequence[str], table: Table) -> Iterator[Foreign]:
        """The values in a draft that its record does not have, once for each field that they may be of."""
        found = self._find(tokens, table)
        own = dict[str, set[Key]]()
        for name, key in self._slots(table):
            own.setdefault(name, set()).add(key)
        said = {each.key for each in found if each.own}
        around = _around(tokens, found)
        for each in (each for each in found if not each.own):
            inside = {name for name, keys in own.items() if any(_is_part(each.key, key) for key in keys)}
            for name in sorted(self._fields[each.key]):
                values = own.get(name, set[Key]())
                instead = bool(values) and said.isdisjoint(values)
                if inside and (name in inside or not instead):
                    continue  # part of a value that the record has: the year of a date
                if instead or not self._is_plain(each, around, name, has_field=bool(values)):
                    yield Foreign(each.start, each.stop, name, table[name] if values else ())

    def _slots(self, table: Table) -> Iterator[tuple[str, Key]]:
        for name, values in table:
            for value in values:
                for key in _keys(value, self.tokenizer):
                    yield name, key

    def _find(self, tokens: Sequence[str], table: Table) -> list[_Found]:
        """The record's values and those of other records in a text; from the left, the longest first."""
        placed = [(word, place) for place, token in enumerate(tokens) for word in _words(token)]
        words, places = [word for word, _ in placed], [place for _, place in placed]
        own = {key for _, key in self._slots(table)}
        lengths = _lengths(own)
        found: list[_Found] = []
        start = 0
        while start < len(words):
            known, mine = self._lengths.get(words[start]), lengths.get(words[start])
            if known is None and mine is None:
                start += 1
                continue
            step = 1
            for length in sorted({*(known or ()), *(mine or ())}, reverse=True):
                key = tuple(words[start : start + length])
                if len(key) == length and (key in own or key in self._fields):
                    found.append(_Found(places[start], places[start + length - 1] + 1, key, key in own))
                    step = length
                    break
            start += step
        return found

    def _is_plain(self, each: _Found, around: Sequence[str], field: str, *, has_field: bool) -> bool:
        """Whether approved texts of records without this value have it next to the same word."""
        tables, habits = self._counted, self._habits
        for place in _places(each, around):
            with_field = habits.plain_with[place, field]
            count = with_field if has_field else habits.plain[place] - with_field
            texts = tables.fields[field] - tables.slots[field, each.key]
            texts = texts if has_field else tables.texts - tables.fields[field]
            usual = habits.own[place] / max(1, tables.keys[each.key])
            if count >= LEAST_TEXTS and count >= LEAST_SHARE * usual * texts:
                return True
        return False

    @cached_property
    def _counted(self) -> _Counted:
        return _Counted.of(set(self._slots(self._tables[number])) for number in self._table_of)

    @cached_property
    def _habits(self) -> _Habits:
        habits = _Habits(Counter(), Counter(), Counter())
        for text, number in zip(self._texts, self._table_of, strict=True):
            table = self._tables[number]
            names = {name for name, values in table if values}
            tokens = tokenize(text, self.tokenizer)
            found = self._find(tokens, table)
            around = _around(tokens, found)
            own = {place for each in found if each.own for place in _places(each, around)}
            plain = {place for each in found if not each.own for place in _places(each, around)}
            habits.own.update(own)
            habits.plain.update(plain)
            habits.plain_with.update(
                (place, name) for place in plain for name in self._fields[place[0]] & names
            )
        return habits


@dataclass(frozen=True)
class _Counted:
    """How many texts there are: in all, and of records with a field, with a value, with both."""

    texts: int
    fields: Counter[str]
    keys: Counter[Key]
    slots: Counter[tuple[str, Key]]

    @classmethod
    def of(cls, rows: Iterable[set[tuple[str, Key]]]) -> _Counted:
        texts = 0
        fields, keys, slots = Counter[str](), Counter[Key](), Counter[tuple[str, Key]]()
        for row in rows:
            texts += 1
            fields.update({name for name, _ in row})
            keys.update({key for _, key in row})
            slots.update(row)
        return cls(texts, fields, keys, slots)


def _around(tokens: Sequence[str], found: Iterable[_Found]) -> list[str]:
    """The text from begin to end, with a mask for each word of the record's own values."""
    around = [BEGIN, *map(_folded, tokens), END]
    for each in found:
        if each.own:
            around[each.start + 1 : each.stop + 1] = [MASK] * (each.stop - each.start)
    return around


def _places(each: _Found, around: Sequence[str]) -> tuple[_Place, _Place]:
    """A value with the word before it, and with the word after it."""
    return (each.key, -1, around[each.start]), (each.key, 1, around[each.stop + 1])


def _lengths(keys: Iterable[Key]) -> Mapping[str, set[int]]:
    """How long the values are that begin with a word."""
    lengths: dict[str, set[int]] = {}
    for key in keys:
        lengths.setdefault(key[0], set()).add(len(key))
    return lengths


def _is_part(key: Key, value: Key) -> bool:
    return any(value[start : start + len(key)] == key for start in range(len(value) - len(key) + 1))


@lru_cache(maxsize=1 << 17)
def _folded(token: str) -> str:
    word = token.strip(" ").casefold()
    if word.isascii():
        return word
    decomposed = unicodedata.normalize("NFKD", word)
    return "".join(mark for mark in decomposed if not unicodedata.combining(mark)) or word


@lru_cache(maxsize=1 << 17)
def _words(token: str) -> tuple[str, ...]:
    """The words of a token as they are compared: none for a mark, two for `fast-food` between spaces."""
    folded = _folded(token)
    if folded[:1] in ("'", "’"):  # what a name may have behind it: 's
        return ()
    return tuple(_singular(word) for word in _WORD.findall(folded))


def _singular(word: str) -> str:
    return word[:-1] if len(word) > 3 and word[-1] == "s" and word[-2] != "s" and word.isalpha() else word


@lru_cache(maxsize=1 << 17)
def _keys(value: str, tokenizer: Tokenizer) -> tuple[Key, ...]:
    """A value as texts may say it: with and without its article. Yes, no and stop words are no values."""
    key = tuple(word for token in tokenize(value, tokenizer) for word in _words(token))
    if not key or is_yes_or_no(value) or (len(key) == 1 and key[0] in STOP_WORDS):
        return ()
    return (key, key[1:]) if len(key) > 1 and key[0] in _ARTICLES else (key,)
