"""Values written as texts write them: `10500` as 10,500, and `2015-02-20 00:00:00` as 2015.

A spreadsheet keeps numbers and dates in a form of its own. If texts say them in another, one that can be made
of it, records are read in that one: what is copied is then what people would have written. A list in one cell
(`oak, brass`) is read as several values, if texts say its parts one by one (`oak and brass`). Values that
differ only in small and capital letters (`Yes`, `yes`, `YES`) are read in one spelling: `as yes|no`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from functools import lru_cache

from textsplice.corpus.table import Example, Table

# A comma stands only before three digits: 12,5 is no 125. Nobody writes a longer number for readers.
_WHOLE = r"\d{1,3}(?:,\d{3}){1,5}|\d{1,18}"
_NUMBER = re.compile(
    rf"(?P<sign>[£$€]?)\s?(?P<whole>{_WHOLE})(?:\.0{{1,2}})?(?P<after>(?:\s?[^\W\d_]{{1,3}})?)"
)
_Y, _M, _D = r"(?P<y>\d{4})", r"(?P<m>0?[1-9]|1[0-2])", r"(?P<d>0?[1-9]|[12]\d|3[01])"
_TIME = r"(?:[T ][\d:.]+Z?)?"
_DATE = re.compile(rf"{_Y}-{_M}-{_D}{_TIME}")
_DAY_FIRST = re.compile(rf"{_D}(?P<mark>[/.-]){_M}(?P=mark){_Y}{_TIME}")
_MONTH_FIRST = re.compile(rf"{_M}/{_D}/{_Y}{_TIME}")
MONTHS = (
    *("January", "February", "March", "April", "May", "June", "July"),
    *("August", "September", "October", "November", "December"),
)
Form = Callable[[str], str | None]
LIST, SLASHES = "a, b", "a/b"  # the forms of a value that holds several
_COMMA = frozenset(",;|")
_BETWEEN = re.compile(r"\s*[,;|]\s*(?:(?:and|or|&)\s+)?|\s+and\s+")
_ENTITY = re.compile(r"&#?\w+;")  # &amp; ends in a semicolon that separates nothing
PERCENT = "number 50 of 0.5"  # as spreadsheets keep 50 %
ALONE = "number "  # before the form of a number without its unit
# A number with a decimal mark or a unit. Of 1.250 nobody knows which it is; it has neither.
_AMOUNT = re.compile(
    r"(?P<sign>[£$€])?\s?(?P<number>\d{1,3}(?:[.,]\d{3}){1,5}(?:[.,]\d{1,2})?|\d{1,18}(?:[.,]\d{1,2})?|0[.,]\d+)"
    r"\s?(?P<unit>[^\W\d_]{1,12}[²³]?|[£$€%°])?"
)
_SIGNS = ("£", "$", "€")
_GROUPED = re.compile(r"\d{1,3}(?:,\d{3})+")
SPELLED = "as "  # before the spellings of a field's values, with a bar between


def _number(write: Callable[[int], str], sign: str = "") -> Form:
    """With a sign; a value that has another one stays as it is, since no pound is a dollar."""

    def form(value: str) -> str | None:
        match = _NUMBER.fullmatch(value)
        if match is None or (sign and match["sign"] not in ("", sign)):
            return None
        return sign + write(int(match["whole"].replace(",", ""))) + match["after"]

    return form


def _date(write: Callable[[str, int, int], str], *patterns: re.Pattern[str]) -> Form:
    def form(value: str) -> str | None:
        found = (pattern.fullmatch(value) for pattern in patterns or (_DATE, _DAY_FIRST))
        match = next(filter(None, found), None)
        return match and write(match["y"], int(match["m"]), int(match["d"]))

    return form


# A form is None where it can't be made of a value.
FORMS: dict[str, Form] = {
    "1000": _number(str),
    "1,000": _number(lambda n: f"{n:,}"),
    "1.000": _number(lambda n: f"{n:,}".replace(",", ".")),
    **{f"{sign}1000": _number(str, sign) for sign in "£$€"},
    **{f"{sign}1,000": _number(lambda n: f"{n:,}", sign) for sign in "£$€"},
    "year": _date(lambda y, _m, _d: y),
    "date": _date(lambda y, m, d: f"{y}-{m:02}-{d:02}"),
    "day month year": _date(lambda y, m, d: f"{d} {MONTHS[m - 1]} {y}"),
    "month day, year": _date(lambda y, m, d: f"{MONTHS[m - 1]} {d}, {y}"),
    "day/month/year": _date(lambda y, m, d: f"{d:02}/{m:02}/{y}"),
    "day.month.year": _date(lambda y, m, d: f"{d:02}.{m:02}.{y}"),
    # Of 02/20/2015. What is written must not be read as a date again.
    "month first, year": _date(lambda y, _m, _d: y, _MONTH_FIRST),
    "month first, day month year": _date(lambda y, m, d: f"{d} {MONTHS[m - 1]} {y}", _MONTH_FIRST),
    "month first, month day, year": _date(lambda y, m, d: f"{MONTHS[m - 1]} {d}, {y}", _MONTH_FIRST),
}


def alone(value: str) -> dict[str, str]:
    """The number of a value without its unit, as texts may write it, by the name of the form.

    Cells say `12,50 €` and `0,75 l` where texts say €12.50, 12.50 euros and 0.75 litres. The name tells what
    a cell has for its decimals, and its unit: another unit is not left out.
    """
    match = _AMOUNT.fullmatch(value.strip())
    if not match:
        return {}
    found: dict[str, str] = {}
    unit = " ".join(filter(None, (match["sign"], match["unit"])))
    for mark, thousands in ((",", "."), (".", ",")):
        plain = _plain(match["number"], mark, thousands)
        if plain is None:
            continue
        whole, decimals = plain
        short = decimals.rstrip("0")
        ways = (
            ("0.50", decimals if short else ""),
            ("0.5", short),
            ("0.00", short and decimals.ljust(2, "0")),
        )
        for name, kept in ways:
            for point, comma in ((".", ","), (",", ".")):
                shown = name.replace(".", point)
                for between in ("", comma):
                    digits = f"{int(whole):,}".replace(",", between)
                    if between and digits == str(int(whole)) and len(whole) > 3:
                        continue
                    text = f"{digits}{point}{kept}" if kept else digits
                    told = f"{f'1{between}00' if between else ''}{shown} of 0{mark}5 {unit}".rstrip()
                    found[f"{ALONE}{told}"] = text
                    for sign in (unit,) if unit else _SIGNS:
                        if sign in _SIGNS:  # €12.50 is one word
                            found[f"{ALONE}{sign}{told}"] = f"{sign}{text}"
        if not unit and mark == "." and whole in "01":
            found[PERCENT] = f"{Decimal(f'{whole}.{decimals}') * 100:f}".rstrip("0").rstrip(".") or "0"
    return found


def _plain(number: str, mark: str, thousands: str) -> tuple[str, str] | None:
    """The digits before and after the decimal mark; None if a number can't be written so."""
    whole, _, decimals = number.partition(mark)
    if thousands in whole:
        if not _GROUPED.fullmatch(whole.replace(thousands, ",")):
            return None
        whole = whole.replace(thousands, "")
    return (whole, decimals) if whole.isdigit() and (not decimals or decimals.isdigit()) else None


