"""Columns in Parquet files: written whole or not at all, the same bytes for the same columns."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import cast, overload

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from textsplice.errors import StorageError, TextspliceError
from textsplice.files import atomic_path
from textsplice.ragged import Ragged

REMEDY = "Run `textsplice prepare` again: it makes damaged files again."
DECODING_ERRORS = (
    *(ArithmeticError, AttributeError, LookupError, MemoryError, RecursionError, TypeError, ValueError),
    pa.ArrowException,
)


def write_columns(path: Path, columns: dict[str, pa.Array]) -> None:
    """Writes one Parquet file."""
    with atomic_path(path) as temporary:
        pq.write_table(pa.table(columns), temporary, compression="zstd")


def read_columns(path: Path, columns: Sequence[str] | None = None) -> pa.Table:
    """Reads one Parquet file, or some of its columns."""
    remedy = "Run `textsplice prepare` again: it makes damaged files again."
    try:
        # `pq.read_table` would import pandas if it is installed: half a second.
        with pq.ParquetFile(path, memory_map=True) as file:
            found = file.read(columns=list(columns) if columns else None)
        # A damaged file can decode to columns that point outside themselves: all of them are validated.
        found.validate(full=True)
    except (OSError, ValueError, pa.ArrowException) as error:
        first = (str(error).splitlines() or [type(error).__name__])[0]
        raise StorageError(f"can't be read: {first}.", where=str(path), remedy=remedy) from error
    for name in columns or ():
        if name not in found.column_names or found[name].null_count:
            what = f"the column {name!r} is missing or has gaps."
            raise StorageError(what, where=str(path), remedy=remedy)
    return found


@contextmanager
def undamaged(path: Path, remedy: str = REMEDY) -> Generator[None]:
    """`StorageError` where what was decoded from a file is not of the types that were written into it."""
    try:
        yield
    except TextspliceError:
        raise
    except DECODING_ERRORS as error:
        raise damaged(path, remedy) from error


def damaged(path: Path, remedy: str = REMEDY) -> StorageError:
    """What is said of a file whose content can't be what was written."""
    return StorageError("this file is truncated or damaged.", where=str(path), remedy=remedy)


def ragged_column(ragged: Ragged) -> pa.Array:
    """A column of lists of integers."""
    offsets = pa.array(ragged.offsets.astype(np.int64))
    return pa.LargeListArray.from_arrays(offsets, pa.array(ragged.values.astype(np.int32)))


def column_ragged(column: pa.ChunkedArray) -> Ragged:
    """The rows of a column of lists of integers."""
    array = cast(pa.LargeListArray, _joined(column))
    offsets = _numbers(array.offsets).astype(np.int64, copy=False)
    values = _numbers(array.values).astype(np.int32, copy=False)[offsets[0] : offsets[-1]]
    return Ragged(values, offsets - offsets[0])


def column_ints(column: pa.ChunkedArray) -> NDArray[np.int32]:
    """A column of integers."""
    return _numbers(_joined(column)).astype(np.int32, copy=False)


def _numbers(array: pa.Array) -> NDArray[np.integer]:
    """The numbers of an array in their place; Arrow's own way would import pandas, which takes a second."""
    if array.null_count or not pa.types.is_integer(array.type):
        raise TypeError(f"an array of {array.type} is not one of numbers")
    kind = np.dtype(str(array.type))
    data = array.buffers()[1]
    if data is None or not len(array):
        return np.zeros(0, dtype=kind)
    return np.frombuffer(data, dtype=kind, count=len(array), offset=array.offset * kind.itemsize)


def column_texts(column: pa.ChunkedArray) -> list[str]:
    """A column of strings."""
    _require_texts(column)
    return cast("list[str]", column.to_pylist())


def _require_texts(column: pa.ChunkedArray) -> None:
    if column.null_count or not (pa.types.is_large_string(column.type) or pa.types.is_string(column.type)):
        raise TypeError(f"a column of {column.type} is not one of texts")


class Texts(Sequence[str]):
    """Strings that stay in Arrow's memory, or in a file, until they are asked for."""

    def __init__(self, column: pa.ChunkedArray) -> None:
        _require_texts(column)
        self.column = _joined(column.cast(pa.large_string()))

    def __len__(self) -> int:
        return len(self.column)

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> list[str]: ...
    def __getitem__(self, index: int | slice) -> str | list[str]:
        if isinstance(index, slice):
            return cast("list[str]", self.column[index].to_pylist())
        return cast(str, self.column[index].as_py())


def write_mapped(path: Path, columns: dict[str, pa.Array]) -> None:
    """Writes a file whose columns `read_mapped` reads without a copy."""
    table = pa.table(columns)
    with atomic_path(path) as temporary, pa.ipc.new_file(str(temporary), table.schema) as writer:
        writer.write_table(table)


def read_mapped(path: Path) -> pa.Table:
    """Memory-maps the columns that `write_mapped` wrote."""
    with undamaged(path):
        try:
            found = pa.ipc.open_file(pa.memory_map(str(path))).read_all()
            found.validate(full=True)
        except OSError as error:
            raise damaged(path) from error
    return found


def bytes_of_columns(columns: dict[str, pa.Array]) -> bytes:
    """Columns as bytes, for another process."""
    table = pa.table(columns)
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return sink.getvalue().to_pybytes()


def columns_of_bytes(data: bytes) -> pa.Table:
    """The columns that `bytes_of_columns` wrote."""
    found = pa.ipc.open_stream(data).read_all()
    found.validate(full=True)
    return found


def text_column(texts: Iterable[str]) -> pa.Array:
    """Strings as a column that may hold more than 2 GB."""
    return pa.array(texts, type=pa.large_string())


def _joined(column: pa.ChunkedArray) -> pa.Array:
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()


def int_column(values: NDArray[np.int32]) -> pa.Array:
    """Integers as a column."""
    return pa.array(values.astype(np.int32))
