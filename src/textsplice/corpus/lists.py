"""Cells that hold several values: `basket|lights`, `red; green`, `["S", "M"]`.

A cell has no sign that says which it is, so a whole column is looked at, and only one that is safe is read as
lists: a comment with a semicolon in it must stay in one piece. Columns are said as `features |`, `colors ;`
and `sizes json`: the name, a space, and what separates the values.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from html import unescape
from typing import cast

from textsplice.errors import ConfigError, CorpusError

AUTO, NONE, JSON = "auto", "none", "json"
WHERE = "corpus.lists"
SEPARATORS = ("|", ";")
"""Those that are looked for; others must be named."""
MOST_ROWS = 5_000
"""The rows that are looked at, from the first."""
LONGEST_CELL = 1000
"""A column with a longer cell holds texts."""
# The longest value of a list: its characters and words. A bar hardly ever stands in a sentence.
LONGEST = {"|": (120, 12), ";": (80, 6)}
# How many cells must be lists, and which share of all, if their values do not recur.
ENOUGH = {"|": (2, 0.5), ";": (5, 0.9)}

_NAMED = re.compile(r"(.*\S)\s+(json|[^\w\s]{1,3})", re.DOTALL)
# What programs write into a cell that is empty, as they write it: Nan, Nat and Null are people.
MISSING = frozenset("nan NaN NAN NaT <NA> n/a N/A #N/A n.a. N.A. null NULL".split())
_ENTITY = re.compile(r"&#?\w+;")  # &amp; ends in a semicolon that separates nothing
_NUMBER = re.compile(r"[-+]?[\d.,:]+")
# ['a', 'b'], as Python and pandas write a list.
_ITEM = r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|[-+]?\d[\d.eE+-]*|None|True|False"""
_PYTHON_LIST = re.compile(rf"\[\s*(?:(?:{_ITEM})\s*,\s*)*(?:{_ITEM})?\s*\]", re.DOTALL)
_PYTHON_ITEM = re.compile(_ITEM, re.DOTALL)
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)
_SPOKEN = {"None": "", "True": "yes", "False": "no"}

ListColumns = Mapping[str, str]
"""Columns by name, each with its separator or `json`."""


def parse_lists(said: Sequence[str]) -> ListColumns:
    """The columns that `corpus.lists` names; `ConfigError` for one that is not written as it should be."""
    found: dict[str, str] = {}
    for each in said:
        named = _NAMED.fullmatch(each.strip())
        if named is None:
            raise ConfigError(
                f"{each!r} does not say what separates the values of which column.",
                where=WHERE,
                remedy="Write 'auto', 'none', or each column with its separator: 'features |', 'sizes json'.",
            )
        if named[1] in found:
            raise ConfigError(f"the column {named[1]!r} is named twice.", where=WHERE)
        found[named[1]] = named[2]
    return found


def written(columns: ListColumns) -> tuple[str, ...]:
    """Columns as `corpus.lists` names them."""
    return tuple(f"{name} {separator}" for name, separator in columns.items())


def described(lists: Sequence[str]) -> str:
    """What was found, for people: `features ("|") and sizes (JSON)`."""
    named = [
        f"{name} ({'JSON' if separator == JSON else repr(separator)})"
        for name, separator in parse_lists(lists).items()
    ]
    return " and ".join(filter(None, (", ".join(named[:-1]), named[-1])))


def require_columns(columns: ListColumns, header: Sequence[str], where: str) -> None:
    """`CorpusError` if a column that is said to hold lists is not there."""
    for name in columns:
        if name not in header:
            nearest = get_close_matches(name, header, n=1)
            raise CorpusError(
                f"there is no column {name!r}, which corpus.lists names"
                + (f"; did you mean {nearest[0]!r}?" if nearest else "."),
                where=where,
                remedy=f"The columns are {', '.join(header)}.",
            )


def unescaped(cell: str) -> str:
    """A cell without the entities of HTML: `&amp;` is an &."""
    return unescape(cell) if _ENTITY.search(cell) else cell


def values_of(cell: str, separator: str | None) -> tuple[str, ...]:
    """The values of a cell, in their order; one, or none, if it holds no list."""
    cell = unescaped(cell).strip()
    if not cell or cell in MISSING:
        return ()
    if separator is None:
        return (cell,)
    parts = _array(cell) if separator == JSON else cell.split(separator)
    values = (part.strip() for part in ([cell] if parts is None else parts))
    return tuple(value for value in values if value)


