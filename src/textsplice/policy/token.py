"""LRT: one token at a time, left to right, from the table, the neighbors or the vocabulary."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from torch import Tensor
from transformers import PreTrainedModel

from textsplice.policy.batches import TokenBatch
from textsplice.policy.cases import Case, Keys
from textsplice.policy.config import PolicyConfig
from textsplice.policy.output import PolicyOutput


@dataclass(frozen=True)
class TokenStates:
    """What is computed once a case; `keys[c]` says what the columns mean."""

    cases: list[Case]
    keys: list[Keys]


@dataclass(frozen=True)
class Cache:
    """The decoder's keys and values of every token read so far, one row a hypothesis."""

    length: int

    def select(self, parents: NDArray[np.int64]) -> Cache:
        """The cache of new hypotheses, each of which goes on from one of the old."""
        raise NotImplementedError


class TokenPolicy(PreTrainedModel):
    """LRT. The text begins with BEGIN, which is given, and ends with END, which is chosen."""

    config_class = PolicyConfig
    config: PolicyConfig

    def forward(self, batch: TokenBatch) -> PolicyOutput:
        """The marginal loss: of each target token, `-log Σ` over the keys that stand for it."""
        raise NotImplementedError

    def encode_texts(self, texts: Sequence[NDArray[np.int32]]) -> list[Tensor]:
        """Each neighbor's encoding `[L, d]`; depends on nothing else, so it can be cached."""
        raise NotImplementedError

    def encode_cases(
        self, cases: Sequence[Case], encodings: Sequence[Sequence[Tensor]] | None = None
    ) -> TokenStates:
        """What search needs of each case."""
        raise NotImplementedError

    def step(
        self,
        states: TokenStates,
        case_of: NDArray[np.int64],
        last: NDArray[np.int32],
        cache: Cache | None,
    ) -> tuple[Tensor, Cache]:
        """Reads each hypothesis's last token (BEGIN at first): `log_probs[h, column]` and the cache.

        All hypotheses of a cache have the same length. Columns as in `Keys`, padded with -inf.
        """
        raise NotImplementedError

    def marginalize(
        self, states: TokenStates, case_of: NDArray[np.int64], log_probs: Tensor, size: int
    ) -> Tensor:
        """`[h, word id]`: log-probabilities summed over all keys of a word, for ids below `size`."""
        raise NotImplementedError
