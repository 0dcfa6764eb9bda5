"""Numbers with units: `1,000` says 1000, `£20` and `20 pounds` say £20, and `3.5 stars` says 3.5.

Only equal amounts count, never rounded ones. A value with a unit is said by the same unit, or by its name; a
value without one by any.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from decimal import Decimal
from functools import lru_cache
from typing import NamedTuple

from textsplice.slots.wordings import words_of

_DIGITS = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?")
_WRITTEN = ("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
# "One" is left out: it says more often "one of the best" than 1.
_WORDS = {word: Decimal(number) for number, word in enumerate(_WRITTEN, start=2)}
_NAMES = """
£, pound, gbp
$, dollar, usd
€, euro, eur
%, percent, per cent, pct, prozent, por ciento
m², m 2, m2, sqm, sq m, qm, square metre, square meter, quadratmeter, quadratmetern, metros cuadrados
ft², sqft, sq ft, square foot, square feet
km, kilometre, kilometer, kilometern, kilómetro
km/h, km h, kmh, kph, kilometre per hour, kilometres per hour, stundenkilometer, stundenkilometern
m, metre, meter, metern, metro
cm, centimetre, centimeter, zentimeter, zentimetern, centímetro
mm, millimetre, millimeter, millimetern, milímetro
kg, kilogram, kilo, kilogramm
g, gram, gramme
l, litre, liter, litro
ml, millilitre, milliliter
cl, centilitre, centiliter
mi, mile
mph, miles per hour
ft, foot, feet
inch, inches
min, minute, minuten, minuto
h, hour, hr, stunde, stunden, hora
kw, kilowatt
kwh, kilowatt hour
hp, horsepower
gb, gigabyte
tb, terabyte
°c, c, degree celsius, degrees celsius, degree, grad
"""
_SPELLINGS = [[name.strip() for name in line.split(",")] for line in _NAMES.strip().splitlines()]
_UNITS = {name: names[0] for names in _SPELLINGS for name in names}
# 1.80 m are 180 cm. Of each unit, how many of the first one of its line it is.
_SCALES = [
    {"mm": Decimal(1), "cm": Decimal(10), "m": Decimal(1000), "km": Decimal(1_000_000)},
    {"g": Decimal(1), "kg": Decimal(1000)},
    {"ml": Decimal(1), "cl": Decimal(10), "l": Decimal(1000)},
    {"min": Decimal(1), "h": Decimal(60)},
    {"gb": Decimal(1), "tb": Decimal(1000)},
]
_NAME_PARTS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|[_\W]+")
LONGEST_UNIT = 3  # words
_SIGNS = "£$€"
_NAME = "|".join(
    re.escape(name) + ("s?" if len(name) > 2 else "") for name in sorted(_UNITS, key=len, reverse=True)
)
# A number and two units beside it: before it a sign, and after it one or two names. It is looked at only from
# its beginning: from each of its digits, one of ten thousand digits would take minutes.
_TWO_UNITS = re.compile(
    rf"(?P<sign>[{_SIGNS}]\s?)?(?<![\d.,])(?P<number>{_DIGITS.pattern})[\s-]?(?P<first>{_NAME})(?!\w)"
    rf"(?:[\s-](?P<second>{_NAME})(?!\w))?",
    re.IGNORECASE,
)


# A number with at most one unit; `4th` and `T4` are none.
_ONE_UNIT = re.compile(
    rf"(?<![\w.,])(?:(?P<sign>[{_SIGNS}])\s?)?(?P<number>{_DIGITS.pattern})"
    rf"(?:[\s-]?(?P<unit>{_NAME})(?!\w)|(?!\w|[.,]\d))",
    re.IGNORECASE,
)
_ANY_DIGITS = re.compile(r"\d+(?:[.,]\d+)*")


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
        case [sign, word] if sign in _SIGNS and (amount := _digits(word)):
            return Quantity(amount[0], sign)
        case [word, *unit] if _is_unit(unit) and (amount := _digits(word)):
            return Quantity(amount[0], unit_of(" ".join(unit)))
        case _:
            return None


@lru_cache(maxsize=1 << 12)
def unit_in_name(field: str) -> str:
    """The unit that a field's name ends with: cm of `height_cm` and `Height (cm)`; "" if there is none."""
    parts = [part.lower() for part in _NAME_PARTS.split(field) if part]
    unit = _UNITS.get(parts[-1], "") if len(parts) > 1 else ""
    return unit if any(unit in scale for scale in _SCALES) else ""


