"""In which form texts say the numbers and dates of a corpus, found by counting."""

from __future__ import annotations

from collections.abc import Iterable

from textsplice.corpus.asked import ASKED
from textsplice.corpus.forms import FORMS
from textsplice.corpus.table import Example
from textsplice.text.tokens import tokenize
from textsplice.text.verbatim import occurrences

SAMPLE = 1000  # texts
FEWEST = 10  # values of a field
NEARLY_ALL = 0.9  # share of values that a form must be made of
MOSTLY = 0.8  # share that texts must say in it
BETTER = 0.3  # how many more than as they stand


def find_forms(examples: Iterable[Example]) -> tuple[str, ...]:
    """The fields whose values texts say in another form, as `price=1,000`."""
    kept = [example for example in examples if (example.text or "").strip()]
    said: dict[str, list[tuple[str, list[str]]]] = {}
    for example in kept[:: -(-len(kept) // SAMPLE) or 1]:
        words = [token.casefold() for token in tokenize(example.text or "")]
        for name, values in example.table:
            pairs = [(value, words) for value in values if value != ASKED and value[-1:].isalnum()]
            said.setdefault(name, []).extend(pairs)
    found = ((name, _form(pairs)) for name, pairs in said.items())
    return tuple(f"{name}={form}" for name, form in found if form)


def _form(pairs: list[tuple[str, list[str]]]) -> str | None:
    if len(pairs) < FEWEST or not any(character.isdigit() for character in pairs[0][0]):
        return None
    shares: dict[str, float] = {}
    for name, form in FORMS.items():
        written = [(new, words) for value, words in pairs if (new := form(value)) is not None]
        if len(written) >= NEARLY_ALL * len(pairs):
            shares[name] = _share(written)
    best = max(shares, key=lambda name: shares[name], default=None)
    return best if best and shares[best] >= max(MOSTLY, BETTER + _share(pairs)) else None


def _share(pairs: list[tuple[str, list[str]]]) -> float:
    """The share of values that stand in their texts as they would be copied."""
    said = 0
    for value, words in pairs:
        tokens = [token.casefold() for token in tokenize(value)]
        said += next(occurrences(words, tokens), None) is not None
    return said / len(pairs)
