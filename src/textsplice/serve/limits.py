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
        if len(record) > self.fields:
            raise _beyond(f"the record has {len(record):,} fields", self.fields)
        characters = sum(len(name) + _length(value) for name, value in record.items())
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


def _length(value: object) -> int:
    if isinstance(value, str):
        return len(value)
    if isinstance(value, list):
        return sum(_length(item) + 1 for item in cast("Sequence[object]", value))
    return 24
