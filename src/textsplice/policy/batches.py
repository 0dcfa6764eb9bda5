"""From rows of a prepared split to the tensors of one training step, without a loop over tokens."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from textsplice.policy.config import PolicyConfig
from textsplice.policy.examples import TrainingSplit
from textsplice.policy.full_batch import FullBatch, collate_full
from textsplice.policy.token_batch import TokenBatch, collate_tokens
from textsplice.ragged import Ragged

__all__ = ["Batch", "FullBatch", "TokenBatch", "TrainingSplit", "collate"]

Batch = FullBatch | TokenBatch


def collate(
    config: PolicyConfig, split: TrainingSplit, store_tokens: Ragged, rows: NDArray[np.int64]
) -> Batch:
    """The tensors of one training step over the examples `rows` of a split, for `config.kind`."""
    if config.kind == "full":
        return collate_full(config, split, store_tokens, rows)
    return collate_tokens(config, split, store_tokens, rows)
