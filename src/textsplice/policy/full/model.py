"""FULL's model: its weights and its loss (the paper's section "Models, Training, and Generation")."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from textsplice.policy.examples import TrainingSplit
from textsplice.policy.full.batch import FullBatch, collate_full
from textsplice.policy.full.heads import FirstHead, SecondHead
from textsplice.policy.full.loss import first_losses, second_losses
from textsplice.policy.output import PolicyOutput
from textsplice.policy.policy import Policy
from textsplice.policy.shape import PolicyShape
from textsplice.ragged import Ragged


class FullModel(Policy):
    """Chooses the start and first token of a splice, then its stop and last token."""

    def __init__(self, shape: PolicyShape) -> None:
        super().__init__(shape, decoder_features=shape.config.max_age + 1)
        self.first = FirstHead(shape.config)
        self.second = SecondHead(shape.config)

    def collate(self, split: TrainingSplit, store_tokens: Ragged, rows: NDArray[np.int64]) -> FullBatch:
        return collate_full(self.shape, split, store_tokens, rows)

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
            second_actions=batch.splice_count,
            second_correct=second_correct,
            sequences=batch.sequences,
            canvas_tokens=batch.canvas_tokens,
            skipped=batch.skipped,
        )
