"""From rows of a prepared split to the tensors of one training step, without a loop over tokens."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from textsplice.policy.config import PolicyConfig
from textsplice.ragged import Ragged


class TrainingSplit(Protocol):
    """The part of a `PreparedSplit` that policies learn from."""

    @property
    def table_tokens(self) -> Ragged: ...
    @property
    def table_segments(self) -> Ragged: ...
    @property
    def table_of(self) -> NDArray[np.int32]: ...
    @property
    def targets(self) -> Ragged: ...
    @property
    def neighbors(self) -> NDArray[np.int32]: ...
    @property
    def splices(self) -> NDArray[np.int32]: ...
    @property
    def splice_offsets(self) -> NDArray[np.int64]: ...


class FullBatch: ...


class TokenBatch: ...


Batch = FullBatch | TokenBatch


def collate(
    config: PolicyConfig, split: TrainingSplit, store_tokens: Ragged, rows: NDArray[np.int64]
) -> Batch:
    """The tensors of one training step over the examples `rows` of a split, for `config.kind`."""
    raise NotImplementedError


def plan_batches(
    split: TrainingSplit, rows: NDArray[np.int64], budget: int, rng: np.random.Generator
) -> list[NDArray[np.int64]]:
    """One epoch's batches in random order: whole cases together, about `budget` actions a batch.

    An example counts as its splices and one Stop. References of one table with the same neighbors
    stay together (they are encoded once) unless they alone exceed the budget.
    """
    raise NotImplementedError
