"""What a row says of a text that was traced, not generated: what stands in no source, and what is proved."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from textsplice.search.reading import JsonRow

POLICY = "trace"  # what the row of a trace names as its policy


class Gap(NamedTuple):
    """`text[start:stop]` stands in no source; `utf16` is the same range in UTF-16 units."""

    start: int
    stop: int
    utf16: tuple[int, int]


class Certificate(NamedTuple):
    """The splices are the fewest over all `rows` texts if `proved`, else over those `looked_at`."""

    rows: int
    looked_at: int
    proved: bool

    def __str__(self) -> str:
        if self.proved:
            return f"least over {self.rows:,} rows: proved"
        return f"least over the {self.looked_at:,} rows looked at, of {self.rows:,}"


@dataclass(frozen=True, slots=True)
class Traced:
    """The gaps of a text, the share of its tokens that have a source, and what is proved of its splices."""

    gaps: tuple[Gap, ...]
    covered: float
    certificate: Certificate

    def to_dict(self) -> dict[str, object]:
        """The key `trace` of a row."""
        return {
            "gaps": [{**gap._asdict(), "utf16": list(gap.utf16)} for gap in self.gaps],
            "covered": self.covered,
            "certificate": self.certificate._asdict(),
        }

    @classmethod
    def from_row(cls, row: JsonRow) -> Traced:
        """Reads what `to_dict` wrote; `InputError` if something is missing or of another type."""
        certificate = row.row("certificate")
        said = [certificate.data.get(key) for key in ("rows", "looked_at")]
        rows, looked_at = certificate.numbers(said, "certificate", 2)
        return cls(
            tuple(_gap(gap) for gap in row.rows("gaps")),
            row.score("covered"),
            Certificate(rows, looked_at, certificate.data.get("proved") is True),
        )


def _gap(row: JsonRow) -> Gap:
    data: Mapping[str, object] = row.data
    start, stop = row.numbers([data.get("start"), data.get("stop")], "gaps", 2)
    first, last = row.numbers(data.get("utf16"), "utf16", 2)
    return Gap(start, stop, (first, last))
