"""Words for yes and no: no text says "yes" to express `dogs: yes`."""

from __future__ import annotations

from collections.abc import Collection

PLAIN = (("no", "yes"), ("false", "true"))
# These mean yes and no only where a field holds nothing else: `laps: 1` is a number.
SHORT = (("n", "y"), ("f", "t"), ("off", "on"), ("0", "1"))

_PLAIN_WORDS = frozenset(word for pair in PLAIN for word in pair)


def is_yes_or_no(value: str) -> bool:
    """Whether a value means yes or no in any field; such a value is never expected word for word."""
    return value.casefold() in _PLAIN_WORDS


def is_yes_no_pair(values: Collection[str]) -> bool:
    """Whether all values of a field, case-folded, are one word for yes and its opposite."""
    return tuple(sorted(values)) in (*PLAIN, *SHORT)
