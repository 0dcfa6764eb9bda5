"""Scores for neighbors: how near two tables are.

A new score is a subclass of `Score` and one line in `extensions.SCORES`; `neighbors.score` in a configuration
names it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from textsplice.errors import ConfigError
from textsplice.extensions import SCORES
from textsplice.neighbors.features import Features
from textsplice.neighbors.index import Index
from textsplice.neighbors.scan import ScanIndex
from textsplice.neighbors.shards import TABLES_A_SHARD, ShardedIndex
from textsplice.neighbors.table_index import TableIndex

DEFAULT = "fields-and-values"


class Score(ABC):
    """How near two tables are. The default index scores every distinct table."""

    @abstractmethod
    def score(self, query: Features, other: Features) -> float:
        """The higher, the nearer. `other` is a table of the store."""

    def build_index(
        self, groups: Iterable[Features], row_group: NDArray[np.int32], commonness: NDArray[np.float64]
    ) -> TableIndex:
        """Indexes distinct tables (groups), given the group and the commonness of every row."""
        return ScanIndex.build(self.score, groups, row_group, commonness)

    def load_index(self, folder: Path) -> TableIndex:
        """Opens an index that was built by `build_index` and saved."""
        return ScanIndex.load(self.score, folder)


class FieldsAndValues(Score):
    """The paper's score, F1(fields) + 0.1 · F1(values), with a compiled index."""

    def score(self, query: Features, other: Features) -> float:
        """The same float as the compiled index computes."""
        fields = max(len(query.fields) + len(other.fields), 1)
        values = max(len(query.values) + len(other.values), 1)
        shared_fields, shared_values = len(query.fields & other.fields), len(query.values & other.values)
        return (20 * shared_fields * values + 2 * shared_values * fields) / (10 * fields * values)

    def build_index(
        self, groups: Iterable[Features], row_group: NDArray[np.int32], commonness: NDArray[np.float64]
    ) -> TableIndex:
        """The compiled index; in shards if there are many tables."""
        if int(row_group.max(initial=-1)) >= TABLES_A_SHARD:
            return ShardedIndex.build(groups, row_group, commonness)
        return Index.build(groups, row_group, commonness)

    def load_index(self, folder: Path) -> TableIndex:
        """The compiled index, memory-mapped."""
        return ShardedIndex.load(folder) if ShardedIndex.is_saved(folder) else Index.load(folder)


def score_named(name: str) -> Score:
    """The score of this name; `ConfigError` if there is none."""
    found = SCORES[name]
    if not (isinstance(found, type) and issubclass(found, Score)):
        raise ConfigError(
            f"the score {name!r} is not a subclass of textsplice.neighbors.Score.", where="neighbors.score"
        )
    return found()
