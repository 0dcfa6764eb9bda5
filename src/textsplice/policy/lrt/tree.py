"""The decoder over all texts of some beams, one token at a time, copying nothing that was read before.

The texts of a table form a *tree*: they share their beginnings. What is read of a token, its keys and values,
is a row that is written once; a text knows the rows of its own tokens, and attends to these.

Shapes in comments: H texts, C tables, S tokens of a table, R rows, d model width.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from textsplice.policy.lrt.attention import Places, attend_to
from textsplice.policy.lrt.model import LrtModel, LrtStates
from textsplice.policy.transformer import DecoderLayer

GROWS_BY = 16  # tokens of every text of full beams that there is room for, before rows are moved


class Trees:
    """What the decoder has read of the texts of each table."""

    def __init__(self, policy: LrtModel, states: LrtStates, beam: int) -> None:
        self.policy = policy
        self.heads = policy.shape.config.heads
        self.tables = [table.flatten(0, 1) for table in states.tables]  # [C · S, 2d] of each layer
        lengths = np.array([len(case.table) for case in states.cases], dtype=np.int64)
        width = states.encoded.shape[1]
        self.of_table = Places(np.arange(len(lengths) * width).reshape(-1, width), lengths)
        self.more = GROWS_BY * beam * len(lengths)
        self.read = [table.new_empty(0, table.shape[1]) for table in self.tables]  # [R, 2d] of each layer
        self.count = 0  # rows that are written
        self.rows = np.zeros((len(lengths), 0), dtype=np.int64)  # [H, tokens]

    @torch.no_grad()
    def step(self, ids: NDArray[np.int64], tables: NDArray[np.int64]) -> Tensor:
        """Reads the last token of each text, of one of the tables: the decoder's states `[H, d]`."""
        policy = self.policy
        embeddings = policy.decoder.embeddings
        position = min(self.rows.shape[1], embeddings.positions.num_embeddings - 1)
        added = embeddings.positions.weight[position] + embeddings.features.weight[0]
        states = embeddings.norm(policy.tokens(policy.here(ids)) + added)
        written = slice(self.count, self.count + len(ids))
        self._make_room(written.stop)
        self.rows = np.column_stack((self.rows, np.arange(written.start, written.stop)))
        own = Places(self.rows, np.full(len(ids), self.rows.shape[1]))
        table = Places(self.of_table.rows[tables], self.of_table.counts[tables])
        layers = cast("Sequence[DecoderLayer]", policy.decoder.layers)
        for layer, read, keys in zip(layers, self.read, self.tables, strict=True):
            around = layer.attention_residual
            query, new = _split(layer.attention.projection(around.before(states)))
            read[written] = new
            states = around.after(states, layer.attention.out(attend_to(query, read, own, self.heads)))
            around = layer.cross_residual
            query = layer.cross.query(around.before(states))
            states = around.after(states, layer.cross.out(attend_to(query, keys, table, self.heads)))
            around = layer.feed_forward_residual
            states = around.after(states, layer.feed_forward(around.before(states)))
        return policy.decoder.norm(states)

    def follow(self, parents: NDArray[np.int64]) -> None:
        """Each of the new texts continues one of the old."""
        self.rows = self.rows[parents]

    def _make_room(self, count: int) -> None:
        if count > len(self.read[0]):
            self.read = [torch.cat([read, read.new_empty(self.more, read.shape[1])]) for read in self.read]
        self.count = count


def _split(projected: Tensor) -> tuple[Tensor, Tensor]:
    """Queries `[H, d]`, and keys and values `[H, 2d]`."""
    width = projected.shape[1] // 3
    query, new = projected.split([width, 2 * width], dim=1)
    return query, new