def _alone(name: str) -> Form | None:
    return (lambda value: alone(value).get(name)) if name.startswith(ALONE) else None


def items(value: str) -> tuple[str, ...]:
    """The values that are written into one: `red, green and blue`. `The Fox and Hounds` is one."""
    if _COMMA.isdisjoint(_ENTITY.sub("", value)):
        return (value,)
    return tuple(item for item in map(str.strip, _BETWEEN.split(value)) if item)


def _slashed(value: str) -> tuple[str, ...]:
    """The values with a slash between: `Riesling/Silvaner`."""
    return tuple(item for item in map(str.strip, value.split("/")) if item) or (value,)


LISTS: dict[str, Callable[[str], tuple[str, ...]]] = {LIST: items, SLASHES: _slashed}


@lru_cache(maxsize=64)
def parse_forms(settings: Sequence[str]) -> Mapping[str, Callable[[str], tuple[str, ...]]]:
    """What the values of each field are read as, from `price=1,000`; what is no form is left out."""
    parts = (setting.rpartition("=") for setting in settings)
    return {field: read for field, _, name in parts if (read := _reading(name)) is not None}


def _reading(name: str) -> Callable[[str], tuple[str, ...]] | None:
    if name in LISTS:
        return LISTS[name]
    form = _spelled(name.removeprefix(SPELLED)) if name.startswith(SPELLED) else FORMS.get(name)
    form = form or _alone(name)
    return form and (lambda value: (form(value) or value,))


def _spelled(spellings: str) -> Form:
    known = {spelling.casefold(): spelling for spelling in spellings.split("|")}
    return lambda value: known.get(value.casefold())


def in_form(table: Table, settings: Sequence[str]) -> Table:
    """The table with the values of these fields as texts write them."""
    forms = parse_forms(tuple(settings))
    if not any(name in forms for name, _ in table):
        return table

    def written(name: str, values: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(new for value in values for new in forms[name](value)) if name in forms else values

    return Table(tuple((name, written(name, values)) for name, values in table))


def with_forms(example: Example, settings: Sequence[str]) -> Example:
    """The example with such a table."""
    return replace(example, table=in_form(example.table, settings)) if settings else example


def is_in_form(table: Table, written: Table) -> bool:
    """Whether two tables differ in nothing but the form of some values."""
    return [name for name, _ in table] == [name for name, _ in written] and all(
        ones == others
        or any(tuple(item for one in ones for item in read(one)) == others for read in LISTS.values())
        or (
            len(ones) == len(others)
            and all(
                one.casefold() == other.casefold()
                or any(form(one) == other for form in FORMS.values())
                or other in alone(one).values()
                for one, other in zip(ones, others, strict=True)
            )
        )
        for (_, ones), (_, others) in zip(table, written, strict=True)
    )
