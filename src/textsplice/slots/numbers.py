"""Numbers with units: `1,000` says 1000, `£20` and `20 pounds` say £20, and `3.5 stars` says 3.5.

Only equal amounts count, never rounded ones. A value with a unit is said by the same unit, or by its name; a
value without one by any.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal
from functools import lru_cache
from typing import NamedTuple

from textsplice.slots.wordings import words_of

_DIGITS = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?")
_WRITTEN = ("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
# "One" is left out: it says more often "one of the best" than 1.
_WORDS = {word: Decimal(number) for number, word in enumerate(_WRITTEN, start=2)}
_NAMES = """
£ pound gbp
$ dollar usd
€ euro eur
km kilometre kilometer
m metre meter
cm centimetre centimeter
mm millimetre millimeter
kg kilogram kilo
g gram gramme
mi mile
ft foot feet
min minute
h hour hr
mph
"""
_UNITS = {name: line.split()[0] for line in _NAMES.strip().splitlines() for name in line.split()}


class Quantity(NamedTuple):
    """An amount and its unit, "" if it has none."""

    amount: Decimal
    unit: str


@lru_cache(maxsize=1 << 14)
def quantity(value: str) -> Quantity | None:
    """The number that a value is: digits, and before or after them at most one unit."""
    if "-" in value or "−" in value:
        return None  # a range, a date, or less than nothing
    match words_of(value):
        case [word] if amount := _digits(word):
            return Quantity(amount[0], "")
        case [sign, word] if sign in "£$€" and (amount := _digits(word)):
            return Quantity(amount[0], sign)
        case [word, unit] if unit.isalpha() and (amount := _digits(word)):
            return Quantity(amount[0], unit_of(unit))
        case _:
            return None


def places(words: Sequence[str], wanted: Quantity) -> list[tuple[int, int]]:
    """Where the words of a text say a quantity, as ranges `words[start:stop]`."""
    found: list[tuple[int, int]] = []
    for place, word in enumerate(words):
        if amount_of(word) != wanted.amount:
            continue
        if not wanted.unit:
            found.append((place, place + 1))
        elif place and words[place - 1] in "£$€" and words[place - 1] == wanted.unit:
            found.append((place - 1, place + 1))
        elif place + 1 < len(words) and unit_of(words[place + 1]) == wanted.unit:
            found.append((place, place + 2))
    return found


def amount_of(word: str) -> Decimal | None:
    """The number that one word of a text says; None for most words, and for what could be two numbers."""
    found = _digits(word)
    return found[0] if found else _WORDS.get(word)


def unit_of(word: str) -> str:
    """One name for a unit, however it is written: `km` for kilometres, `star` for stars."""
    single = word.removesuffix("s") if len(word) > 3 else word
    return _UNITS.get(word) or _UNITS.get(single) or single


def _digits(word: str) -> tuple[Decimal] | None:
    """The number, in a tuple, since 0 is one too."""
    return (Decimal(word.replace(",", "")),) if _DIGITS.fullmatch(word) else None
