"""Values of any record (a Python mapping, a JSON object, a Parquet row) as the fields of a table.

| value                    | becomes                                                        |
|--------------------------|----------------------------------------------------------------|
| text                     | one value, without the space around it                         |
| list of the others       | one value each; nulls and empty texts in it are left out       |
| number, date             | its digits: `123` is "123"; a float that is whole, `3.0`, "3"  |
| true, false              | "yes", "no"                                                    |
| null, NaN, ""            | an empty field                                                 |
| object `{"b": …}` of `a` | the field `a.b`, one dot per level                             |
| list of objects or lists | an error                                                       |

The caller says which error to raise: `InputError` for a value from Python, `CorpusError` for one from a file.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from datetime import date, time
from decimal import Decimal
from sys import intern
from typing import cast

from textsplice.errors import TextspliceError

Fields = tuple[tuple[str, tuple[str, ...]], ...]

MAX_DEPTH = 31
"""How many dots a flattened name may have."""


def fields_of(record: Mapping[str, object], error: type[TextspliceError], where: str | None = None) -> Fields:
    """The fields of a record; an error if there is none, or two of the same name."""
    fields: dict[str, tuple[str, ...]] = {}
    for name, values in _flatten(record, "", error, where):
        if name in fields:
            raise error(f"the field {name!r} appears twice in the table.", where=where)
        fields[intern(name)] = values
    if not fields:
        raise error("the table has no field.", where=where)
    return tuple(fields.items())


def as_text(value: object, name: str, error: type[TextspliceError], where: str | None = None) -> str:
    """A single value as text: `123` is "123", true "yes", false "no", null ""."""
    match value:
        case None:
            return ""
        case str():
            # A string of a subclass (of numpy, for instance) becomes a plain one.
            return str(value.strip())
        case bool():
            return "yes" if value else "no"
        case int() | Decimal():
            try:
                return str(value)
            except ValueError as failure:  # Python writes no number of more than 4,300 digits
                what = f"the field {name!r} holds a number with too many digits."
                raise error(what, where=where, remedy="Give it as text.") from failure
        case float():
            return _digits(value)
        case date() | time():
            return value.isoformat()
        case _:
            raise error(
                f"the field {name!r} holds {_kind(value)}.",
                where=where,
                remedy="A value is a text, a number, true, false, null or a list of these.",
            )


def _flatten(
    record: Mapping[str, object], above: str, error: type[TextspliceError], where: str | None
) -> Iterator[tuple[str, tuple[str, ...]]]:
    for key, value in cast("Mapping[object, object]", record).items():
        if not isinstance(key, str):
            raise error(f"the name of a field is {key!r}, which is not a text.", where=where)
        key = key.strip()
        if not key:
            raise error("a field of the table has no name.", where=where)
        name = f"{above}.{key}" if above else key
        if isinstance(value, Mapping):
            if name.count(".") >= MAX_DEPTH:
                raise error("the objects are nested too deeply.", where=where)
            if value:
                yield from _flatten(cast("Mapping[str, object]", value), name, error, where)
            else:
                yield name, ()
        elif isinstance(value, (list, tuple)):
            values = cast("list[object]", value)
            if any(isinstance(item, (Mapping, list, tuple)) for item in values):
                raise error(
                    f"the field {name!r} holds a list of objects or lists.",
                    where=where,
                    remedy="Give each a field of its own, or a list of texts.",
                )
            texts = (as_text(item, name, error, where) for item in values)
            yield name, tuple(text for text in texts if text)
        else:
            text = as_text(value, name, error, where)
            yield name, (text,) if text else ()


def _digits(value: float) -> str:
    if math.isnan(value):
        return ""
    # Whole numbers with gaps in the column come out of pandas as 1954.0.
    return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(float(value))


def _kind(value: object) -> str:
    return "bytes" if isinstance(value, bytes) else f"a value of type {type(value).__name__}"
