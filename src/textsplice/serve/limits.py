"""The most that a request may have."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from textsplice.serve.problems import Problem


@dataclass(frozen=True, slots=True)
class Limits:
    """Beyond these a request is refused; `queue` requests wait, and `batch` records are searched at once."""

    body_bytes: int = 4 << 20
    rows: int = 1000
    fields: int = 200
    characters: int = 20_000  # of a record, or of a text
    seconds: float = 60.0
    queue: int = 64
    batch: int = 32
    depth: int = 16  # of JSON, beside what rows have

    def told(self) -> dict[str, float]:
        """What clients must keep."""
        return {
            name: getattr(self, name) for name in ("body_bytes", "rows", "fields", "characters", "seconds")
        }

    def check_record(self, record: Mapping[str, object]) -> None:
        """413 if a record has too many fields or characters."""
        fields, characters = _measure(record)
        if fields > self.fields:
            raise _beyond(f"the record has {fields:,} fields", self.fields)
        if characters > self.characters:
            raise _beyond(f"the record has {characters:,} characters", self.characters)

    def check_text(self, text: str) -> None:
        """413 if a text has too many characters."""
        if len(text) > self.characters:
            raise _beyond(f"the text has {len(text):,} characters", self.characters)

    def check_rows(self, rows: int) -> None:
        """413 if there are too many records."""
        if rows > self.rows:
            raise _beyond(f"there are {rows:,} records", self.rows)


def _beyond(what: str, limit: int) -> Problem:
    return Problem(413, f"{what}; {limit:,} is the most.", remedy="Send less at once.")


def _measure(value: object) -> tuple[int, int]:
    """How many fields a value has, those of objects in it included, and how many characters."""
    if isinstance(value, Mapping):
        parts = [_measure(item) for item in cast("Mapping[str, object]", value).values()]
        names = sum(map(len, cast("Mapping[str, object]", value)))
        return sum(max(1, fields) for fields, _ in parts), names + sum(size for _, size in parts)
    if isinstance(value, list):
        return 0, sum(_measure(item)[1] + 1 for item in cast("Sequence[object]", value))
    return 0, len(value) if isinstance(value, str) else len(str(value))
