"""In which form texts say numbers and dates, and which spelling of a category counts, found by counting."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from textsplice.corpus.asked import ASKED
from textsplice.corpus.forms import FORMS, LISTS, SPELLED, Form, alone
from textsplice.corpus.table import Example
from textsplice.slots.phrases import said_at
from textsplice.slots.wordings import words_of
from textsplice.text.tokens import tokenize
from textsplice.text.verbatim import occurrences

SAMPLE = 1000  # texts
FEWEST = 10  # values of a field
NEARLY_ALL = 0.9  # share of values that a form must be made of
MOSTLY = 0.8  # share that texts must say in it
OFTEN = 0.5  # share of values in lists that texts must say, if they stand in any order; of those that do so
BETTER = 0.3  # how many more than as they stand
YEARS = ("year", "month first, year")  # forms that leave something out,
HARDLY = 0.1  # so they are taken only if no more texts say the whole date
AS_GOOD = 0.05  # forms that texts say nearly as often as the most common one
SOME = 0.3  # share of texts that say a number or a date in a form, and half as many as it stands
SEVERAL = 0.15  # share of values that hold several, and of those that may be said as they stand
MOST_SPELLED = 40  # values of a field of which each is read in one spelling


def find_forms(examples: Iterable[Example]) -> tuple[str, ...]:
    """The fields whose values texts say in another form, as `price=1,000`, or `dogs=as yes|no`."""
    kept = [example for example in examples if (example.text or "").strip()]
    said: dict[str, list[tuple[str, list[str]]]] = {}
    for example in kept[:: -(-len(kept) // SAMPLE) or 1]:
        words = [token.casefold() for token in tokenize(example.text or "")]
        for name, values in example.table:
            pairs = [(value, words) for value in values if value != ASKED and not value.endswith((".", "!"))]
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
    numbers = alone(pairs[0][0])
    forms: dict[str, Form] = {
        **FORMS,
        **{name: lambda value, name=name: alone(value).get(name) for name in numbers},
    }
    for name, form in forms.items():
        written = [(new, words) for value, words in pairs if (new := form(value)) is not None]
        # A number may lose its unit only if there is no other one.
        if len(written) >= (len(pairs) if name in numbers else NEARLY_ALL * len(pairs)):
            shares[name], lengths[name] = _share(written), sum(len(new) for new, _ in written)
    as_it_stands = _share(pairs)
    enough = max(MOSTLY, BETTER + as_it_stands, max(shares.values(), default=0.0) - AS_GOOD)
    # A year that texts say may be part of a date that they say: what says most is read.
    best = max((name for name in shares if shares[name] >= enough), key=lengths.__getitem__, default=None)
    whole = as_it_stands + sum(share for name, share in shares.items() if name not in YEARS)
    if best in YEARS and whole > HARDLY:
        best = None
    if best is None:
        years = {} if whole <= HARDLY else dict.fromkeys(YEARS, 0.0)
        best = _sometimes({**shares, **years}, forms, pairs)
    return best


def _sometimes(
    shares: Mapping[str, float], forms: Mapping[str, Form], pairs: list[tuple[str, list[str]]]
) -> str | None:
    """The form that most texts say, if others say it in another one or not at all, and few as it stands."""
    best = max(shares, key=lambda name: shares[name], default=None)
    if best is None or shares[best] < max(SOME, 2 * _share(pairs)):
        return None
    count = len(pairs)
    others = [(pairs[(row + count // 3) % count][0], words) for row, (_, words) in enumerate(pairs)]
    chance = _share([(forms[best](value) or value, words) for value, words in others])
    return best if chance < shares[best] / 2 else None


def _list(pairs: list[tuple[str, list[str]]]) -> str | None:
    """How the values that stand in one are separated, if texts say them one by one."""
    for name, read in LISTS.items():
        several = [(value, words) for value, words in pairs if len(read(value)) > 1]
        if len(several) < max(FEWEST, SEVERAL * len(pairs)) or _share(several) > SEVERAL:
            continue  # some say `Austin, Texas`
        parts = [(item, words) for value, words in several for item in read(value)]
        if _share(parts) >= MOSTLY:
            return name
        # Categories of a list may be said in other words: RPG of `shooter, role-playing`.
        if _mingle([read(value) for value, _ in several]):
            said = sum(
                next(said_at(item, [w for word in words for w in words_of(word)]), None) is not None
                for item, words in parts
            )
            if said >= OFTEN * len(parts):
                return name
    return None


def _mingle(lists: Sequence[Sequence[str]]) -> bool:
    """Whether the values of lists recur in other places of them, as a town and its country never do."""
    places: dict[str, set[int]] = {}
    for each in lists:
        for place, item in enumerate(each):
            places.setdefault(item, set()).add(place)
    times = Counter(item for each in lists for item in each)
    moving = sum(count for item, count in times.items() if len(places[item]) > 1)
    return moving >= OFTEN * times.total()


def _share(pairs: list[tuple[str, list[str]]]) -> float:
    """The share of values that stand in their texts as they would be copied."""
    said = 0
    for value, words in pairs:
        tokens = [token.casefold() for token in tokenize(value)]
        said += _stands_in(words, tokens)
    return said / len(pairs)