def in_other_units(wanted: Quantity) -> list[Quantity]:
    """The same amount in other units: 1.80 m of 180 cm."""
    for scale in _SCALES:
        if wanted.unit in scale:
            amount = wanted.amount * scale[wanted.unit]
            return [Quantity(amount / size, unit) for unit, size in scale.items() if unit != wanted.unit]
    return []


def amounts_in(value: str) -> set[Decimal]:
    """All numbers that stand in a value, and the parts of each: 1987, 3 and 14 of 1987-03-14."""
    found: set[Decimal] = set()
    for digits in _ANY_DIGITS.findall(value):
        for form in {digits.replace(",", ""), *re.split("[.,]", digits)}:
            if form.count(".") <= 1:
                found.add(Decimal(form))
    return found


def places(words: Sequence[str], wanted: Quantity, unit: str = "") -> list[tuple[int, int]]:
    """Where the words of a text say a quantity, as ranges `words[start:stop]`.

    It may be said in another unit: `unit` is that of the field's name, if the value has none.
    """
    found = _places(words, wanted)
    for other in in_other_units(Quantity(wanted.amount, wanted.unit or unit)):
        found += _places(words, other)
    return found


def _places(words: Sequence[str], wanted: Quantity) -> list[tuple[int, int]]:
    found: list[tuple[int, int]] = []
    for place, word in enumerate(words):
        if amount_of(word) != wanted.amount:
            continue
        if not wanted.unit:
            found.append((place, place + 1))
        elif place and words[place - 1] in _SIGNS and words[place - 1] == wanted.unit:
            found.append((place - 1, place + 1))
        else:
            stops = range(min(place + 1 + LONGEST_UNIT, len(words)), place + 1, -1)
            stop = next((s for s in stops if unit_of(" ".join(words[place + 1 : s])) == wanted.unit), None)
            found += [(place, stop)] if stop else []
    return found


def units_twice(text: str) -> dict[Decimal, str]:
    """The amounts that a text says with the same unit twice, and how: `169 m² square metres`."""
    found: dict[Decimal, str] = {}
    for match in _TWO_UNITS.finditer(text):
        units = [unit_of(unit.strip().lower()) for unit in match.group("sign", "first", "second") if unit]
        if len(set(units)) < len(units):
            found[Decimal(match["number"].replace(",", ""))] = match[0]
    return found


def stray_numbers(text: str, values: Iterable[tuple[str, str]]) -> list[str]:
    """The numbers of a text that none of these values has, or only with another unit: `23 mm` of `23 °C`.

    Each value stands after its field, whose name may end with a unit.
    """
    known: dict[Decimal, set[str]] = {}
    for field, value in values:
        wanted = quantity(value)
        unit = wanted.unit if wanted else ""
        for amount in amounts_in(value):
            known.setdefault(amount, set()).add(unit)
        if wanted:
            for amount, other in in_other_units(Quantity(wanted.amount, unit or unit_in_name(field))):
                known.setdefault(amount, set()).add(other)
    found: list[str] = []
    for match in _ONE_UNIT.finditer(text):
        unit = unit_of((match["sign"] or match["unit"] or "").lower())
        units = known.get(Decimal(match["number"].replace(",", "")))
        if units is None or (unit and "" not in units and unit not in units):
            found.append(match[0])
    return found


def amount_of(word: str) -> Decimal | None:
    """The number that one word of a text says; None for most words, and for what could be two numbers."""
    found = _digits(word)
    return found[0] if found else _WORDS.get(word)


def unit_of(word: str) -> str:
    """One name for a unit, however it is written: `km` for kilometres, `star` for stars."""
    single = word.removesuffix("s") if len(word) > 3 else word
    return _UNITS.get(word) or _UNITS.get(single) or single


def _is_unit(words: Sequence[str]) -> bool:
    """One word of letters, or several that are the name of a unit."""
    return words[0].isalpha() if len(words) == 1 else unit_of(" ".join(words)) in _UNITS.values()


def _digits(word: str) -> tuple[Decimal] | None:
    """The number, in a tuple, since 0 is one too."""
    return (Decimal(word.replace(",", "")),) if _DIGITS.fullmatch(word) else None
