"""Parquet: a `table` column of structs with `text` and `id`, or one column per field as in a CSV."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, cast

from textsplice.corpus.jsonl import example_of, first_repeated
from textsplice.corpus.reader import Reader
from textsplice.corpus.record import as_text
from textsplice.corpus.table import Example
from textsplice.errors import CorpusError

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.parquet as pq

BATCH_ROWS = 1024


class ParquetReader(Reader):
    """Reads a batch of rows at a time; errors name the row, counted from 1."""

    def count(self) -> int:
        with _opened(self.path) as file:
            return file.metadata.num_rows

    def examples(self) -> Iterator[Example]:
        with _opened(self.path) as file:
            columns = [str(name) for name in file.schema_arrow.names]
            self._check(columns)
            text_column = self.options.text_column_among(columns, usual="text", where=str(self.path))
            maps = _holds_maps(file)
            row = 0
            for batch in file.iter_batches(batch_size=BATCH_ROWS):
                for record in _records(batch, where=f"{self.path}:{row + 1}"):
                    row += 1
                    where = f"{self.path}:{row}"
                    if maps:
                        record["table"] = _object(record["table"], where=where)
                    elif "table" not in columns:
                        record = _nested(record, text_column)
                    yield example_of(record, self.id_of(row), text_column, where=where)

    def _check(self, columns: list[str]) -> None:
        if (name := first_repeated(columns)) is not None:
            raise CorpusError(f"the column {name!r} appears twice.", where=str(self.path))


def _nested(record: dict[str, object], text_column: str | None) -> dict[str, object]:
    """A row with one column per field, as the record that a line of JSONL would hold."""
    others = {key: record.pop(key) for key in ("id", text_column) if key in record}
    return {"table": record} | {str(key): value for key, value in others.items()}


def _holds_maps(file: pq.ParquetFile) -> bool:
    import pyarrow as pa

    schema = file.schema_arrow
    return "table" in schema.names and bool(pa.types.is_map(schema.field("table").type))


def _object(pairs: object, *, where: str) -> dict[str, object]:
    """A map arrives as a list of pairs, in which a key can appear twice."""
    items = cast("list[tuple[object, object]]", pairs or [])
    record: dict[str, object] = {}
    for key, value in items:
        name = key if isinstance(key, str) else as_text(key, "the name of a field", where=where)
        if name in record:
            raise CorpusError(f"the field {name!r} appears twice.", where=where)
        record[name] = value
    return record


def _records(batch: pa.RecordBatch, *, where: str) -> list[dict[str, object]]:
    try:
        return cast("list[dict[str, object]]", batch.to_pylist())
    except (ValueError, OverflowError, TypeError, KeyError) as error:  # a date of the year 292278994, …
        raise CorpusError(
            f"a value in this row or one of the next {batch.num_rows - 1:,} has no equal in Python: {error}.",
            where=where,
            remedy="Write the column as text.",
        ) from error


@contextmanager
def _opened(path: Path) -> Generator[pq.ParquetFile, None, None]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(path) as file:
            yield file
    except (pa.ArrowException, OSError, ValueError) as error:  # ValueError: a name that is not UTF-8
        raise CorpusError(
            "the Parquet file is truncated or damaged.",
            where=str(path),
            remedy="Write or fetch it again.",
        ) from error
