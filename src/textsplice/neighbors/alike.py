"""Which texts agree with a table in what texts say without naming it: an act, a condition, what is asked for.

A text that recommends is no model for one that asks, and "as good as new" none for condition C.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np
from numpy.typing import NDArray

from textsplice.corpus.asked import ASKED
from textsplice.corpus.table import Table

FEW = 3  # rows that agree; with fewer, others are offered too


class Alike:
    """Rows by what should be alike: the values of fields that are `never` said, and `?` in others."""

    def __init__(
        self,
        fields: Sequence[str],
        never: Collection[str],
        tables: Sequence[Table],
        table_of: NDArray[np.int32],
    ) -> None:
        self._fields, self._never = fields, never
        self._numbers: list[dict[object, int]] = [{} for _ in fields]
        found = [
            [known.setdefault(each, len(known)) for known, each in zip(self._numbers, has, strict=True)]
            for has in map(self._of, tables)
        ]
        self._rows = np.array(found, dtype=np.int64).reshape(-1, len(fields))[table_of]

    def rows(self, table: Table, among: NDArray[np.bool_]) -> NDArray[np.bool_] | None:
        """The rows that agree in all of it or, if these are too few, in most; None if hardly any do."""
        wanted = [known.get(each, -1) for known, each in zip(self._numbers, self._of(table), strict=True)]
        agreed = (self._rows == np.array(wanted)).sum(axis=1)
        for fields in range(len(wanted), 0, -1):
            rows = agreed >= fields
            if int((rows & among).sum()) >= FEW:
                return rows
        return None

    def _of(self, table: Table) -> tuple[object, ...]:
        values = dict(table)
        return tuple(
            values.get(name, ()) if name in self._never else ASKED in values.get(name, ())
            for name in self._fields
        )
