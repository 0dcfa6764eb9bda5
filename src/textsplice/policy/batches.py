"""From rows of a prepared split to the tensors of one training step, without a loop over tokens."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from textsplice.policy.config import PolicyConfig
from textsplice.policy.examples import TrainingSplit, group_cases
from textsplice.policy.full_batch import FullBatch, collate_full
from textsplice.policy.token_batch import TokenBatch, collate_tokens
from textsplice.ragged import Ragged

__all__ = ["Batch", "FullBatch", "TokenBatch", "TrainingSplit", "collate", "plan_batches"]

Batch = FullBatch | TokenBatch


def collate(
    config: PolicyConfig, split: TrainingSplit, store_tokens: Ragged, rows: NDArray[np.int64]
) -> Batch:
    """The tensors of one training step over the examples `rows` of a split, for `config.kind`."""
    if config.kind == "full":
        return collate_full(config, split, store_tokens, rows)
    return collate_tokens(config, split, store_tokens, rows)


def plan_batches(
    split: TrainingSplit, rows: NDArray[np.int64], budget: int, rng: np.random.Generator
) -> list[NDArray[np.int64]]:
    """One epoch's batches in random order: whole cases together, about `budget` actions a batch.

    An example counts as its splices and one Stop. References of one table with the same neighbors
    stay together (they are encoded once) unless they alone exceed the budget.
    """
    grouped = group_cases(split, rows)
    cases = len(grouped.tables)
    rank = rng.permutation(cases)
    order = np.lexsort((rng.random(len(rows)), rank[grouped.case_of]))
    shuffled = grouped.rows[order]
    case_rank = rank[grouped.case_of][order]
    actions = split.splice_offsets[shuffled + 1] - split.splice_offsets[shuffled] + 1

    batches: list[NDArray[np.int64]] = []
    first, filled = 0, 0
    for last in range(len(shuffled)):
        new_case = last > first and case_rank[last] != case_rank[last - 1]
        full = filled + int(actions[last]) > 1.25 * budget
        if last > first and ((new_case and filled >= budget) or full):
            batches.append(shuffled[first:last])
            first, filled = last, 0
        filled += int(actions[last])
    if first < len(shuffled):
        batches.append(shuffled[first:])
    return [batches[i] for i in rng.permutation(len(batches))]