def _array(cell: str) -> list[str] | None:
    """The values of `["a", "b"]` or `['a', 'b']`; None if the cell is anything else."""
    if not (cell.startswith("[") and cell.endswith("]")):
        return None
    try:
        items: object = json.loads(cell, parse_int=str, parse_float=str, parse_constant=lambda _: None)
        json.dumps(items, ensure_ascii=False).encode("utf-8")  # fails for half of a surrogate pair
    except UnicodeEncodeError:
        return None
    except (ValueError, RecursionError):
        return _python_array(cell)
    values = cast("list[object]", items)
    if not isinstance(items, list) or any(isinstance(item, (dict, list)) for item in values):
        return None
    return [item if isinstance(item, str) else _SPOKEN[str(item)] for item in values]


def _python_array(cell: str) -> list[str] | None:
    if len(cell) > LONGEST_CELL * 100 or not _PYTHON_LIST.fullmatch(cell):
        return None
    items = [found[0] for found in _PYTHON_ITEM.finditer(cell[1:-1])]
    return [
        _ESCAPED.sub(r"\1", item[1:-1]) if item[0] in "'\"" else _SPOKEN.get(item, item) for item in items
    ]


def find_lists(header: Sequence[str], rows: Iterable[Sequence[str]], but: Iterable[str]) -> ListColumns:
    """The columns whose cells are lists, by what the first rows hold; never those of `but`."""
    left_out = set(but)
    columns = {at: _Column() for at, name in enumerate(header) if name not in left_out}
    for number, cells in enumerate(rows):
        if number == MOST_ROWS:
            break
        for at, column in columns.items():
            if at < len(cells):
                column.add(cells[at].strip())
    found = {header[at]: column.separator() for at, column in columns.items()}
    return {name: separator for name, separator in found.items() if separator is not None}


@dataclass
class _Column:
    """What the distinct cells of a column hold; texts about one record repeat it, which proves nothing."""

    cells: set[str] = field(default_factory=set[str])
    others: int = 0  # cells too long to be a value of a list
    has_texts: bool = False

    def add(self, cell: str) -> None:
        if len(cell) > LONGEST_CELL:
            self.has_texts = True
        elif len(cell) <= max(LONGEST.values())[0] or cell[0] == "[" or any(map(cell.count, SEPARATORS)):
            self.cells.add(cell)
        else:
            self.others += 1

    def separator(self) -> str | None:
        """What separates the values in this column; None if its cells are to be kept whole."""
        self.cells.discard("")
        if self.has_texts or not self.cells:
            return None
        if not self.others and _are_arrays(self.cells):
            return JSON
        counts = {each: self._lists(each) for each in SEPARATORS}
        best = max(SEPARATORS, key=lambda each: counts[each])
        return best if counts[best] else None

    def _lists(self, separator: str) -> int:
        """How many cells are lists with this separator; 0 if that is not safe to say."""
        split = {cell: values_of(cell, separator) for cell in self.cells if separator in cell}
        lists = {cell: parts for cell, parts in split.items() if len(parts) > 1}
        parts = [part for each in lists.values() for part in each]
        if not lists or any(_is_prose(part, separator) for part in parts):
            return 0
        if separator == ";" and any(_ENTITY.search(cell) for cell in lists):
            return 0
        seen = Counter(part for cell in self.cells for part in lists.get(cell, (cell,)))
        recurring = sum(seen[part] > 1 for part in parts)
        most = recurring > len(parts) / 2 and len(lists) > 1
        if recurring == len(parts) or most or (separator == "|" and recurring >= len(parts) / 2):
            return len(lists)
        # Nothing recurs where every record has values of its own, such as the names of authors. Then most
        # cells must be lists, and of more than numbers: two of those may be a place on a map.
        least, share = ENOUGH[separator]
        always = len(lists) >= max(least, share * (len(self.cells) + self.others))
        numbers = sum(_NUMBER.fullmatch(part) is not None for part in parts)
        named = separator == "|" or all(map(_is_name, parts))
        return len(lists) if always and named and numbers < len(parts) / 2 else 0


def _are_arrays(cells: Iterable[str]) -> bool:
    """Whether all cells are arrays, or some that hold texts in quotes: `[1]` alone may be a footnote."""
    bracketed = [cell for cell in cells if cell.startswith("[")]
    if not bracketed or any(_array(cell) is None for cell in bracketed):
        return False
    is_each = all(cell.startswith("[") for cell in cells)
    return is_each or any(cell[1:].lstrip().startswith(("'", '"')) for cell in bracketed)


def _is_prose(part: str, separator: str) -> bool:
    """Whether a part reads like a piece of a sentence."""
    characters, words = LONGEST[separator]
    is_sentence = separator == ";" and " " in part and part.endswith((".", "!", "?"))
    return is_sentence or len(part) > characters or len(part.split()) > words


def _is_name(part: str) -> bool:
    """Whether a part is one word, or a name: `Ann Crowe`, not `closes late`."""
    words = part.split()
    return len(words) == 1 or not any(word[0].islower() for word in words)
