"""stub"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from textsplice.policy.config import PolicyConfig
from textsplice.policy.examples import TrainingSplit
from textsplice.ragged import Ragged


class TokenBatch: ...


def collate_tokens(
    config: PolicyConfig, split: TrainingSplit, store_tokens: Ragged, rows: NDArray[np.int64]
) -> TokenBatch:
    raise NotImplementedError
