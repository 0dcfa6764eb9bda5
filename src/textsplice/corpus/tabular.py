"""A stranger's CSV: one column a field, one for the text, and perhaps an `id`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from textsplice.corpus.rows import count_records, read_header, read_records, text_column_of
from textsplice.corpus.table import Example, Table
from textsplice.errors import CorpusError


@dataclass(frozen=True, slots=True)
class CsvReader:
    """Reads a table a row; an empty cell is an empty field."""

    path: Path
    prefix: str
    text_column: str | None = None

    @property
    def files(self) -> tuple[Path, ...]:
        return (self.path,)

    def count(self) -> int:
        return count_records(self.path)

    def examples(self) -> Iterator[Example]:
        header = read_header(self.path)
        text_column = text_column_of(header, self.text_column, default="text", where=f"{self.path}:1")
        text_at = None if text_column is None else header.index(text_column)
        id_at = header.index("id") if "id" in header else None
        fields_at = [at for at in range(len(header)) if at not in (text_at, id_at)]
        if not fields_at:
            raise CorpusError(
                "the table has no field.",
                where=f"{self.path}:1",
                remedy=f"The header {','.join(header)!r} needs a column for each field.",
            )
        for number, (_, cells) in enumerate(read_records(self.path, header), start=1):
            values = ((header[at], cells[at].strip()) for at in fields_at)
            given_id = "" if id_at is None else cells[id_at].strip()
            text = "" if text_at is None else cells[text_at]
            yield Example(
                given_id or f"{self.prefix}:{number}",
                Table(tuple((name, (value,) if value else ()) for name, value in values)),
                text if text.strip() else None,
            )
