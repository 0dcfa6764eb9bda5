"""Values written as texts write them: `10500` as 10,500, and `2015-02-20 00:00:00` as 2015.

A spreadsheet keeps numbers and dates in a form of its own. If texts say them in another, one that can be made
of it, records are read in that one: what is copied is then what people would have written.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache

from textsplice.corpus.table import Example, Table

_NUMBER = re.compile(r"[£$€]?\s?(?P<whole>\d+)(?:\.0{1,2})?(?P<after>(?:\s?[^\W\d_]{1,3})?)")
_DATE = re.compile(r"(?P<y>\d{4})-(?P<m>0[1-9]|1[0-2])-(?P<d>0[1-9]|[12]\d|3[01])(?:[T ][\d:.]+Z?)?")
_MONTHS = (
    *("January", "February", "March", "April", "May", "June", "July"),
    *("August", "September", "October", "November", "December"),
)
Form = Callable[[str], str | None]


def _number(write: Callable[[int], str]) -> Form:
    def form(value: str) -> str | None:
        match = _NUMBER.fullmatch(value.replace(",", ""))
        return match and write(int(match["whole"])) + match["after"]

    return form


def _date(write: Callable[[str, int, int], str]) -> Form:
    def form(value: str) -> str | None:
        match = _DATE.fullmatch(value)
        return match and write(match["y"], int(match["m"]), int(match["d"]))

    return form


# A form is None where it can't be made of a value.
FORMS: dict[str, Form] = {
    "1000": _number(str),
    "1,000": _number(lambda n: f"{n:,}"),
    "1.000": _number(lambda n: f"{n:,}".replace(",", ".")),
    **{f"{sign}1000": _number(lambda n, sign=sign: f"{sign}{n}") for sign in "£$€"},
    **{f"{sign}1,000": _number(lambda n, sign=sign: f"{sign}{n:,}") for sign in "£$€"},
    "year": _date(lambda y, _m, _d: y),
    "date": _date(lambda y, m, d: f"{y}-{m:02}-{d:02}"),
    "day month year": _date(lambda y, m, d: f"{d} {_MONTHS[m - 1]} {y}"),
    "month day, year": _date(lambda y, m, d: f"{_MONTHS[m - 1]} {d}, {y}"),
    "day/month/year": _date(lambda y, m, d: f"{d:02}/{m:02}/{y}"),
    "day.month.year": _date(lambda y, m, d: f"{d:02}.{m:02}.{y}"),
}


@lru_cache(maxsize=64)
def parse_forms(settings: Sequence[str]) -> Mapping[str, Form]:
    """The form of each field, from `price=1,000`; what is no form is left out."""
    parts = (setting.rpartition("=") for setting in settings)
    return {field: FORMS[form] for field, _, form in parts if form in FORMS}


def in_form(table: Table, settings: Sequence[str]) -> Table:
    """The table with the values of these fields as texts write them."""
    forms = parse_forms(tuple(settings))
    if not any(name in forms for name, _ in table):
        return table
    return Table(
        tuple(
            (name, tuple(forms[name](value) or value for value in values) if name in forms else values)
            for name, values in table
        )
    )


def with_forms(example: Example, settings: Sequence[str]) -> Example:
    """The example with such a table."""
    return replace(example, table=in_form(example.table, settings)) if settings else example


def is_in_form(table: Table, written: Table) -> bool:
    """Whether two tables differ in nothing but the form of some values."""
    return [name for name, _ in table] == [name for name, _ in written] and all(
        ones == others
        or (
            len(ones) == len(others)
            and all(
                one == other or any(form(one) == other for form in FORMS.values())
                for one, other in zip(ones, others, strict=True)
            )
        )
        for (_, ones), (_, others) in zip(table, written, strict=True)
    )
