"""A table, an example, a corpus: what every reader makes and every other room reads."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from textsplice.errors import InputError


@dataclass(frozen=True, slots=True)
class Table:
    """Ordered fields, each a name and its values; a field without values is empty."""

    fields: tuple[tuple[str, tuple[str, ...]], ...]

    @classmethod
    def of(cls, record: Mapping[str, str | Sequence[str]]) -> Table:
        """A table from a plain record: `{"name": "Blue Spice", "tags": ["quiet", "cheap"]}`."""
        fields: list[tuple[str, tuple[str, ...]]] = []
        for name, value in record.items():
            values = (value,) if isinstance(value, str) else value
            if not _is_texts(values):
                raise InputError(
                    f"field {name!r} holds {value!r}, which is not text.",
                    remedy="Give a string or a list of strings.",
                )
            fields.append((name, tuple(item for item in values if item)))
        if not fields:
            raise InputError("a table needs at least one field.")
        return cls(tuple(fields))

    def to_record(self) -> dict[str, str | list[str]]:
        """The plain record; a field with one value is a string, any other a list."""
        return {name: values[0] if len(values) == 1 else list(values) for name, values in self.fields}

    def __iter__(self) -> Iterator[tuple[str, tuple[str, ...]]]:
        return iter(self.fields)

    def __getitem__(self, name: str) -> tuple[str, ...]:
        for field, values in self.fields:
            if field == name:
                return values
        raise KeyError(name)

    def __contains__(self, name: object) -> bool:
        return any(field == name for field, _ in self.fields)


@dataclass(frozen=True, slots=True)
class Example:
    """A table and a text that says it; `text` is None where only generation is wanted."""

    id: str
    table: Table
    text: str | None


def _is_texts(values: object) -> bool:
    return isinstance(values, Sequence) and all(
        isinstance(item, str) for item in cast("Sequence[object]", values)
    )
