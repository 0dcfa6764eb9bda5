"""What a text asks for: "Does it have a balcony?" is no question about the price.

The words that go with each field that is asked for are counted in the texts of tables that ask.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from textsplice.corpus.asked import ASKED
from textsplice.corpus.table import Table
from textsplice.slots.candidates import stem, words_in_name
from textsplice.slots.phrases import LITTLE
from textsplice.slots.wordings import words_of

LEAST_TEXTS = 2  # that have a word and ask for the field
MOSTLY = 0.8  # share of the asking texts with a word that ask for the field


@dataclass(frozen=True)
class Asking:
    """The words that go with asking for each field."""

    words: Mapping[str, frozenset[str]]

    @classmethod
    def of(cls, examples: Iterable[tuple[Table, str]]) -> Asking:
        """Counts words in the texts of tables that ask for something."""
        times, total = dict[str, Counter[str]](), Counter[str]()
        for table, text in examples:
            said, fields = _words(text), asked_for(table)
            total.update(said if fields else ())
            for field in fields:
                times.setdefault(field, Counter()).update(said)
        return cls(
            {
                field: frozenset(words_in_name(field))
                | {w for w, n in counts.items() if n >= max(LEAST_TEXTS, MOSTLY * total[w])}
                for field, counts in times.items()
            }
        )

    def astray(self, text: str, table: Table) -> str | None:
        """What a text asks for instead of what its table asks for, as a clause; None if nothing shows."""
        fields = asked_for(table)
        if not fields:
            return None
        wanted, said = " and ".join(fields), _words(text)
        if any(not said.isdisjoint(self.words.get(field, ())) for field in fields):
            return None
        others = [f for f, words in self.words.items() if f not in fields and not said.isdisjoint(words)]
        if others:
            return f"it asks for {others[0]}, not for {wanted}"
        return None if ASKED in text else f"it does not ask for {wanted}"


def asked_for(table: Table) -> list[str]:
    """The fields that a table asks for."""
    return [name for name, values in table if ASKED in values]


def _words(text: str) -> set[str]:
    return {stem(word) for word in words_of(text) if word not in LITTLE and word.isalpha()}
