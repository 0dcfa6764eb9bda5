"""What a score for neighbors sees of a table: its field names and the words of its values."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

from textsplice.corpus.table import Table
from textsplice.text.yes_no import is_yes_no_pair


class Features(NamedTuple):
    """The two sets that a score compares: names of fields that have a value, and words of the values."""

    fields: frozenset[str]
    values: frozenset[str]


def features(
    table: Table,
    *,
    tokenize: Callable[[str], list[str]],
    fold: frozenset[str] = frozenset(),
) -> Features:
    """The features of a table; a field in `fold` has its value in its name: `familyFriendly=no`."""
    names: set[str] = set()
    words: set[str] = set()
    for name, values in table:
        said = [value.strip().casefold() for value in values if value.strip()]
        if not said:
            continue
        names.add(f"{name}={' '.join(said)}" if name in fold else name)
        for value in said:
            words.update(tokenize(value))
    return Features(frozenset(names), frozenset(words))


def yes_no_fields(tables: Iterable[Table]) -> frozenset[str]:
    """The fields that hold a word for yes and its opposite in a whole corpus, and nothing else."""
    seen: dict[str, set[str]] = {}
    for table in tables:
        for name, values in table:
            said = seen.setdefault(name, set())
            # Three values are enough to know that this is not a yes/no field; the rest need not be kept.
            if len(said) < 3:
                said.update(value.strip().casefold() for value in values if value.strip())
    return frozenset(name for name, said in seen.items() if is_yes_no_pair(said))
