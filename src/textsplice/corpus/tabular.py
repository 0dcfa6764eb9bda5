"""CSV: one column per field, one for the text, and perhaps an `id`."""

from __future__ import annotations

from collections.abc import Iterator

from textsplice.corpus.e2e import E2EReader, is_e2e
from textsplice.corpus.reader import Reader
from textsplice.corpus.rows import count_records, read_header, read_records
from textsplice.corpus.table import Example, Table
from textsplice.errors import CorpusError


class CsvReader(Reader):
    """Reads one table per row, plain or gzipped; an empty cell is an empty field.

    A file of E2E's columns is recognized and read as such.
    """

    def count(self) -> int:
        return count_records(self.path)

    def examples(self) -> Iterator[Example]:
        header = read_header(self.path)
        if is_e2e(header, self.options.text_column):
            yield from E2EReader(self.path, self.split, self.options).examples()
            return
        text_column = self.options.text_column_among(header, usual="text", where=f"{self.path}:1")
        text_at = None if text_column is None else header.index(text_column)
        id_at = header.index("id") if "id" in header else None
        fields_at = [(at, name) for at, name in enumerate(header) if at not in (text_at, id_at)]
        if not fields_at:
            raise CorpusError(
                "the table has no field.",
                where=f"{self.path}:1",
                remedy=f"The header {','.join(header)!r} needs a column for each field.",
            )
        for number, (_, cells) in enumerate(read_records(self.path, header), start=1):
            fields = [(name, (value,) if (value := cells[at].strip()) else ()) for at, name in fields_at]
            given_id = "" if id_at is None else cells[id_at].strip()
            text = "" if text_at is None else cells[text_at]
            yield Example(
                given_id or self.id_of(number),
                Table(tuple(fields)),
                text if text.strip() else None,
            )
