"""Reading published JSON, with a sentence for everything that can be wrong in it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

from textsplice.errors import InputError
from textsplice.oracle.sources import OfferedNeighbor, Sources
from textsplice.text.linearize import Linearized, Segment


class JsonRow:
    """A JSON object, read value by value; `InputError` if one is missing or of another type."""

    def __init__(self, data: object, where: str) -> None:
        if not isinstance(data, Mapping):
            raise InputError("is not a JSON object.", where=where)
        self.data = cast("Mapping[str, object]", data)
        self.where = where

    def text(self, key: str) -> str:
        """A string."""
        value = self.data.get(key)
        if not isinstance(value, str):
            raise self._wrong(key, "text")
        return value

    def choice(self, key: str, choices: Sequence[str]) -> str:
        """One of some strings."""
        value = self.text(key)
        if value not in choices:
            raise self._wrong(key, f"one of {', '.join(choices)}")
        return value

    def items(self, key: str) -> Sequence[object]:
        """A list."""
        value = self.data.get(key)
        if not isinstance(value, list):
            raise self._wrong(key, "a list")
        return cast("list[object]", value)

    def texts(self, key: str) -> list[str]:
        """A list of strings."""
        values = self.items(key)
        if not all(isinstance(value, str) for value in values):
            raise self._wrong(key, "a list of strings")
        return cast("list[str]", list(values))

    def mapping(self, key: str) -> Mapping[str, object]:
        """A JSON object as it is."""
        return self.row(key).data

    def row(self, key: str) -> JsonRow:
        """A JSON object."""
        if not isinstance(self.data.get(key), Mapping):
            raise self._wrong(key, "an object")
        return JsonRow(self.data[key], self.where)

    def rows(self, key: str) -> list[JsonRow]:
        """A list of JSON objects."""
        return [JsonRow(item, f"{self.where}: {key}") for item in self.items(key)]

    def score(self, key: str) -> float:
        """A number; `null` is minus infinity."""
        value = self.data.get(key)
        if value is None:
            return float("-inf")
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise self._wrong(key, "a number")
        try:
            return float(value)
        except OverflowError as error:
            raise self._wrong(key, "a number that can be used") from error

    def numbers(self, values: object, key: str, count: int) -> list[int]:
        """So many whole numbers, found under `key`."""
        items = cast("list[object]", values) if isinstance(values, list) else []
        whole = [item for item in items if isinstance(item, int) and not isinstance(item, bool)]
        if len(items) != count or len(whole) != count:
            raise self._wrong(key, f"made of {count} whole numbers each")
        return whole

    def _wrong(self, key: str, wanted: str) -> InputError:
        return InputError(f"{key!r} is missing or not {wanted}.", where=self.where)


def read_sources(row: JsonRow) -> Sources:
    """The sources of a generation."""
    table = row.row("table")
    segments = [_segment(segment, table) for segment in table.items("segments")]
    words = row.mapping("words")
    if not all(_is_id(number) and isinstance(word, str) for number, word in words.items()):
        raise InputError("words must map ids to words.", where=row.where)
    return Sources(
        Linearized(table.texts("tokens"), segments),
        tuple(
            OfferedNeighbor(each.text("id"), each.text("text"), tuple(each.texts("tokens")))
            for each in row.rows("neighbors")
        ),
        {int(number): cast(str, word) for number, word in words.items()},
    )


def _is_id(number: str) -> bool:
    """Whether it is a number in the one way that it is written: two keys must not mean the same word."""
    return number.isascii() and number.isdecimal() and len(number) < 10 and str(int(number)) == number


def _segment(segment: object, row: JsonRow) -> Segment:
    match segment:
        case [str(field), *span]:
            return Segment(field, *row.numbers(cast("list[object]", span), "segments", 2))
        case _:
            raise InputError(
                "'segments' is not made of a field's name and 2 whole numbers each.", where=row.where
            )
