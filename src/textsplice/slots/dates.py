"""Days that texts write in any form: `14 March 1987`, `March 14, 1987` and `14.03.1987` say 1987-03-14.

A text that says less of it, `March 1987` or `in 1987`, is right as well; one that says another day is not.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from textsplice.corpus.forms import MONTHS
from textsplice.slots.wordings import words_of

_NUMBER = {
    name: number
    for number, month in enumerate(map(str.casefold, MONTHS), start=1)
    for name in (month, month[:3], *(("sept",) if number == 9 else ()))
}
_ENDINGS = frozenset(("st", "nd", "rd", "th"))  # of a day: `14th`
_BETWEEN = frozenset((",", ".", "of"))
_WRITTEN = re.compile(r"(\d{4})-(\d\d?)-(\d\d?)(?:[T ][\d:.]+Z?)?|(\d\d?)([./])(\d\d?)\5(\d{4})")
_DOTTED = re.compile(r"(\d\d?)\.(\d\d?)\.(\d{4})")


class Day(NamedTuple):
    """A year, a month and a day of it; 0 where nothing is said."""

    year: int
    month: int
    day: int

    def fits(self, other: Day) -> bool:
        """Whether two do not contradict each other."""
        return all(not one or not two or one == two for one, two in zip(self, other, strict=True))


class Said(NamedTuple):
    """`words[start:stop]` says a day, a month or a year."""

    start: int
    stop: int
    day: Day


@lru_cache(maxsize=1 << 14)
def day_of(value: str) -> Day | None:
    """The day that a value is, if it is one and nothing else."""
    match = _WRITTEN.fullmatch(value.strip())
    if match:
        year, month, day, first, mark, second, last = match.groups()
        if year:
            return _valid(int(year), int(month), int(day))
        # 02/20/2015 can only be one thing, and 03/04/2015 two.
        return _valid(int(last), int(second), int(first)) if mark == "." or int(first) > 12 else None
    words = words_of(value)
    found = [said for said in days_in(words) if said.day.day and said.day.year]
    whole = len(found) == 1 and (found[0].start, found[0].stop) == (0, len(words))
    return found[0].day if whole else None


def days_in(words: Sequence[str]) -> Iterator[Said]:
    """The days that a text says, and the months with a day or a year."""
    for place, word in enumerate(words):
        if match := _DOTTED.fullmatch(word):
            day = _valid(int(match[3]), int(match[2]), int(match[1]))
            if day:
                yield Said(place, place + 1, day)
        elif re.fullmatch(r"[12]\d{3}", word) and place + 2 < len(words):  # 1987-03-14
            month, day_number = words[place + 1 : place + 3]
            if len(month) == len(day_number) == 2 and (month + day_number).isdigit():
                day = _valid(int(word), int(month), int(day_number))
                if day:
                    yield Said(place, place + 3, day)
        elif word in _NUMBER:
            yield from _around(words, place)


def _around(words: Sequence[str], place: int) -> Iterator[Said]:
    """The day and the year beside the name of a month."""
    start, stop, day, year = place, place + 1, 0, 0
    before = _skip(words, place - 1, -1)
    if before >= 0 and _is_day(words[before]):
        day, start = int(words[before]), before
    after = _skip(words, stop, 1)
    if not day and after < len(words) and _is_day(words[after]):
        day, stop = int(words[after]), after + 1
        after = _skip(words, stop, 1)
    if after < len(words) and re.fullmatch(r"[12]\d{3}", words[after]):
        year, stop = int(words[after]), after + 1
    if day or year:  # "may" alone is no month
        yield Said(start, stop, Day(year, _NUMBER[words[place]], day))


def _skip(words: Sequence[str], place: int, step: int) -> int:
    """The first place from here on that is neither a comma, `of`, nor the `th` of a day."""
    for _ in range(2):
        if 0 <= place < len(words) and words[place] in _BETWEEN | _ENDINGS:
            place += step
    return place


def _is_day(word: str) -> bool:
    return len(word) <= 2 and word.isdigit() and 1 <= int(word) <= 31


def _valid(year: int, month: int, day: int) -> Day | None:
    return Day(year, month, day) if 1 <= month <= 12 and 1 <= day <= 31 else None
