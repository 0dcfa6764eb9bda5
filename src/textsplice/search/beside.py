"""Whether a value fits the word before or after it: no `the the old mill`, `an moderate walk`, `1 rooms`.

Which word goes with one, with none and with several is not looked up, but counted: if most who write of
several say `rooms` after the number, and of many who write of one nobody does, then `1 rooms` is a slip.
So is `lusciously dry`, if many write `dry` and only of sweet wines somebody says `lusciously`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
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


SMALL = 0.02  # share of texts that may begin with a small letter where a capital is usual
USUAL = 0.2  # share of texts with a number of a field that have a word beside it which tells the field
CHANCE = 0.001  # that nobody says a word so, if it were said of one as of several
FEW = 12  # values of a field that is a choice among them
_SMALL_START = re.compile(r"[.!?]\s+(?=[^\W\d_])(?P<word>\w+)")
HARDLY = 0.0001  # the same, if it were said of one category as of others
APART = ("0", "1")  # numbers that have words of their own
Counted = tuple[str, str]  # a field, and its number if that is one of these
Around = tuple[int, str]  # before (-1) or after (1) it, this word
Choice = tuple[str, str]  # a field that is a choice among a few values, and one of them


@dataclass(frozen=True)
class Beside:
    """How often texts write each form of the article before each letter, and each word beside a number."""

    before: Counter[tuple[str, str]] = field(default_factory=Counter[tuple[str, str]])
    texts: Counter[Counted] = field(default_factory=Counter[Counted])
    around: Mapping[Counted, Counter[Around]] = field(default_factory=dict[Counted, Counter[Around]])
    capital: bool = False  # nearly all texts begin with a capital letter,
    small_starts: frozenset[str] | None = None  # and nearly all sentences, but for these words
    saying: Counter[Choice] = field(default_factory=Counter[Choice])  # texts that say it word for word
    near: Mapping[Choice, Counter[Around]] = field(default_factory=dict[Choice, Counter[Around]])

    @classmethod
    def of(cls, examples: Iterable[tuple[Table, str]]) -> Beside:
        """What the texts of these tables do."""
        examples = list(examples)
        few = _choice_fields(table for table, _ in examples)
        saying, near = Counter[Choice](), dict[Choice, Counter[Around]]()
        small_starts, starting_small = set[str](), 0
        before, texts = Counter[tuple[str, str]](), Counter[Counted]()
        around: dict[Counted, Counter[Around]] = {}
        small = total = 0
        for table, text in examples:
            small += text[:1].islower()
            total += text[:1].islower() or text[:1].isupper()  # digits and many scripts are neither
            starts = set(_small_starts(text))
            small_starts |= starts
            starting_small += bool(starts)
            tokens = [token.casefold() for token in tokenize(text)]
            pairs = pairwise(tokens)
            before.update({(word, after[0]) for word, after in pairs if word in FORMS and after[0].isalpha()})
            for name, number in _numbers(table):
                key = _counted(name, number)
                texts[key] += 1
                places = (place for place, token in enumerate(tokens) if token == number)
                said = {each for place in places for each in _around(tokens, place)}
                around.setdefault(key, Counter()).update(said)
            for choice, said in _choices(table, tokens, few):
                saying[choice] += 1
                near.setdefault(choice, Counter()).update(said)
        capital = total >= ENOUGH and small <= SMALL * total
        known = frozenset(small_starts) if capital and starting_small <= SMALL * total else None
        return cls(before, texts, around, capital, known, saying, near)

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
        found.update(dict.fromkeys(self._disagreeing(tokens, folded, table)))
        yield from dict.fromkeys(self._exchanged(tokens, folded, table))
        found.update(dict.fromkeys(self._unusual(folded, table)))
        if self.capital and text[:1].islower():
            yield f"it begins with a small letter, as hardly any text does: {tokens[0]!r}"
        if self.small_starts is not None:
            for word in sorted(set(_small_starts(text)) - self.small_starts):
                yield f"a sentence begins with a small letter: {word!r}"
        yield from (f"it says {pair!r}, which hardly reads well" for pair in found)

    def _disagreeing(self, tokens: Sequence[str], folded: Sequence[str], table: Table) -> Iterator[str]:
        """Numbers beside a word that goes with one, and not with several, or the other way round."""
        fields: dict[str, list[Counted]] = {}
        for name, number in _numbers(table):
            fields.setdefault(number, []).append(_counted(name, number))
        for place, token in enumerate(folded):
            for side, word in _around(folded, place) if token in fields else ():
                # A number may be that of several fields: one that it goes with is enough.
                if all(self._avoided(key, (side, word)) for key in fields[token]):
                    yield " ".join(tokens[min(place, place + side) : max(place, place + side) + 1])

    def _unusual(self, folded: Sequence[str], table: Table) -> Iterator[str]:
        """Words beside a category that go with other ones, and not with this one."""
        fields: dict[str, list[Choice]] = {}
        for choice in self.saying:
            fields.setdefault(choice[0], []).append(choice)
        for choice, said in _choices(table, folded, fields):
            others = [other for other in fields[choice[0]] if other != choice]
            texts = sum(self.saying[other] for other in others) + 2
            for side, word in sorted(said):
                share = sum(self.near[other][side, word] for other in others) / texts
                never = not self.near.get(choice, {}).get((side, word))
                if never and (1 - share) ** self.saying[choice] < HARDLY:
                    yield f"{word} {choice[1]}" if side < 0 else f"{choice[1]} {word}"

    def _exchanged(self, tokens: Sequence[str], folded: Sequence[str], table: Table) -> Iterator[str]:
        """Numbers that stand where texts say that of another field, which has another one, as clauses."""
        numbers: dict[str, set[str]] = {}
        for name, number in _numbers(table):
            numbers.setdefault(name, set()).add(number)
        for place, token in enumerate(folded):
            own = [name for name, values in numbers.items() if token in values]
            for side, word in _around(folded, place) if own else ():
                if any(self._share(name, (side, word)) for name in own):
                    continue
                for name in sorted(numbers.keys() - own):
                    share = self._share(name, (side, word))
                    if share >= USUAL and all((1 - share) ** self._total(each) < CHANCE for each in own):
                        pair = " ".join(tokens[min(place, place + side) : max(place, place + side) + 1])
                        yield f"it says {pair!r}, as texts say of {name}, which is {min(numbers[name])}"

    def _share(self, name: str, word: Around) -> float:
        """The share of texts with a number of a field that have this word beside it."""
        times = sum(self.around.get(key, {}).get(word, 0) for key in _keys(name))
        return times / max(ENOUGH, self._total(name))

    def _total(self, name: str) -> int:
        return sum(self.texts[key] for key in _keys(name))

    def _avoided(self, key: Counted, word: Around) -> bool:
        """Whether nobody says a word so, though they would if it went with one as with several."""
        if self.around.get(key, {}).get(word):
            return False
        others = [other for other in _keys(key[0]) if other != key]
        times = sum(self.around.get(other, {}).get(word, 0) for other in others)
        share = times / (sum(self.texts[other] for other in others) + 2)
        return (1 - share) ** self.texts[key] < CHANCE

    def _clash(self, word: str, first: str) -> bool:
        """Whether a word does not go with the first word of a value."""
        if _same(word, first) or (_is_article(word) and _is_article(first)):
            return True
        form, letter = word.casefold(), first[0].casefold()
        if form not in FORMS or not letter.isalpha():
            return False
        return not self.before[form, letter] and self.before[FORMS[form], letter] >= ENOUGH


def _numbers(table: Table) -> Iterator[tuple[str, str]]:
    """The whole numbers of a table, with their fields."""
    return ((name, value) for name, values in table for value in values if value.isdecimal())


def _small_starts(text: str) -> Iterator[str]:
    """The words that begin sentences, but for the first one, and begin with a small letter."""
    return (each["word"] for each in _SMALL_START.finditer(text) if each["word"][0].islower())


def _choice_fields(tables: Iterable[Table]) -> set[str]:
    """The fields that have one of a few values each time."""
    given: dict[str, set[str]] = {}
    several: set[str] = set()
    for table in tables:
        for name, values in table:
            given.setdefault(name, set()).update(map(str.casefold, values))
            several |= {name} if len(values) > 1 else set()
    return {name for name, values in given.items() if 1 < len(values) <= FEW} - several


def _choices(
    table: Table, tokens: Sequence[str], fields: Collection[str]
) -> Iterator[tuple[Choice, set[Around]]]:
    """The categories of a table that a text says word for word, with the words beside them."""
    for name, values in table:
        for value in map(str.casefold, values) if name in fields else ():
            words = tokenize(value)
            places = list(_places(words, tokens))
            if places:
                ends = ((-1, place - 1) for place in places), ((1, place + len(words)) for place in places)
                yield (
                    (name, value),
                    {
                        (side, tokens[at])
                        for each in ends
                        for side, at in each
                        if 0 <= at < len(tokens) and tokens[at].isalpha()
                    },
                )


def _counted(name: str, number: str) -> Counted:
    return name, number if number in APART else ""


def _keys(name: str) -> list[Counted]:
    return [_counted(name, number) for number in (*APART, "")]


def _around(tokens: Sequence[str], place: int) -> Iterator[Around]:
    """The words before and after a token."""
    for side in (-1, 1):
        if 0 <= place + side < len(tokens) and tokens[place + side].isalpha():
            yield side, tokens[place + side]


def _same(word: str, other: str) -> bool:
    return len(word) > 1 and word.isalpha() and word.casefold() == other.casefold()


def _is_article(word: str) -> bool:
    """A capital A may be a grade, or a name."""
    return word.casefold() in ARTICLES and word != "A"


def _places(words: Sequence[str], text: Sequence[str]) -> Iterator[int]:
    for start in range(len(text) - len(words) + 1 if words else 0):
        if list(text[start : start + len(words)]) == list(words):
            yield start
