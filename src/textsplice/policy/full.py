"""FULL: the paper's policy over splices (section "Models, Training, and Generation")."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from torch import Tensor
from transformers import PreTrainedModel

from textsplice.policy.batches import FullBatch
from textsplice.policy.cases import Case, Keys
from textsplice.policy.config import PolicyConfig
from textsplice.policy.output import PolicyOutput


@dataclass(frozen=True)
class CaseStates:
    """What is computed once a case, before the first canvas; `keys[c]` says what the columns mean."""

    cases: list[Case]
    keys: list[Keys]


@dataclass(frozen=True)
class Canvases:
    """The canvases of `H` hypotheses, without padding tokens at either side.

    `case_of[h]`: which case of the `CaseStates`. `ids[h, :lengths[h]]`: tokens (ids of the whole
    vocabulary); `ages[h, :]`: how many splices ago each was placed (1 = by the last splice).
    `copied[h, :S]`: for each token of the case's table, whether it stands on the canvas now.
    What stands beyond a row's length is ignored.
    """

    case_of: NDArray[np.int64]
    ids: NDArray[np.int32]
    lengths: NDArray[np.int64]
    ages: NDArray[np.int32]
    copied: NDArray[np.bool_]


@dataclass(frozen=True)
class FirstScores:
    """First decisions: `log_probs[h, start, column]`, `stop[h]`; exactly -inf where nothing is allowed.

    `start` goes from 0 to the longest canvas of the batch, `column` as in `Keys`, padded with -inf.
    """

    log_probs: Tensor
    stop: Tensor


class FullPolicy(PreTrainedModel):
    """FULL: chooses the start and first token of a splice, then its stop and last token."""

    config_class = PolicyConfig
    config: PolicyConfig

    def forward(self, batch: FullBatch) -> PolicyOutput:
        """The loss of a batch of derivations (equations 2 and 3 of the paper)."""
        raise NotImplementedError

    def encode_texts(self, texts: Sequence[NDArray[np.int32]]) -> list[Tensor]:
        """Each neighbor's encoding `[L, d]`; depends on nothing else, so it can be cached."""
        raise NotImplementedError

    def encode_cases(
        self, cases: Sequence[Case], encodings: Sequence[Sequence[Tensor]] | None = None
    ) -> CaseStates:
        """What search needs of each case; `encodings[c][n]` as `encode_texts` gave them, if at hand."""
        raise NotImplementedError

    def first_scores(self, states: CaseStates, canvases: Canvases) -> FirstScores:
        """The first decision at every canvas (no gradients)."""
        raise NotImplementedError

    def second_scores(
        self,
        first: FirstScores,
        hypothesis: NDArray[np.int64],
        start: NDArray[np.int64],
        column: NDArray[np.int64],
    ) -> Tensor:
        """The second decision after each of `M` first ones: `log_probs[m, stop, end - begin - 1]`.

        `hypothesis` says which canvas of `first`. Columns count the tokens of the span: index 0 is
        `end == begin + 1`. Exactly -inf where `stop < start`, beyond the canvas, beyond the source
        or the table's segment, and where the span would end at a mask.
        """
        raise NotImplementedError
