"""Parquet: a `table` column of structs with `text` and `id`, or one column per field as in a CSV."""

from __future__ import annotations

from abc import abstractmethod
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


class BatchReader(Reader):
    """Reads a batch of rows at a time; errors name the row, counted from 1."""

    @abstractmethod
    def schema(self) -> pa.Schema:
        """The names and types of the columns."""

    @abstractmethod
    def batches(self) -> Iterator[pa.RecordBatch]:
        """The rows, some at a time."""

    def columns(self) -> list[str]:
        return [str(name) for name in self.schema().names]

    def examples(self) -> Iterator[Example]:
        schema = self.schema()
        columns = [str(name) for name in schema.names]
        if (name := first_repeated(columns)) is not None:
            raise CorpusError(f"the column {name!r} appears twice.", where=str(self.path))
        text_column = self.options.text_column_among(columns, usual="text", where=str(self.path))
        maps = _holds_maps(schema)
        row = 0
        for batch in self.batches():
            for record in _records(batch, where=f"{self.path}:{row + 1}"):
                row += 1
                where = f"{self.path}:{row}"
                try:
                    if maps:
                        record["table"] = _object(record["table"], where=where)
                    elif "table" not in columns:
                        record = _nested(record, text_column)
                    example = example_of(record, self.id_of(row), text_column, where=where)
                except CorpusError as problem:
                    self.refuse(problem)
                    continue
                yield example


class ParquetReader(BatchReader):
    """Reads a Parquet file."""

    def schema(self) -> pa.Schema:
        with _opened(self.path) as file:
            return file.schema_arrow

    def count(self) -> int:
        with _opened(self.path) as file:
            return file.metadata.num_rows

    def batches(self) -> Iterator[pa.RecordBatch]:
        with _opened(self.path) as file:
            yield from file.iter_batches(batch_size=BATCH_ROWS)


def _nested(record: dict[str, object], text_column: str | None) -> dict[str, object]:
    """A row with one column per field, as the record that a line of JSONL would hold."""
    others = {key: record.pop(key) for key in ("id", text_column) if key in record}
    return {"table": record} | {str(key): value for key, value in others.items()}


def _holds_maps(schema: pa.Schema) -> bool:
    import pyarrow as pa

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
        with pq.ParquetFile(path, pre_buffer=False) as file:  # or all of the file would be in memory
            yield file
    except (pa.ArrowException, OSError, ValueError) as error:  # ValueError: a name that is not UTF-8
        raise CorpusError(
            "the Parquet file is truncated or damaged.",
            where=str(path),
            remedy="Write or fetch it again.",
        ) from error
