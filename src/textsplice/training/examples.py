"""The references that are learned from, as the batches of one process."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from textsplice.config import TrainingConfig
from textsplice.errors import TrainingError
from textsplice.policy.policy import Policy
from textsplice.ragged import Ragged
from textsplice.runs.prepared import Prepared, PreparedSplit
from textsplice.training.order import Order, Rows, pack, references, share
from textsplice.training.processes import Processes


@dataclass(frozen=True, slots=True)
class Examples:
    """A split, and how rows of it become tensors."""

    split: PreparedSplit
    texts: Ragged
    policy: Policy
    tables: NDArray[np.int64]  # of each reference
    # Actions per reference: what is shared equally between processes.
    weights: NDArray[np.int64]
    processes: Processes

    @classmethod
    def of(cls, prepared: Prepared, split: str, policy: Policy, processes: Processes) -> Examples:
        """The examples of one split."""
        rows = prepared.learned(split)
        weights = np.diff(rows.splice_offsets) + 1
        return cls(
            rows,
            prepared.store.tokens,
            policy,
            np.asarray(rows.table_of, dtype=np.int64),
            weights,
            processes,
        )

    def batches(self, rows: Rows, micro_sequences: int) -> Iterator[Any]:
        """This process's share of `rows`, about `micro_sequences` references at a time."""
        mine = share(rows, self.weights, self.processes.rank, self.processes.world)
        for part in pack(mine, self.tables, micro_sequences):
            yield self.policy.collate(self.split, self.texts, part)

    def order(self, training: TrainingConfig) -> Order:
        """The updates to train on."""
        rows = references(self.split, training.max_cost, verbatim=training.verbatim)
        if not len(rows):
            cheap = f" of at most max_cost = {training.max_cost} splices" if training.max_cost else ""
            raise TrainingError(
                f"there are no references{cheap} to train on.", where=f"split {self.split.name!r}"
            )
        return Order(rows, self.tables, training.batch_sequences, training.seed)

    def sample(self, sequences: int, *, verbatim: bool = False) -> Rows:
        """About `sequences` references (0: all), whole tables, the same ones for every run.

        If training is on `verbatim` ones only, so is validation, as long as there are any.
        """
        rows = references(self.split, verbatim=verbatim)
        rows = rows if len(rows) else references(self.split)
        if not sequences or len(rows) <= sequences:
            return rows
        return Order(rows, self.tables, sequences, seed=0).epoch(0)[0]
