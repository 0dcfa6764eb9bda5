"""The phrases of texts, and which of them are denied there: `not suitable for children` denies the others.

A phrase is one to five words, without values of its table, and begins and ends with a word that says
something. A denied phrase stands after a negation, as the lexicon's `not ... suitable` finds it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from textsplice.corpus.asked import ASKED
from textsplice.corpus.splits import table_digest
from textsplice.corpus.table import Example
from textsplice.slots.mentions import BARRIERS, GAP_WORDS, verbatim_phrases
from textsplice.slots.wordings import words_of
from textsplice.text.masking import STOP_WORDS
from textsplice.text.yes_no import is_yes_or_no

NEGATIONS = (
    "not|non|no|none|never|without|nor|neither|cannot|can't|isn't|aren't|wasn't|weren't|don't|doesn't|didn't|won't"
    "|wouldn't|shouldn't|couldn't|hasn't|haven't|lacks|lack|lacking|unavailable|nowhere"
)
NEGATING = frozenset(NEGATIONS.split("|"))
_LITTLE_WORDS = """
about after all also although am any been being both but can could did do does during each either else even
every few had he her here hers him his how i if into just many may me might more most much must my nor now off
one only other our over own per quite rather she should since so some such their them then these they those
through too under until up us very was we well were what when where while whom whose why will would you your
""".replace(" only", "")
# Words that say nothing of a record by themselves; a phrase is not made of these alone, nor at its ends.
LITTLE = (STOP_WORDS | frozenset(_LITTLE_WORDS.split())) - NEGATING
LONGEST = 5
_VALUE = ""  # stands for a word of a value


class Phrase(NamedTuple):
    """Words, and whether they are denied."""

    words: str
    denied: bool

    def wording(self) -> str:
        """As a lexicon writes it."""
        return f"{NEGATIONS} ... {self.words}" if self.denied else self.words


@dataclass(frozen=True)
class Phrases:
    """The common phrases of some texts: phrase `of[i]` stands in text `texts[i]`."""

    known: list[Phrase]
    of: NDArray[np.int64]
    texts: NDArray[np.int64]

    def counts(self, among: NDArray[np.bool_]) -> NDArray[np.int64]:
        """In how many of these texts each phrase stands."""
        return np.bincount(self.of[among[self.texts]], minlength=len(self.known))

    def rows(self, numbers: Sequence[int], size: int) -> NDArray[np.bool_]:
        """For some phrases, whether each text has them."""
        found = np.zeros((len(numbers), size), dtype=np.bool_)
        place = np.full(len(self.known), -1)
        place[list(numbers)] = np.arange(len(numbers))
        kept = place[self.of] >= 0
        found[place[self.of[kept]], self.texts[kept]] = True
        return found


@dataclass(frozen=True)
class Sample:
    """Examples with a text, and the words of each text."""

    examples: list[Example]
    words: list[list[str]]

    @classmethod
    def of(cls, examples: Iterable[Example]) -> Sample:
        """Those that have a text."""
        kept = [example for example in examples if (example.text or "").strip()]
        return cls(kept, [words_of(example.text or "") for example in kept])

    def __len__(self) -> int:
        return len(self.examples)

    def halves(self) -> tuple[Sample, Sample]:
        """Two parts, by table: what is proposed from the first is tried on the second."""
        digests = [table_digest(example.table) for example in self.examples]
        order = {digest: number for number, digest in enumerate(sorted(set(digests)))}
        sides = [order[digest] % 2 for digest in digests]
        return self._side(sides, 0), self._side(sides, 1)

    def _side(self, sides: Sequence[int], wanted: int) -> Sample:
        rows = [row for row, side in enumerate(sides) if side == wanted]
        return Sample([self.examples[row] for row in rows], [self.words[row] for row in rows])

    def having(self, field: str, value: str | None = None) -> NDArray[np.bool_]:
        """Which tables have a field or, if given, this value of it; those that ask for it do not."""
        found = np.zeros(len(self), dtype=np.bool_)
        found[self._rows.get((field, value), [])] = True
        return found

    @cached_property
    def _rows(self) -> dict[tuple[str, str | None], list[int]]:
        """The rows of each field that has a value, and of each value."""
        rows: dict[tuple[str, str | None], list[int]] = {}
        for row, example in enumerate(self.examples):
            for field, values in example.table:
                for value in (*dict.fromkeys(values), None) if values and ASKED not in values else ():
                    rows.setdefault((field, value), []).append(row)
        return rows

    def phrases(self, least: int) -> Phrases:
        """The phrases that stand in at least so many texts."""
        found = [set(_phrases(example, words)) for example, words in self]
        counts = Counter(phrase for each in found for phrase in each)
        known = sorted(phrase for phrase, count in counts.items() if count >= least)
        number = {phrase: place for place, phrase in enumerate(known)}
        pairs = [(number[phrase], row) for row, each in enumerate(found) for phrase in each & number.keys()]
        of, texts = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
        return Phrases(known, of, texts)

    def __iter__(self) -> Iterator[tuple[Example, list[str]]]:
        return zip(self.examples, self.words, strict=True)


def _phrases(example: Example, words: Sequence[str]) -> Iterator[Phrase]:
    denied = denials(words)
    kept = _without_values(example, words)
    for start, word in enumerate(kept):
        if not _may_end(word) or word in NEGATING:
            continue
        for stop in range(start + 1, min(start + LONGEST, len(kept)) + 1):
            last = kept[stop - 1]
            if last == _VALUE or last in BARRIERS - NEGATING:
                break
            if _may_end(last):
                yield Phrase(" ".join(kept[start:stop]), denied[start])


def denials(words: Sequence[str]) -> list[bool]:
    """Whether each word stands after a negation of its clause, with at most four words between."""
    found = [False] * len(words)
    for place, word in enumerate(words):
        if word in NEGATING:
            for after in range(place + 1, min(place + 2 + GAP_WORDS, len(words))):
                found[after] = True
                if words[after] in BARRIERS:
                    break
    return found


def _may_end(word: str) -> bool:
    return word != _VALUE and word not in LITTLE and any(map(str.isalpha, word))


def _without_values(example: Example, words: Sequence[str]) -> list[str]:
    """The words without the values of the table, so that no name becomes a wording."""
    kept = list(words)
    for _, values in example.table:
        for value in values:
            if is_yes_or_no(value):
                continue  # "no" is a word like others
            for start, stop in said_at(value, words):
                kept[start:stop] = [_VALUE] * (stop - start)
    return kept


def said_at(value: str, words: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Where a text says a value word for word."""
    for phrase in verbatim_phrases(value):
        size = len(phrase)
        first = phrase[0]
        for start in range(len(words) - size + 1):
            if words[start] in first and all(words[start + i] in phrase[i] for i in range(1, size)):
                yield start, start + size
