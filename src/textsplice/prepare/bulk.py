"""Neighbors and least derivations of a part's rows, by the workers of an engine."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from textsplice.arrow import (
    bytes_of_columns,
    column_ints,
    column_ragged,
    columns_of_bytes,
    ragged_column,
    read_columns,
)
from textsplice.engine import Engine
from textsplice.oracle.batch import Derivations
from textsplice.prepare.inputs import SplitInputs
from textsplice.prepare.stages import derivations_of, find_neighbors, rows_of
from textsplice.ragged import Ragged
from textsplice.runs.parts import Parts
from textsplice.runs.prepared_files import PreparedFiles
from textsplice.work import Work

EXAMPLES = 2000  # whose neighbors and derivations a worker finds at a time
A_ROW = 6_000  # bytes of memory that a worker takes for each row of the store, at most
AT_LEAST = 1 << 30


@dataclass(frozen=True)
class BulkRows:
    """The neighbors and derivations of consecutive examples of a split, found when first asked for."""

    engine: Engine
    place: Parts
    work: Work
    rows: range
    quiet: bool

    @property
    def neighbors(self) -> NDArray[np.int32]:
        """As `find_neighbors` finds them."""
        return np.concatenate([neighbors for neighbors, _ in self._found])

    @property
    def derivations(self) -> Derivations:
        """As `derivations_of` finds them."""
        splices = [each.splices for _, each in self._found]
        costs = np.concatenate([each.costs for _, each in self._found])
        offsets = np.concatenate(([0], np.cumsum(costs, dtype=np.int64)))
        return Derivations(np.concatenate(splices), offsets)

    @cached_property
    def _found(self) -> list[tuple[NDArray[np.int32], Derivations]]:
        keys = self.engine.run(
            self.work,
            _parts(self.rows),
            self.place,
            label="neighbors and derivations",
            total=len(self.rows),
            size=lambda part: part[1] - part[0],
            quiet=self.quiet,
        )
        return [_unpacked(result) for result in self.place.results(keys)]


def bulk_work(files: PreparedFiles, split: str, k: int, exclude: str, key: str, rows: int) -> Work:
    """Finding neighbors and derivations of a split; `key` says what they are made from."""
    folder = str(files.folder.absolute())
    settings = {"folder": folder, "split": split, "k": k, "exclude": exclude}
    needs, memory = [str(files.store.absolute())], AT_LEAST + A_ROW * rows
    return Work("textsplice.prepare.bulk:finding", settings, [key], needs, memory)


def finding(settings: Mapping[str, Any]) -> Callable[[list[int]], bytes]:
    """Finds them, in a worker."""
    files = PreparedFiles(Path(settings["folder"]))
    split = settings["split"]
    inputs = SplitInputs(files, split)
    encoded = read_columns(files.encoded_texts(split))
    table_of, targets = column_ints(encoded["table"]), column_ragged(encoded["tokens"])

    def do(part: list[int]) -> bytes:
        rows = range(*part)
        neighbors = find_neighbors(
            inputs.store,
            inputs.tables,
            table_of,
            rows,
            k=settings["k"],
            exclude=settings["exclude"],
            threads=1,
            own=split == "train",
        )
        found = derivations_of(
            targets=rows_of(targets, rows),
            table_of=table_of[rows.start : rows.stop],
            table_tokens=inputs.table_tokens,
            table_segments=inputs.table_segments,
            store=inputs.store,
            neighbors=neighbors,
            threads=1,
        )
        return _packed(neighbors, found)

    return do


def _packed(neighbors: NDArray[np.int32], found: Derivations) -> bytes:
    width = neighbors.shape[1]
    offsets = np.arange(0, neighbors.size + 1, width, dtype=np.int64)
    return bytes_of_columns(
        {
            "neighbors": ragged_column(Ragged(neighbors.reshape(-1), offsets)),
            "splices": ragged_column(Ragged(found.splices.reshape(-1), found.offsets * 5)),
        }
    )


def _unpacked(result: bytes) -> tuple[NDArray[np.int32], Derivations]:
    rows = columns_of_bytes(result)
    neighbors, splices = column_ragged(rows["neighbors"]), column_ragged(rows["splices"])
    found = Derivations(splices.values.reshape(-1, 5), splices.offsets // 5)
    return neighbors.values.reshape(len(neighbors), -1), found


def _parts(rows: range) -> Iterator[list[int]]:
    for start in range(rows.start, rows.stop, EXAMPLES):
        yield [start, min(start + EXAMPLES, rows.stop)]
