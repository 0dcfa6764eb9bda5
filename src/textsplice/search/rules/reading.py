"""The settings of a rule from JSON, with a sentence for all that can be wrong."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

from textsplice.errors import InputError


def text(data: Mapping[str, object], key: str, where: str) -> str:
    """A string."""
    value = data.get(key)
    if not isinstance(value, str):
        raise _wrong(data, key, "a string", where)
    return value


def strings(data: Mapping[str, object], key: str, where: str) -> list[str]:
    """A list of strings."""
    value = data.get(key)
    items = cast("list[object]", value) if isinstance(value, list) else [None]
    if not all(isinstance(item, str) for item in items):
        raise _wrong(data, key, "a list of strings", where)
    return cast("list[str]", items)


def whole_number(data: Mapping[str, object], key: str, where: str) -> int:
    """A whole number."""
    value = data.get(key)
    if not isinstance(value, int) or isinstance(value, bool):
        raise _wrong(data, key, "a whole number", where)
    return value


def truth(data: Mapping[str, object], key: str, where: str) -> bool:
    """True or false; false if it is not there."""
    value = data.get(key, False)
    if not isinstance(value, bool):
        raise _wrong(data, key, "true or false", where)
    return value


def only(data: Mapping[str, object], keys: Sequence[str], where: str) -> None:
    """`InputError` for a setting that the rule does not have: it would not do what its author meant."""
    for key in data:
        if key != "rule" and key not in keys:
            known = ", ".join(keys)
            raise InputError(
                f"the rule {data.get('rule')!r} does not have the setting {key!r}.",
                where=where,
                remedy=f"Known: {known}." if known else "It has none.",
            )


def _wrong(data: Mapping[str, object], key: str, wanted: str, where: str) -> InputError:
    return InputError(f"the rule {data.get('rule')!r} needs {key!r}, {wanted}.", where=where)
