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
from torch import Tensor, nn

from textsplice.policy.lrt.attention import Places, attend_to
from textsplice.policy.lrt.model import LrtModel, LrtStates
from textsplice.policy.transformer import DecoderLayer

GROWS_BY = 32  # tokens of every text of full beams that there is room for, before rows are moved


class Trees:
    """What the decoder has read of the texts of each table."""

    def __init__(self, policy: LrtModel, states: LrtStates, beam: int) -> None:
        self.policy = policy
        config = policy.shape.config
        self.shape = (config.heads, config.d_model // config.heads)
        self.tables = [table.flatten(0, 1) for table in states.tables]  # [C · S, 2d] of each layer
        lengths = np.array([len(case.table) for case in states.cases], dtype=np.int64)
        width = states.encoded.shape[1]
        self.of_table = Places(np.arange(len(lengths) * width).reshape(-1, width), lengths)
        self.more = GROWS_BY * beam * len(lengths)
        # Queries, keys and values, [R, 3d] of each layer.
        self.read = [table.new_empty(0, 3 * config.d_model) for table in self.tables]
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
            around, attention, cross = layer.attention_residual, layer.attention, layer.cross
            new = read[written]
            project(around.before(states), attention.projection, out=new)
            states = around.after(states, project(attend_to(new, read, own, self.shape), attention.out))
            around = layer.cross_residual
            query = project(around.before(states), cross.query)
            states = around.after(states, project(attend_to(query, keys, table, self.shape), cross.out))
            around = layer.feed_forward_residual
            states = around.after(states, layer.feed_forward(around.before(states)))
        return policy.decoder.norm(states)

    def follow(self, parents: NDArray[np.int64]) -> None:
        """Each of the new texts continues one of the old."""
        self.rows = self.rows[parents]

    def _make_room(self, count: int) -> None:
        if count > len(self.read[0]):
            for layer, read in enumerate(self.read):
                self.read[layer] = read.new_empty(len(read) + self.more, read.shape[1])
                self.read[layer][: self.count] = read[: self.count]
        self.count = count


def project(states: Tensor, by: nn.Linear, out: Tensor | None = None) -> Tensor:
    """What a layer makes of states `[H, …]`; it can be written where it will be read."""
    return torch.addmm(by.bias, states, by.weight.T, out=out)
