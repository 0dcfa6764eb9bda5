"""What the long stages of a split read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from textsplice.arrow import column_ragged, read_columns
from textsplice.corpus.table import Table
from textsplice.neighbors.store import Store
from textsplice.ragged import Ragged
from textsplice.runs.prepared import read_tables
from textsplice.runs.prepared_files import PreparedFiles


@dataclass(frozen=True)
class SplitInputs:
    """The files of a split, opened when first needed: often nothing has to be made."""

    files: PreparedFiles
    split: str

    @cached_property
    def store(self) -> Store:
        return Store.load(self.files.store)

    @cached_property
    def tables(self) -> Sequence[Table]:
        return read_tables(self.files.tables(self.split))

    @cached_property
    def table_tokens(self) -> Ragged:
        return column_ragged(read_columns(self.files.encoded_tables(self.split))["tokens"])

    @cached_property
    def table_segments(self) -> Ragged:
        return column_ragged(read_columns(self.files.encoded_tables(self.split))["segments"])
