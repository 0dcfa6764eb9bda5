"""What a text is about: words that only stand in texts whose records have a field, whatever its value.

`motor` stands in texts of bicycles that are electric or not, and never where the record does not say. A text
that has it all the same tells something that nobody knows, in whatever words; and if nearly all texts with
the field have such a word, one without any leaves the field out. Found by counting, in any language. Whether
that goes for a corpus at all is tried: what is found in one half of its records must hardly ever speak
against texts of the other.

Words also tell the value of a category: `Austria` stands only in texts about Austrians, and `she` in those
about women. A text that says such a word of a record with another value is as doubtful.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from textsplice.corpus.table import Table
from textsplice.slots.phrases import LITTLE
from textsplice.slots.wordings import words_of

ENOUGH = 5  # records with the field whose texts have the word
# Probability that some word stands in no text of records without the field, if it were as common there.
CHANCE = 0.01
STRAY = 0.005  # share of records without the field whose texts may have it all the same
NEARLY_ALL = 0.98  # share of texts with the field that have one of its words
PURE = 0.98  # share of texts with a word whose records have the value that it tells
FEW = 24  # values of a category
ALARMS = 0.02  # share of held-out texts that may be spoken against, though people wrote them

Category = tuple[str, str]  # a field and one of its values
Texts = dict[Table, list[set[str]]]  # the words of the texts of each record


@dataclass(frozen=True)
class Topics:
    """The fields that each word is about, and the words of fields that nearly all texts speak of."""

    fields: Mapping[str, frozenset[str]] = field(default_factory=dict[str, frozenset[str]])
    spoken_of: Mapping[str, frozenset[str]] = field(default_factory=dict[str, frozenset[str]])
    tells: Mapping[str, frozenset[Category]] = field(default_factory=dict[str, frozenset[Category]])

    @classmethod
    def of(cls, examples: Iterable[tuple[Table, str]]) -> Topics:
        """What the texts of these tables are about; nothing if that does not hold for held-out texts."""
        examples = list(examples)
        seen: Texts = {}
        for table, text in examples:
            seen.setdefault(table, []).append(_words(text, table))
        halves: list[Texts] = [{}, {}]
        for number, (table, texts) in enumerate(seen.items()):
            halves[number % 2][table] = texts
        added = left_out = total = 0
        for found, held_out in ((_found(halves[0]), halves[1]), (_found(halves[1]), halves[0])):
            for table, texts in held_out.items():
                names = _fields(table)
                total += len(texts)
                added += sum(any(found.foreign(words, names)) for words in texts)
                left_out += sum(any(found.silent(words, names)) for words in texts)
        whole = _found(seen)
        if added > ALARMS * total:
            whole = replace(whole, fields={})
        whole = replace(whole, spoken_of={}) if left_out > ALARMS * total else whole
        return replace(whole, tells=_telling(examples))

    def added(self, text: str, table: Table) -> Iterator[str]:
        """What a text speaks of though its record does not have it, as clauses, each field once."""
        told = dict[str, str]()
        for word in self.foreign(_words(text, table), _fields(table)):
            told.setdefault(" or ".join(sorted(self.fields[word])), word)
        for names, word in told.items():
            yield f"it says {word!r}, as only texts about {names} do, which the record does not have"

    def clashes(self, text: str, table: Table) -> Iterator[str]:
        """The words of a text that tell another value than its record has, as clauses, each field once."""
        if not self.tells:
            return
        known = {name: values[0] for name, values in table if len(values) == 1}
        told = dict[str, str]()
        for word in sorted(_all_words(text, table)):
            for name, value in self.tells.get(word, ()):
                if name in known and known[name] != value:
                    told.setdefault(name, f"it says {word!r}, as texts do where {name} is {value}")
        for name, clause in told.items():
            yield f"{clause}, not {known[name]}"

    def left_out(self, text: str, table: Table, unchecked: Iterable[str]) -> Iterator[str]:
        """The fields that can't be checked and that a text does not even speak of, as clauses."""
        for name in self.silent(_words(text, table), dict.fromkeys(unchecked)):
            yield f"it does not speak of {name}, as nearly all texts do"

    def foreign(self, words: Iterable[str], names: Collection[str]) -> Iterator[str]:
        """The words that are only about other fields than these."""
        return (word for word in sorted(words) if word in self.fields and self.fields[word].isdisjoint(names))

    def silent(self, words: Collection[str], names: Iterable[str]) -> Iterator[str]:
        """The fields that these words do not speak of, though nearly all texts would."""
        return (name for name in names if name in self.spoken_of and self.spoken_of[name].isdisjoint(words))


