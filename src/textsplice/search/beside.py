"""Whether a value fits the word before or after it: no `the the old mill`, `an moderate walk`, `1 rooms`.

Which word goes with one, with none and with several is not looked up, but counted: if most who write of
several say `rooms` after the number, and of many who write of one nobody does, then `1 rooms` is a slip.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
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
APART = ("0", "1")  # numbers that have words of their own
Counted = tuple[str, str]  # a field, and its number if that is one of these
Around = tuple[int, str]  # before (-1) or after (1) it, this word


@dataclass(frozen=True)
class Beside:
    """How often texts write each form of the article before each letter, and each word beside a number."""

    before: Counter[tuple[str, str]] = field(default_factory=Counter[tuple[str, str]])
    texts: Counter[Counted] = field(default_factory=Counter[Counted])
    around: Mapping[Counted, Counter[Around]] = field(default_factory=dict[Counted, Counter[Around]])
    capital: bool = False  # nearly all texts begin with a capital letter

    @classmethod
    def of(cls, examples: Iterable[tuple[Table, str]]) -> Beside:
        """What the texts of these tables do."""
        before, texts = Counter[tuple[str, str]](), Counter[Counted]()
        around: dict[Counted, Counter[Around]] = {}
        small = total = 0
        for table, text in examples:
            small += text[:1].islower()
            total += text[:1].islower() or text[:1].isupper()  # digits and many scripts are neither
            tokens = [token.casefold() for token in tokenize(text)]
            pairs = pairwise(tokens)
            before.update({(word, after[0]) for word, after in pairs if word in FORMS and after[0].isalpha()})
            for name, number in _numbers(table):
                key = _counted(name, number)
                texts[key] += 1
                places = (place for place, token in enumerate(tokens) if token == number)
                said = {each for place in places for each in _around(tokens, place)}
                around.setdefault(key, Counter()).update(said)
        return cls(before, texts, around, capital=total >= ENOUGH and small <= SMALL * total)

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
        if self.capital and text[:1].islower():
            yield f"it begins with a small letter, as hardly any text does: {tokens[0]!r}"
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
