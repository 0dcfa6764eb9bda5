"""An exact index for any score: it scores every distinct table."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from textsplice.errors import InputError
from textsplice.neighbors.features import Features
from textsplice.neighbors.persistence import COMMONNESS, are_offsets, read_index, within, write_index
from textsplice.neighbors.table_index import Allow, TableIndex, check_count
from textsplice.ragged import Ragged

ScoreFunction = Callable[[Features, Features], float]


@dataclass(frozen=True, slots=True)
class ScanIndex(TableIndex):
    """The best rows by a score that is called as `score(query, other)`."""

    score: ScoreFunction
    groups: list[Features]
    row_group: NDArray[np.int32]
    commonness: NDArray[np.float64]

    @classmethod
    def build(
        cls,
        score: ScoreFunction,
        groups: Iterable[Features],
        row_group: NDArray[np.int32],
        commonness: NDArray[np.float64],
    ) -> ScanIndex:
        """Indexes distinct tables (groups), given the group and the commonness of every row."""
        return cls(score, list(groups), np.array(row_group, np.int32), np.array(commonness, np.float64))

    def __len__(self) -> int:
        return len(self.row_group)

    def search_many(
        self,
        queries: Sequence[Features],
        k: int,
        *,
        exclude_rows: NDArray[np.int32] | None = None,
        exclude_groups: NDArray[np.int32] | None = None,
        allow: Allow | None = None,
        threads: int = 1,  # noqa: ARG002 - a score in Python gains nothing from threads
    ) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
        """See `TableIndex`. Every query scores all distinct tables."""
        check_count(k)
        rows = np.full((len(queries), k), -1, dtype=np.int32)
        scores = np.zeros((len(queries), k), dtype=np.float64)
        allowed = self.allowed_rows(allow)
        numbers = np.arange(len(self), dtype=np.int32)
        for number, query in enumerate(queries):
            possible = np.ones(len(self), dtype=np.bool_) if allowed is None else allowed.copy()
            if exclude_rows is not None:
                possible &= numbers != exclude_rows[number]
            if exclude_groups is not None:
                possible &= self.row_group != exclude_groups[number]
            candidates = numbers[possible]
            scored = self._scores(query)[self.row_group[candidates]]
            best = np.lexsort((candidates, -self.commonness[candidates], -scored))[:k]
            rows[number, : len(best)] = candidates[best]
            scores[number, : len(best)] = scored[best]
        return rows, scores

    def _scores(self, query: Features) -> NDArray[np.float64]:
        scores = np.array([self.score(query, group) for group in self.groups], dtype=np.float64)
        if np.isnan(scores).any():
            raise InputError(
                "a score is not a number.",
                where="neighbors.score",
                remedy="It must be a number for every pair of tables, empty ones too.",
            )
        return scores

    @property
    def row_commonness(self) -> NDArray[np.float64]:
        """The commonness of each row, as the index was given it."""
        return self.commonness

    def save(self, folder: Path) -> None:
        """Writes the tables' features and the rows; the score itself is code."""
        fields, field_ids = _encoded([group.fields for group in self.groups])
        values, value_ids = _encoded([group.values for group in self.groups])
        write_index(
            folder,
            {
                "fields.ids": field_ids.values,
                "fields.offsets": field_ids.offsets,
                "values.ids": value_ids.values,
                "values.offsets": value_ids.offsets,
                "row_group": self.row_group,
                COMMONNESS: self.commonness,
            },
            fields,
            values,
        )

    @classmethod
    def load(cls, score: ScoreFunction, folder: Path) -> ScanIndex:
        """Opens a saved index."""
        saved = read_index(folder)

        def sets(side: str, names: list[str]) -> list[frozenset[str]]:
            ids = Ragged(saved.array(f"{side}.ids", np.int32), saved.array(f"{side}.offsets", np.int64))
            saved.require(f"{side}.ids", within(ids.values, 0, len(names)))
            saved.require(f"{side}.offsets", are_offsets(ids.offsets, len(ids), len(ids.values)))
            return [frozenset(names[number] for number in row) for row in ids]

        fields, values = sets("fields", saved.fields), sets("values", saved.values)
        saved.require("values.offsets", len(fields) == len(values))
        row_group, commonness = saved.array("row_group", np.int32), saved.array(COMMONNESS, np.float64)
        saved.require("row_group", within(row_group, 0, len(fields)))
        saved.require(COMMONNESS, commonness.shape == row_group.shape and bool(np.isfinite(commonness).all()))
        groups = [Features(*pair) for pair in zip(fields, values, strict=True)]
        return cls(score, groups, row_group, commonness)


def _encoded(sets: list[frozenset[str]]) -> tuple[list[str], Ragged]:
    names = sorted(frozenset().union(*sets))
    numbers = {name: number for number, name in enumerate(names)}
    return names, Ragged.from_rows([sorted(numbers[name] for name in each) for each in sets])
