"""Records of a stranger's making (JSON objects, Parquet rows) as tables.

| value                  | becomes                                                          |
|------------------------|------------------------------------------------------------------|
| text                   | one value                                                        |
| list of the others     | one value each; nulls and empty texts in it are left out         |
| number, date           | its digits: `123` is "123"; from Parquet, `3.0` is "3"           |
| true, false            | "yes", "no"                                                      |
| null, NaN, ""          | an empty field                                                   |
| object `{"b": …}` of `a` | the field `a.b`, and so on, one level a dot                    |
| list of objects/lists  | an error                                                         |
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from datetime import date, time
from decimal import Decimal
from sys import intern

from textsplice.corpus.table import Table
from textsplice.errors import CorpusError

MAX_DEPTH = 31
"""How many dots a flattened name may have."""


def table_of(record: Mapping[str, object], *, where: str) -> Table:
    """The table of a record; an error if it has no field or one twice."""
    fields: dict[str, tuple[str, ...]] = {}
    for name, values in _flatten(record.items(), "", where):
        if name in fields:
            raise CorpusError(f"the field {name!r} stands twice in the table.", where=where)
        fields[intern(name)] = values
    if not fields:
        raise CorpusError("the table has no field.", where=where)
    return Table(tuple(fields.items()))


def as_text(value: object, name: str, *, where: str) -> str:
    """A single value as text: `123` is "123", true "yes", false "no", null ""."""
    match value:
        case None:
            return ""
        case str():
            return value.strip()
        case bool():
            return "yes" if value else "no"
        case int() | Decimal():
            return str(value)
        case float():
            return _digits(value)
        case date() | time():
            return value.isoformat()
        case _:
            raise CorpusError(
                f"the field {name!r} holds {_kind(value)}.",
                where=where,
                remedy="A value is a text, a number, true, false, null or a list of these.",
            )


def _flatten(
    items: Iterable[tuple[str, object]], above: str, where: str
) -> Iterator[tuple[str, tuple[str, ...]]]:
    for key, value in items:
        name = f"{above}.{key.strip()}" if above else key.strip()
        if not key.strip():
            raise CorpusError("a field of the table has no name.", where=where)
        if isinstance(value, Mapping):
            if name.count(".") >= MAX_DEPTH:
                raise CorpusError("the objects are nested too deeply.", where=where)
            if value:
                yield from _flatten(value.items(), name, where)
            else:
                yield name, ()
        else:
            values = value if isinstance(value, list) else [value]
            if any(isinstance(item, (Mapping, list)) for item in values):
                raise CorpusError(
                    f"the field {name!r} holds a list of objects or lists.",
                    where=where,
                    remedy="Give each a field of its own, or a list of texts.",
                )
            texts = (as_text(item, name, where=where) for item in values)
            yield name, tuple(text for text in texts if text)


def _digits(value: float) -> str:
    if math.isnan(value):
        return ""
    # Whole numbers with gaps in the column come out of pandas as 1954.0.
    return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)


def _kind(value: object) -> str:
    return "bytes" if isinstance(value, bytes) else f"a value of type {type(value).__name__}"
