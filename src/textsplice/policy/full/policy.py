"""FULL: the paper's policy over splices (section "Models, Training, and Generation")."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from textsplice.policy.cases import Case
from textsplice.policy.config import PolicyConfig
from textsplice.policy.full_batch import FullBatch
from textsplice.policy.full_loss import first_losses, second_losses
from textsplice.policy.full_scores import (
    Canvases,
    CaseStates,
    FirstScores,
    encode_cases,
    first_scores,
    second_scores,
)
from textsplice.policy.heads import FirstHead, SecondHead
from textsplice.policy.model import PolicyModel
from textsplice.policy.output import PolicyOutput


class FullPolicy(PolicyModel):
    """FULL: chooses the start and first token of a splice, then its stop and last token."""

    def __init__(self, config: PolicyConfig) -> None:
        super().__init__(config, decoder_features=config.max_age + 1)
        self.first = FirstHead(config)
        self.second = SecondHead(config)
        self.post_init()

    def forward(self, batch: FullBatch) -> PolicyOutput:
        """The loss of a batch of derivations (equations 2 and 3 of the paper)."""
        encoded = self.encode(batch.encoded)
        sizes = [batch.neighbor_places, len(encoded) - batch.neighbor_places]
        neighbors, tables = encoded.split(sizes)
        words = self.word_states()
        canvas = self.decode(batch.canvases, tables, batch.contexts)
        first_loss, first_correct = first_losses(self.first, batch, canvas, neighbors, tables, words)
        second_loss, second_correct = second_losses(self.second, batch, canvas, neighbors, tables, words)
        return PolicyOutput(
            loss=(first_loss + second_loss) / batch.sequences,
            first_loss=first_loss,
            second_loss=second_loss,
            actions=len(batch.splices),
            first_correct=first_correct,
            second_actions=int(batch.splices.sum()),
            second_correct=second_correct,
            sequences=batch.sequences,
            canvas_tokens=batch.canvas_tokens,
            skipped=batch.skipped,
        )

    @torch.no_grad()
    def encode_cases(
        self, cases: Sequence[Case], encodings: Sequence[Sequence[Tensor]] | None = None
    ) -> CaseStates:
        """What search needs of each case; `encodings[c][n]` as `encode_texts` gave them, if at hand."""
        return encode_cases(self, cases, encodings)

    @torch.no_grad()
    def first_scores(self, states: CaseStates, canvases: Canvases) -> FirstScores:
        """The first decision at every canvas."""
        return first_scores(self, states, canvases)

    @torch.no_grad()
    def second_scores(
        self,
        first: FirstScores,
        hypothesis: NDArray[np.int64],
        start: NDArray[np.int64],
        column: NDArray[np.int64],
    ) -> Tensor:
        """The second decision after each of `M` first ones: `log_probs[m, stop, end - begin - 1]`.

        `hypothesis` says which canvas of `first`. The last axis counts the tokens of the span: index 0
        is `end == begin + 1`. Exactly -inf where `stop < start`, beyond the canvas, beyond the source
        or the table's segment, and where the span would end at a mask.
        """
        return second_scores(self, first, hypothesis, start, column)
