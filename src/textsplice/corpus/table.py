"""A table and an example: what every reader makes and every other room reads."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import cast

from textsplice.corpus.values import Fields, fields_of
from textsplice.errors import InputError


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """Ordered fields, each a name and its values; a field without values is empty.

    Two tables are equal if they are the same record: the order of fields does not matter, and empty fields
    say nothing. Compare `fields` where the order matters.
    """

    fields: Fields
    # The hash, kept once it is known: the sorted fields of 600,000 tables would not fit into memory.
    _hash: int | None = field(default=None, init=False, repr=False)

    @classmethod
    def of(cls, record: Mapping[str, object]) -> Table:
        """A table from a plain record: `{"name": "Blue Spice", "price": 20, "tags": ["quiet", "cheap"]}`.

        Takes what a line of JSONL takes: texts, numbers, booleans, None, lists, nested mappings.
        """
        return cls(fields_of(record, InputError))

    @classmethod
    def from_record(cls, record: Mapping[str, str | Sequence[str]]) -> Table:
        """The table that `to_record` wrote, unchanged: nothing is converted."""
        fields: list[tuple[str, tuple[str, ...]]] = []
        for name, value in record.items():
            values = (value,) if isinstance(value, str) else value
            if not _is_texts(values):
                raise InputError(
                    f"the field {name!r} holds {value!r}, which is not text.",
                    remedy="Give a string or a list of strings.",
                )
            fields.append((name, tuple(item for item in values if item)))
        if not fields:
            raise InputError("the table has no field.")
        return cls(tuple(fields))

    def to_record(self) -> dict[str, str | list[str]]:
        """The plain record; a field with one value is a string, any other a list."""
        return {name: values[0] if len(values) == 1 else list(values) for name, values in self.fields}

    @property
    def canonical(self) -> Fields:
        """The fields that are not empty, sorted: equal for equal tables."""
        return tuple(sorted(item for item in self.fields if item[1]))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Table):
            return NotImplemented
        if self.fields == other.fields:
            return True
        return hash(self) == hash(other) and self.canonical == other.canonical

    def __hash__(self) -> int:
        if self._hash is None:
            object.__setattr__(self, "_hash", hash(frozenset(item for item in self.fields if item[1])))
        return cast(int, self._hash)

    def __reduce__(self) -> tuple[type[Table], tuple[Fields]]:
        # Another process hashes strings differently: the hash stays here.
        return Table, (self.fields,)

    def __iter__(self) -> Iterator[tuple[str, tuple[str, ...]]]:
        return iter(self.fields)

    def __getitem__(self, name: str) -> tuple[str, ...]:
        for field_name, values in self.fields:
            if field_name == name:
                return values
        raise KeyError(name)

    def __contains__(self, name: object) -> bool:
        return any(field_name == name for field_name, _ in self.fields)


@dataclass(frozen=True, slots=True)
class Example:
    """A table and a text that says it; `text` is None where there is only a table to generate for."""

    id: str
    table: Table
    text: str | None


def _is_texts(values: object) -> bool:
    return isinstance(values, Sequence) and all(
        isinstance(item, str) for item in cast("Sequence[object]", values)
    )
