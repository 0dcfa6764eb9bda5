"""Which phrases say a value: found in one half of the texts, by tests that ask what else explains them.

A phrase is a candidate if it stands with the value more often than chance allows (Fisher's test, times the
number of phrases), and no other field explains it: among the tables that agree in that other field, it must
still go with the value (Mantel and Haenszel's test). `racing game` may stand with `Steam: no` in every text;
if it only does so because it stands with `genre: racing`, it is no wording. A phrase that has a word of the
field's own name is believed to be about the field.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from textsplice.slots.association import Counts, fisher, mantel_haenszel
from textsplice.slots.phrases import LITTLE, NEGATING, Phrase, Phrases, Sample, said_at
from textsplice.slots.wordings import words_of
from textsplice.text.yes_no import is_yes_or_no

_PARTS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|[_\W]+")
Rows = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Induction:
    """What a phrase must be worth to be proposed."""

    most_values: int = 40  # a field with more values gets no phrases: its values appear verbatim
    least_texts: int = 5  # texts of the first half that have the phrase and the value
    precision: float = 0.8  # least share of texts with the phrase whose tables have the value,
    strict: float = 0.95  # and for a phrase that has no word of the field's name
    chance: float = 0.01  # of at least one phrase that goes with a value by accident
    held_out: float = 0.7  # what precision on the second half must at least be, with 95 % confidence,
    held_out_strict: float = 0.8  # and for a phrase that has no word of the field's name
    recall: float = 0.8  # if fewer texts with a value say it in a known way, "missing" would be a guess
    gain: float = 0.01  # share of the value's texts that another phrase must explain
    as_good: float = 0.9  # phrases that explain this share of the most are rivals
    most_phrases: int = 12
    repeated: float = 0.05  # a field said twice in a larger share of texts may be said twice
    left_out: float = 0.5  # a number that more texts do not have may be said in other words
    most_others: int = 400  # values of other fields that are asked whether they explain a phrase


DEFAULTS = Induction()


@dataclass(frozen=True)
class Search:
    """The first half of the texts, its phrases, and what its tables have."""

    sample: Sample
    settings: Induction

    @cached_property
    def phrases(self) -> Phrases:
        """The phrases that are common enough to be wordings."""
        return self.sample.phrases(self.settings.least_texts)

    @cached_property
    def values(self) -> dict[str, Counter[str]]:
        """How many tables have each value of each field."""
        found: dict[str, Counter[str]] = {}
        for example in self.sample.examples:
            for field, given in example.table:
                found.setdefault(field, Counter()).update(set(given))
        return found

    @cached_property
    def _indicators(self) -> list[tuple[str, Rows]]:
        """What else a table may have: a field, or one of the most common values."""
        size, least = len(self.sample), self.settings.least_texts
        common = sorted(
            (
                (count, field, value)
                for field, values in self.values.items()
                for value, count in values.items()
            ),
            key=lambda each: (-each[0], each[1:]),
        )[: self.settings.most_others]
        rows = {
            (field, value): np.zeros(size, dtype=np.bool_) for count, field, value in common if count >= least
        }
        present = {field: np.zeros(size, dtype=np.bool_) for field in self.values}
        for number, example in enumerate(self.sample.examples):
            for field, given in example.table:
                if given:
                    present[field][number] = True
                for value in given:
                    if (field, value) in rows:
                        rows[field, value][number] = True
        return [(field, found) for (field, _), found in rows.items()] + list(present.items())

    @cached_property
    def _own_words(self) -> dict[str, frozenset[str]]:
        """The words of each field's name that no other field has in its name."""
        named = {field: frozenset(words_in_name(field)) for field in self.values}
        times = Counter(word for words in named.values() for word in words)
        return {field: frozenset(w for w in words if times[w] == 1) for field, words in named.items()}

    @cached_property
    def _any_own_word(self) -> frozenset[str]:
        return frozenset().union(*self._own_words.values())

    def is_about(self, phrase: Phrase | str, field: str) -> bool:
        """Whether a phrase has a word of the field's own name."""
        words = phrase if isinstance(phrase, str) else phrase.words
        return not self._own_words.get(field, frozenset()).isdisjoint(map(stem, words.split()))

    def candidates(self, field: str, value: str, verbatim: bool) -> list[Phrase]:
        """The phrases that say a value, the one that most texts have first."""
        having, asked = self.sample.having(field, value), self.sample.having(field)
        if len(self.values.get(field, ())) == 1:
            asked = np.ones(len(self.sample), dtype=np.bool_)  # a cross or nothing: the others have none
        unexplained = having & ~self._said(value, having) if verbatim else having
        if not self._worth_another(int(unexplained.sum()), int(having.sum())):
            return []
        numbers = self._frequent(having, asked)
        found: dict[int, Rows] = {}
        precision: dict[int, float] = {}
        rows = self.phrases.rows(numbers, len(self.sample))
        for number, standing in zip(numbers, rows, strict=True):
            if self._stands_up(self.phrases.known[number], field, standing, having, asked):
                found[number] = standing & having
                precision[number] = int((standing & having).sum()) / int((standing & asked).sum())
        # What names the field comes first, whatever else explains more.
        about = {
            number: each for number, each in found.items() if self.is_about(self.phrases.known[number], field)
        }
        chosen = self._greedy(about, precision, unexplained, int(having.sum()))
        for number in chosen:
            unexplained = unexplained & ~found[number]
        others = {number: each for number, each in found.items() if number not in about}
        chosen += self._greedy(others, precision, unexplained, int(having.sum()))
        return [self.phrases.known[number] for number in chosen[: self.settings.most_phrases]]

    def _frequent(self, having: Rows, asked: Rows) -> list[int]:
        """Phrases that mostly stand with the value, by counting alone."""
        settings = self.settings
        right, told = self.phrases.counts(having), self.phrases.counts(asked)
        count, others = max(1, int(having.sum())), int(asked.sum()) - int(having.sum())
        # Where nearly all tables have the value, being right is no merit.
        enough = (right >= settings.least_texts) & (right >= settings.precision * told)
        more = right / count > 2 * (told - right) / max(1, others)
        return np.flatnonzero(enough & more).tolist()

    def _stands_up(self, phrase: Phrase, field: str, standing: Rows, having: Rows, asked: Rows) -> bool:
        tests = max(1, len(self.phrases.known))
        counts = _counts(standing, having, asked)
        least = self.settings.precision if self.is_about(phrase, field) else self.settings.strict
        if counts.both < least * (counts.both + counts.phrase_only):
            return False
        if fisher(counts) * tests > self.settings.chance:
            return False
        # Texts of tables that lack the field must not have it as often: else it says something else.
        without = ~asked
        if without.sum() >= self.settings.least_texts:
            rival = Counts(
                int((standing & having).sum()),
                int((standing & without).sum()),
                int((~standing & having).sum()),
                int((~standing & without).sum()),
            )
            if fisher(rival) > self.settings.chance:
                return False
        if self.is_about(phrase, field):
            return True
        if not self._any_own_word.isdisjoint(map(stem, phrase.words.split())):
            return False  # it is about another field
        return not self._explained(field, standing, having, asked)

    def _explained(self, field: str, standing: Rows, having: Rows, asked: Rows) -> bool:
        """Whether the phrase goes with something else that a table has, and with the value only by that."""
        texts = standing & asked
        times = int(texts.sum())
        for other, rows in self._indicators:
            if other == field:
                continue
            shared = int((texts & rows).sum())
            base = int((rows & asked).sum()) / max(1, int(asked.sum()))
            if shared <= 1.2 * base * times:
                continue  # no more often there than elsewhere
            strata = [_counts(standing, having, asked & rows), _counts(standing, having, asked & ~rows)]
            if mantel_haenszel(strata) > self.settings.chance:
                return True
        return False

    def _worth_another(self, texts: int, having: int) -> bool:
        """Whether so many unexplained texts are worth another phrase."""
        return texts >= max(self.settings.least_texts, self.settings.gain * having)

    def _said(self, value: str, among: Rows) -> Rows:
        """Which of these texts say a value word for word."""
        found = np.zeros(len(self.sample), dtype=np.bool_)
        for row in np.flatnonzero(among):
            found[row] = next(said_at(value, self.sample.words[row]), None) is not None
        return found

    def _greedy(
        self, found: dict[int, Rows], precision: dict[int, float], unexplained: Rows, count: int
    ) -> list[int]:
        """Few phrases that explain most texts; each explains some that those before it do not."""
        settings, chosen = self.settings, list[int]()
        left = dict(found)
        while left and len(chosen) < settings.most_phrases:
            gains = {number: int((rows & unexplained).sum()) for number, rows in left.items()}
            most = max(gains.values())
            if not self._worth_another(most, count):
                break
            # Among phrases that explain about as much, the most precise and longest: "could park" before
            # "could".
            rivals = [number for number, gained in gains.items() if gained >= settings.as_good * most]
            known = self.phrases.known
            best = max(rivals, key=lambda n: (round(precision[n], 2), len(known[n].words), known[n]))
            unexplained = unexplained & ~left.pop(best)
            chosen.append(best)
        return chosen


def words_in_name(field: str) -> list[str]:
    """The words that a field is named by: `familyFriendly` is family and friendly."""
    words = words_of(" ".join(_PARTS.split(field)))
    return [stem(word) for word in words if word not in LITTLE and word not in NEGATING and len(word) > 2]


def is_yes_no(values: Counter[str]) -> bool:
    """Whether a field says yes or no and nothing else."""
    return bool(values) and all(map(is_yes_or_no, values))


def stem(word: str) -> str:
    """A word without its plural: enough to find `dogs` in `no dog`."""
    return word.removesuffix("s") if len(word) > 3 else word


def _counts(standing: Rows, having: Rows, among: Rows) -> Counts:
    both = int((standing & having & among).sum())
    phrase, value = int((standing & among).sum()), int((having & among).sum())
    return Counts(both, phrase - both, value - both, int(among.sum()) - phrase - value + both)