def _found(seen: Texts) -> Topics:
    """What these texts are about."""
    # The texts of one record are much alike: each word counts once for it.
    total, times = Counter[str](), Counter[str]()
    together: dict[str, Counter[str]] = {}
    said: dict[str, list[set[str]]] = {}
    for table, texts in seen.items():
        names, words = _fields(table), set[str]().union(*texts)
        total.update(names)
        times.update(words)
        for name in names:
            said.setdefault(name, []).extend(texts)
            together.setdefault(name, Counter()).update(words)
    about: dict[str, set[str]] = {}
    chance = CHANCE / max(1, len(times))
    for name, counts in together.items():
        without = len(seen) - total[name]
        for word, count in counts.items():
            share = count / (total[name] + 2)
            few_strays = times[word] - count <= STRAY * without
            if count >= ENOUGH and few_strays and (1 - share) ** without < chance:
                about.setdefault(word, set()).add(name)
    own: dict[str, set[str]] = {}
    for word, names in about.items():
        for name in names:
            own.setdefault(name, set()).add(word)
    spoken_of = {
        name: frozenset(words)
        for name, words in own.items()
        if sum(map(words.isdisjoint, said[name])) <= (1 - NEARLY_ALL) * len(said[name])
    }
    return Topics({word: frozenset(names) for word, names in about.items()}, spoken_of)


def _telling(examples: Sequence[tuple[Table, str]]) -> dict[str, frozenset[Category]]:
    """The words that tell the value of a category; none if they speak against too many held-out texts."""
    rows = [
        ({n: vs[0] for n, vs in table if len(vs) == 1}, _all_words(text, table)) for table, text in examples
    ]
    fields = _categories(table for table, _ in examples)
    numbers: dict[Table, int] = {}
    sides = [numbers.setdefault(table, len(numbers)) % 2 for table, _ in examples]
    alarms = 0
    for side in (0, 1):
        found = _tells([row for row, own in zip(rows, sides, strict=True) if own == side], fields)
        for (known, words), own in zip(rows, sides, strict=True):
            alarms += own != side and any(
                known.get(name, value) != value for word in words for name, value in found.get(word, ())
            )
    return _tells(rows, fields) if alarms <= ALARMS * len(rows) else {}


def _tells(
    rows: Sequence[tuple[Mapping[str, str], set[str]]], fields: Collection[str]
) -> dict[str, frozenset[Category]]:
    total, having = Counter[str](), Counter[Category]()
    said: dict[str, Counter[Category]] = {}
    for known, words in rows:
        own = [(name, value) for name, value in known.items() if name in fields]
        total.update(name for name, _ in own)
        having.update(own)
        for word in words:
            said.setdefault(word, Counter()).update(own)
    found: dict[str, frozenset[Category]] = {}
    chance = CHANCE / max(1, len(said))
    for word, counts in said.items():
        times = Counter[str]()
        for (name, _), count in counts.items():
            times[name] += count
        best = {
            (name, value)
            for (name, value), count in counts.items()
            if count >= max(ENOUGH, PURE * times[name])
            if (having[name, value] / total[name]) ** count < chance
        }
        if best:
            found[word] = frozenset(best)
    return found


def _categories(tables: Iterable[Table]) -> set[str]:
    """The fields that have one of a few values each time."""
    given: dict[str, set[str]] = {}
    several: set[str] = set()
    for table in tables:
        for name, values in table:
            several |= {name} if len(values) > 1 else set()
            if len(known := given.setdefault(name, set())) <= FEW:
                known.update(values)
    return {name for name, values in given.items() if 1 < len(values) <= FEW} - several


def _all_words(text: str, table: Table) -> set[str]:
    """All words of a text without those of its record's values."""
    own = {word for _, values in table for value in values for word in words_of(value)}
    return {word for word in words_of(text) if word[0].isalpha()} - own


def _fields(table: Table) -> set[str]:
    return {name for name, values in table if values}


def _words(text: str, table: Table) -> set[str]:
    """The words of a text that say something, without those of its record's values."""
    own = {word for _, values in table for value in values for word in words_of(value)}
    return {word for word in words_of(text) if word[0].isalpha()} - LITTLE - own
