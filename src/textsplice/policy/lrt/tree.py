"""The decoder over all texts of some beams, one token at a time, copying nothing that was read before.

The texts of a table form a *tree*: they share their beginnings. The keys and values of each token are written
once, and each text attends to the tokens it consists of, by a mask. A table has as many *slots* as its beam
is wide, and text r of table c stands in slot `c · K + r`.

Shapes in comments: H texts, C tables, K slots of a table, N tokens of a tree, S tokens of a table,
h heads, d model width.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from textsplice.policy.lrt.model import LrtModel
from textsplice.policy.transformer import DecoderLayer

GROWS_BY = 16  # tokens that a tree has room for, each in all slots, before it is moved to a larger place


class Grid(NamedTuple):
    """Where the texts of a step stand among the slots; `slots` is None if every slot has one."""

    tables: int
    width: int
    slots: Tensor | None

    def spread(self, rows: Tensor) -> Tensor:
        """`[H, …]` to `[C, K, …]`, 0 in empty slots."""
        if self.slots is not None:
            empty = rows.new_zeros(self.tables * self.width, *rows.shape[1:])
            rows = empty.index_copy_(0, self.slots, rows)
        return rows.unflatten(0, (self.tables, self.width))

    def collect(self, grid: Tensor) -> Tensor:
        """`[C, K, …]` to `[H, …]`."""
        flat = grid.flatten(0, 1)
        return flat if self.slots is None else flat.index_select(0, self.slots)


class Trees:
    """What the decoder has read of the texts of each table."""

    def __init__(self, policy: LrtModel, width: int, tables: Sequence[Tensor], mask: Tensor | None) -> None:
        """`tables` are the keys and values of each layer, `[C, S, 2d]`; `mask` is `[C, 1, 1, S]`."""
        self.policy = policy
        self.width = width
        self.heads = policy.shape.config.heads
        self.tables = [self._by_heads(table) for table in tables]
        self.mask = mask
        self.count = len(tables[0])
        self.length = 0
        # Which tokens of its tree each slot's text consists of.
        self.seen = np.zeros((self.count, width, 0), dtype=np.bool_)
        self.read: list[tuple[Tensor, Tensor]] = []

    @torch.no_grad()
    def step(self, ids: NDArray[np.int64], slots: NDArray[np.int64]) -> tuple[Tensor, Grid]:
        """Reads the last token of each text, whose slots are in ascending order: its states `[H, d]`."""
        policy = self.policy
        embeddings = policy.decoder.embeddings
        grid = Grid(
            self.count, self.width, None if len(slots) == self.count * self.width else policy.here(slots)
        )
        last = embeddings.positions.num_embeddings - 1
        added = embeddings.positions.weight[min(self.length, last)] + embeddings.features.weight[0]
        states = embeddings.norm(policy.tokens(policy.here(ids)) + added)
        mask = self._grow()
        for number, layer in enumerate(cast("Sequence[DecoderLayer]", policy.decoder.layers)):
            states = self._layer(number, layer, states, grid, mask)
        self.length += 1
        return policy.decoder.norm(states), grid

    def follow(self, parents: NDArray[np.int64], slots: NDArray[np.int64]) -> None:
        """New texts stand in `slots`; each continues the one that stood in the slot `parents`."""
        old = self.seen.reshape(-1, self.seen.shape[2])
        new = np.zeros_like(old)
        new[slots] = old[parents]
        self.seen = new.reshape(self.seen.shape)

    def keep(self, tables: NDArray[np.int64]) -> None:
        """Forgets all other tables."""
        at = self.policy.here(tables)
        self.count = len(tables)
        self.seen = self.seen[tables]
        self.tables = [(key[at], value[at]) for key, value in self.tables]
        self.mask = None if self.mask is None else self.mask[at]
        self.read = [(key[at], value[at]) for key, value in self.read]

    def _grow(self) -> Tensor:
        """Makes room for one more token in each slot; what each text attends to, `[C, 1, K, N]`."""
        new = np.broadcast_to(np.eye(self.width, dtype=np.bool_), (self.count, self.width, self.width))
        self.seen = np.concatenate((self.seen, new), axis=2)
        if self.length % GROWS_BY == 0:
            layers, width = len(self.tables), self.policy.shape.config.d_model // self.heads
            shape = (self.count, self.heads, GROWS_BY * self.width, width)
            more = [self.policy.tokens.weight.new_zeros(shape) for _ in range(2 * layers)]
            if self.read:
                known = [part for pair in self.read for part in pair]
                more = [torch.cat(pair, dim=2) for pair in zip(known, more, strict=True)]
            self.read = list(zip(more[::2], more[1::2], strict=True))
        unseen = np.where(self.seen, np.float32(0), np.float32(-np.inf))
        return self.policy.here(unseen)[:, None]

    def _layer(self, number: int, layer: DecoderLayer, states: Tensor, grid: Grid, mask: Tensor) -> Tensor:
        around = layer.attention_residual
        query, key, value = layer.attention.projection(around.before(states)).chunk(3, dim=-1)
        keys, values = self.read[number]
        here = slice(self.length * self.width, (self.length + 1) * self.width)
        keys[:, :, here] = self._heads_first(grid.spread(key))
        values[:, :, here] = self._heads_first(grid.spread(value))
        mixed = self._attend(query, keys[:, :, : here.stop], values[:, :, : here.stop], grid, mask)
        states = around.after(states, layer.attention.out(mixed))
        around = layer.cross_residual
        query = layer.cross.query(around.before(states))
        states = around.after(
            states, layer.cross.out(self._attend(query, *self.tables[number], grid, self.mask))
        )
        around = layer.feed_forward_residual
        return around.after(states, layer.feed_forward(around.before(states)))

    def _attend(self, query: Tensor, key: Tensor, value: Tensor, grid: Grid, mask: Tensor | None) -> Tensor:
        asked = self._heads_first(grid.spread(query))
        mixed = functional.scaled_dot_product_attention(asked, key, value, attn_mask=mask)
        return grid.collect(mixed.transpose(1, 2).flatten(2))

    def _heads_first(self, states: Tensor) -> Tensor:
        """`[C, K, d]` to `[C, h, K, d / h]`."""
        return states.unflatten(-1, (self.heads, -1)).transpose(1, 2)

    def _by_heads(self, table: Tensor) -> tuple[Tensor, Tensor]:
        key, value = table.chunk(2, dim=-1)
        return self._heads_first(key).contiguous(), self._heads_first(value).contiguous()
