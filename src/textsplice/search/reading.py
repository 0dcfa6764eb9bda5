"""Reading the published JSON of a generation back, with a sentence for everything that can be wrong in it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast, get_args

from textsplice.corpus.table import Table
from textsplice.errors import InputError
from textsplice.oracle.sources import OfferedNeighbor, Sources
from textsplice.oracle.splice import Splice
from textsplice.search.generation import FORMAT, Alternative, Attribution, Generation, Provenance, Status
from textsplice.text.linearize import Linearized, Segment
from textsplice.text.tokens import Tokenizer


def read_generation(data: Mapping[str, object], where: str) -> Generation:
    """The generation a JSON object holds."""
    row = _Row(data, where)
    if data.get("format") != FORMAT:
        raise InputError(f"is of format {data.get('format')!r}; this version reads {FORMAT!r}.", where=where)
    return Generation(
        id=row.text("id"),
        table=Table.from_record(cast("Mapping[str, str | list[str]]", row.mapping("table"))),
        text=row.text("text"),
        tokens=tuple(row.texts("tokens")),
        sources=_sources(row.row("sources")),
        splices=tuple(Splice(*row.numbers(splice, "splices", 5)) for splice in row.items("splices")),
        provenance=tuple(_provenance(place, row) for place in row.items("provenance")),
        score=row.score("score"),
        status=cast("Status", row.choice("status", get_args(Status))),
        reason=row.text("reason") if data.get("reason") is not None else None,
        rules=tuple(rule.data for rule in row.rows("rules")),
        policy=row.text("policy"),
        run=row.text("run"),
        tokenizer=cast("Tokenizer", row.choice("tokenizer", get_args(Tokenizer))),
        attribution=cast("Attribution", row.choice("attribution", get_args(Attribution))),
        alternatives=tuple(
            Alternative(other.text("text"), other.score("score")) for other in row.rows("alternatives")
        ),
        search=row.mapping("search") if data.get("search") is not None else None,
        weights=row.text("weights") if data.get("weights") is not None else None,
    )


def _sources(row: _Row) -> Sources:
    table = row.row("table")
    segments = [_segment(segment, table) for segment in table.items("segments")]
    words = row.mapping("words")
    if not all(number.isdecimal() and isinstance(word, str) for number, word in words.items()):
        raise InputError("words must map ids to words.", where=row.where)
    return Sources(
        Linearized(table.texts("tokens"), segments),
        tuple(
            OfferedNeighbor(each.text("id"), each.text("text"), tuple(each.texts("tokens")))
            for each in row.rows("neighbors")
        ),
        {int(number): cast(str, word) for number, word in words.items()},
    )


def _segment(segment: object, row: _Row) -> Segment:
    match segment:
        case [str(field), *span]:
            return Segment(field, *row.numbers(cast("list[object]", span), "segments", 2))
        case _:
            raise InputError(
                "'segments' is not made of a field's name and 2 whole numbers each.", where=row.where
            )


def _provenance(place: object, row: _Row) -> Provenance:
    each = cast("Mapping[str, object]", place) if isinstance(place, Mapping) else {}
    return Provenance(*row.numbers([each.get(k) for k in Provenance._fields], "provenance", 5))


class _Row:
    """A JSON object whose values are asked for by kind."""

    def __init__(self, data: object, where: str) -> None:
        if not isinstance(data, Mapping):
            raise InputError("is not a JSON object.", where=where)
        self.data = cast("Mapping[str, object]", data)
        self.where = where

    def text(self, key: str) -> str:
        value = self.data.get(key)
        if not isinstance(value, str):
            raise self._wrong(key, "text")
        return value

    def choice(self, key: str, choices: Sequence[str]) -> str:
        value = self.text(key)
        if value not in choices:
            raise self._wrong(key, f"one of {', '.join(choices)}")
        return value

    def items(self, key: str) -> Sequence[object]:
        value = self.data.get(key)
        if not isinstance(value, list):
            raise self._wrong(key, "a list")
        return cast("list[object]", value)

    def texts(self, key: str) -> list[str]:
        values = self.items(key)
        if not all(isinstance(value, str) for value in values):
            raise self._wrong(key, "a list of strings")
        return cast("list[str]", list(values))

    def mapping(self, key: str) -> Mapping[str, object]:
        return self.row(key).data

    def row(self, key: str) -> _Row:
        if not isinstance(self.data.get(key), Mapping):
            raise self._wrong(key, "an object")
        return _Row(self.data[key], self.where)

    def rows(self, key: str) -> list[_Row]:
        return [_Row(item, f"{self.where}: {key}") for item in self.items(key)]

    def score(self, key: str) -> float:
        value = self.data.get(key)
        if value is None:
            return float("-inf")
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise self._wrong(key, "a number")
        return float(value)

    def numbers(self, values: object, key: str, count: int) -> list[int]:
        items = cast("list[object]", values) if isinstance(values, list) else []
        whole = [item for item in items if isinstance(item, int) and not isinstance(item, bool)]
        if len(items) != count or len(whole) != count:
            raise self._wrong(key, f"made of {count} whole numbers each")
        return whole

    def _wrong(self, key: str, wanted: str) -> InputError:
        return InputError(f"{key!r} is missing or not {wanted}.", where=self.where)
