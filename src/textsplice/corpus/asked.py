"""Fields that a record names without a value because its text asks for it: "Does it have a multiplayer mode?"

Such a field gets the value `?`, so that the record differs from one that does not name it. A spreadsheet
names every column in every row: an empty cell there asks for nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import replace

from textsplice.corpus.table import Example, Table

ASKED = "?"  # the value of a field that is asked for
FEWEST = 10  # records that ask for a field; of fewer, nothing is concluded
QUESTIONS = 0.5  # share of their texts that must hold a question


def ask(table: Table, fields: Collection[str]) -> Table:
    """The table with `?` in those of the fields that it names without a value."""
    if not any(name in fields and not values for name, values in table):
        return table
    return Table(
        tuple((name, values or (ASKED,)) if name in fields else (name, values) for name, values in table)
    )


def with_asked(example: Example, fields: Collection[str]) -> Example:
    """The example with such a table."""
    return replace(example, table=ask(example.table, fields)) if fields else example


def asked_fields(examples: Iterable[Example]) -> tuple[str, ...]:
    """The fields that some tables do not name, and others name without a value while their text asks."""
    named, empty, questions = Counter[str](), Counter[str](), Counter[str]()
    tables = 0
    for example in examples:
        tables += 1
        for name, values in example.table:
            named[name] += 1
            if not values:
                empty[name] += 1
                questions[name] += ASKED in (example.text or "")
    return tuple(
        name
        for name, count in empty.items()
        if named[name] < tables and count >= FEWEST and questions[name] >= QUESTIONS * count
    )
