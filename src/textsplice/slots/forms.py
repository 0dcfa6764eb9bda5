"""In which form texts say numbers and dates, and which spelling of a category counts, found by counting."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from textsplice.corpus.asked import ASKED
from textsplice.corpus.forms import FORMS, LIST, SPELLED, items
from textsplice.corpus.table import Example
from textsplice.text.tokens import tokenize
from textsplice.text.verbatim import occurrences

SAMPLE = 1000  # texts
FEWEST = 10  # values of a field
NEARLY_ALL = 0.9  # share of values that a form must be made of
MOSTLY = 0.8  # share that texts must say in it
BETTER = 0.3  # how many more than as they stand
YEARS = ("year", "month first, year")  # forms that leave something out,
HARDLY = 0.1  # so they are taken only if no more texts say the whole date
AS_GOOD = 0.05  # forms that texts say nearly as often as the most common one
SEVERAL = 0.2  # share of values that hold several, and of those that may be said as they stand
MOST_SPELLED = 40  # values of a field of which each is read in one spelling


def find_forms(examples: Iterable[Example]) -> tuple[str, ...]:
    """The fields whose values texts say in another form, as `price=1,000`, or `dogs=as yes|no`."""
    kept = [example for example in examples if (example.text or "").strip()]
    said: dict[str, list[tuple[str, list[str]]]] = {}
    for example in kept[:: -(-len(kept) // SAMPLE) or 1]:
        words = [token.casefold() for token in tokenize(example.text or "")]
        for name, values in example.table:
            pairs = [(value, words) for value in values if value != ASKED and value[-1:].isalnum()]
            said.setdefault(name, []).extend(pairs)
    spelled = _spellings(kept)
    found = ((name, _form(pairs) or _list(pairs) or spelled.get(name)) for name, pairs in said.items())
    return tuple(f"{name}={form}" for name, form in found if form)


def _spellings(examples: Sequence[Example]) -> dict[str, str]:
    """Of fields with few values, some of which differ only in case: the spelling of each that counts.

    It is the one that texts say most often, and of those that no text says, the most common one.
    """
    values: dict[str, Counter[str]] = {}
    for example in examples:
        for name, given in example.table:
            counts = values.setdefault(name, Counter())
            if len(counts) <= 2 * MOST_SPELLED:  # of more, nothing is asked
                counts.update(given)
    found: dict[str, str] = {}
    for name, counts in values.items():
        alike: dict[str, list[str]] = {}
        for value in counts:
            alike.setdefault(value.casefold(), []).append(value)
        plain = not any(mark in value for value in counts for mark in "|=")
        if len(alike) < len(counts) and len(alike) <= MOST_SPELLED and plain:
            said = _times_said(name, examples)
            best = (
                max(_cases(each), key=lambda value: (said[value], counts[value], value))
                for each in alike.values()
            )
            found[name] = SPELLED + "|".join(sorted(best))
    return found


def _times_said(name: str, examples: Sequence[Example]) -> Counter[str]:
    """How many texts say each spelling of their own table's value."""
    times = Counter[str]()
    for example in examples[:: -(-len(examples) // SAMPLE) or 1]:
        values = {value for field, given in example.table if field == name for value in given}
        if values:
            text = tokenize(example.text or "")
            times.update(each for each in _cases(values) if _stands_in(text, tokenize(each)))
    return times


def _stands_in(text: Sequence[str], words: Sequence[str]) -> bool:
    """Whether whole words do: the m of `medium` is no size M."""
    return bool(words) and next(occurrences(text, words), None) is not None


def _cases(values: Iterable[str]) -> set[str]:
    """Values in small and capital letters."""
    return {each for v in values for each in (v, v.lower(), v.upper(), v.capitalize(), v.title())}


def _form(pairs: list[tuple[str, list[str]]]) -> str | None:
    if len(pairs) < FEWEST or not any(character.isdigit() for character in pairs[0][0]):
        return None
    shares: dict[str, float] = {}
    lengths: dict[str, int] = {}
    for name, form in FORMS.items():
        written = [(new, words) for value, words in pairs if (new := form(value)) is not None]
        if len(written) >= NEARLY_ALL * len(pairs):
            shares[name], lengths[name] = _share(written), sum(len(new) for new, _ in written)
    as_it_stands = _share(pairs)
    enough = max(MOSTLY, BETTER + as_it_stands, max(shares.values(), default=0.0) - AS_GOOD)
    # A year that texts say may be part of a date that they say: what says most is read.
    best = max((name for name in shares if shares[name] >= enough), key=lengths.__getitem__, default=None)
    whole = as_it_stands + sum(share for name, share in shares.items() if name not in YEARS)
    return None if best in YEARS and whole > HARDLY else best


def _list(pairs: list[tuple[str, list[str]]]) -> str | None:
    """Whether texts say the values one by one that stand in one, with commas between."""
    several = [(value, words) for value, words in pairs if len(items(value)) > 1]
    if len(several) < max(FEWEST, SEVERAL * len(pairs)) or _share(several) > SEVERAL:
        return None  # some say `Austin, Texas`
    parts = [(item, words) for value, words in several for item in items(value)]
    return LIST if _share(parts) >= MOSTLY else None


def _share(pairs: list[tuple[str, list[str]]]) -> float:
    """The share of values that stand in their texts as they would be copied."""
    said = 0
    for value, words in pairs:
        tokens = [token.casefold() for token in tokenize(value)]
        said += _stands_in(words, tokens)
    return said / len(pairs)
