"""The encoder and decoder that all policies share: BART's layers over flat, bucketed tensors.

Shapes in comments: N places of a flat tensor (see `packing`), d model width, h heads, R rows and
L width of a block, S tokens of a table.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple, cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional
from torch.utils.checkpoint import checkpoint

from textsplice.config import PolicyConfig
from textsplice.policy.packing import Block, Packing
from textsplice.policy.shape import PolicyShape

NOT_COPIED, COPIED, NEIGHBOR = range(3)  # the encoder's features


class Sequences(NamedTuple):
    """What a stack reads: flat rows of the embedding table, positions and features `[N]`, and the blocks."""

    ids: Tensor
    positions: Tensor
    features: Tensor
    blocks: list[Block]


def sequences(
    shape: PolicyShape, packing: Packing, ids: NDArray[np.int64], features: NDArray[np.int64]
) -> Sequences:
    """Packed ids of the whole vocabulary and their features, as a stack reads them; on the CPU."""
    return Sequences(
        torch.from_numpy(shape.embed(ids)),
        torch.from_numpy(packing.positions(shape.config.max_positions)),
        torch.from_numpy(features),
        packing.blocks,
    )


class Context(NamedTuple):
    """The table that each row of a block attends to: places `[R, S]` among the table states."""

    places: Tensor
    mask: Tensor | None = None


def causal(block: Block) -> Block:
    """The same rows, in which each token sees itself and those before it; padding comes last, unseen."""
    return block._replace(mask=torch.full((block.width, block.width), float("-inf")).triu_(1))


def split_heads(states: Tensor, heads: int) -> Tensor:
    """`[R, L, d]` to `[R, h, L, d / h]`."""
    return states.unflatten(-1, (heads, -1)).transpose(1, 2)


def look_up(states: Tensor, places: Sequence[Tensor]) -> list[Tensor]:
    """The states `[N, d]` at each of the places, `[…, d]`, in one lookup.

    The gradient of a lookup is as large as all the states, and a batch has hundreds of places to look up.
    """
    if not places:
        return []
    flat = functional.embedding(torch.cat([at.flatten() for at in places]), states)
    parts = flat.split([at.numel() for at in places])
    return [part.view(*at.shape, states.shape[-1]) for part, at in zip(parts, places, strict=True)]


def attend(query: Tensor, key: Tensor, value: Tensor, heads: int, mask: Tensor | None) -> Tensor:
    """Multi-head attention of `[R, L, d]` over `[R, S, d]`, in full precision also under autocast."""
    # In bfloat16, attention's backward pass takes eight times as long on processors without AMX.
    with torch.autocast(query.device.type, enabled=False):
        mixed = functional.scaled_dot_product_attention(
            split_heads(query.float(), heads),
            split_heads(key.float(), heads),
            split_heads(value.float(), heads),
            attn_mask=mask,
        )
    return mixed.transpose(1, 2).flatten(2)  # [R, L, d]


class SelfAttention(nn.Module):
    """Attention within each sequence."""

    def __init__(self, config: PolicyConfig) -> None:
        super().__init__()
        self.heads = config.heads
        self.projection = nn.Linear(config.d_model, 3 * config.d_model)
        self.out = nn.Linear(config.d_model, config.d_model)

    def forward(self, states: Tensor, blocks: Sequence[Block]) -> Tensor:
        projected = self.projection(states)  # [N, 3d]
        mixed: list[Tensor] = []
        for block, part in zip(blocks, projected.split([block.size for block in blocks]), strict=True):
            query, key, value = part.view(block.rows, block.width, -1).chunk(3, dim=-1)
            mixed.append(attend(query, key, value, self.heads, block.mask).flatten(0, 1))
        return self.out(torch.cat(mixed))

    def step(self, states: Tensor, past: Tensor | None) -> tuple[Tensor, Tensor]:
        """One more token per row, `[H, d]`, after those whose keys and values are `past` `[H, t, 2d]`."""
        width = states.shape[-1]
        query, new = self.projection(states)[:, None].split([width, 2 * width], dim=-1)
        seen = new if past is None else torch.cat([past, new], dim=1)
        key, value = seen.chunk(2, dim=-1)
        return self.out(attend(query, key, value, self.heads, None)[:, 0]), seen


class CrossAttention(nn.Module):
    """Attention of canvas tokens to their table."""

    def __init__(self, config: PolicyConfig) -> None:
        super().__init__()
        self.heads = config.heads
        self.query = nn.Linear(config.d_model, config.d_model)
        self.key_value = nn.Linear(config.d_model, 2 * config.d_model)
        self.out = nn.Linear(config.d_model, config.d_model)

    def forward(
        self, states: Tensor, blocks: Sequence[Block], key_value: Tensor, contexts: Sequence[Context]
    ) -> Tensor:
        """`key_value` are the projected tables, `[table places, 2d]`."""
        queries = self.query(states).split([block.size for block in blocks])
        tables_of = look_up(key_value, [context.places for context in contexts])
        mixed: list[Tensor] = []
        for block, query, context, own in zip(blocks, queries, contexts, tables_of, strict=True):
            key, value = own.chunk(2, dim=-1)  # [R, S, d] each
            query = query.view(block.rows, block.width, -1)
            mixed.append(attend(query, key, value, self.heads, context.mask).flatten(0, 1))
        return self.out(torch.cat(mixed))

    def step(self, states: Tensor, key_value: Tensor, mask: Tensor | None) -> Tensor:
        """One token per row, `[H, d]`, over the projected tables of the rows, `[H, S, 2d]`."""
        key, value = key_value.chunk(2, dim=-1)
        query = self.query(states)[:, None]
        return self.out(attend(query, key, value, self.heads, mask)[:, 0])


class FeedForward(nn.Module):
    """Two projections with a GELU between."""

    def __init__(self, config: PolicyConfig) -> None:
        super().__init__()
        self.expand = nn.Linear(config.d_model, config.ffn)
        self.contract = nn.Linear(config.ffn, config.d_model)

    def forward(self, states: Tensor) -> Tensor:
        return self.contract(functional.gelu(self.expand(states)))


class Dropout(nn.Module):
    """Dropout by random bytes, rounded to a multiple of 1/256: on a CPU five times as fast as torch's own."""

    def __init__(self, p: float) -> None:
        super().__init__()
        self.dropped = min(round(256 * p), 255)

    def forward(self, states: Tensor) -> Tensor:
        if not self.training or not self.dropped:
            return states
        size = states.numel()
        drawn = torch.empty(-(-size // 8), dtype=torch.int64, device=states.device)
        drawn.random_(-(2**63), None)  # all 64 bits
        kept = drawn.view(torch.uint8)[:size].view(states.shape) >= self.dropped
        return states * (kept.float() * (256 / (256 - self.dropped)))


class Residual(nn.Module):
    """The norm and dropout around a sublayer: before it (`pre_norm`) or, as in BART, after the sum."""

    def __init__(self, config: PolicyConfig) -> None:
        super().__init__()
        self.pre_norm = config.pre_norm
        self.norm = nn.LayerNorm(config.d_model)
        self.dropout = Dropout(config.dropout)

    def before(self, states: Tensor) -> Tensor:
        """What the sublayer reads."""
        return self.norm(states) if self.pre_norm else states

    def after(self, states: Tensor, change: Tensor) -> Tensor:
        """What the next sublayer gets."""
        total = states + self.dropout(change)
        return total if self.pre_norm else self.norm(total)


class EncoderLayer(nn.Module):
    """Self-attention and feed-forward."""

    def __init__(self, config: PolicyConfig) -> None:
        super().__init__()
        self.attention = SelfAttention(config)
        self.attention_residual = Residual(config)
        self.feed_forward = FeedForward(config)
        self.feed_forward_residual = Residual(config)

    def forward(self, states: Tensor, blocks: Sequence[Block]) -> Tensor:
        around = self.attention_residual
        states = around.after(states, self.attention(around.before(states), blocks))
        around = self.feed_forward_residual
        return around.after(states, self.feed_forward(around.before(states)))


class DecoderLayer(nn.Module):
    """Self-attention (causal if the blocks' masks are), attention to the table, feed-forward."""

    def __init__(self, config: PolicyConfig) -> None:
        super().__init__()
        self.attention = SelfAttention(config)
        self.attention_residual = Residual(config)
        self.cross = CrossAttention(config)
        self.cross_residual = Residual(config)
        self.feed_forward = FeedForward(config)
        self.feed_forward_residual = Residual(config)

    def forward(
        self, states: Tensor, blocks: Sequence[Block], key_value: Tensor, contexts: Sequence[Context]
    ) -> Tensor:
        around = self.attention_residual
        states = around.after(states, self.attention(around.before(states), blocks))
        around = self.cross_residual
        crossed = self.cross(around.before(states), blocks, key_value, contexts)
        states = around.after(states, crossed)
        around = self.feed_forward_residual
        return around.after(states, self.feed_forward(around.before(states)))

    def step(
        self, states: Tensor, past: Tensor | None, table: Tensor, table_mask: Tensor | None
    ) -> tuple[Tensor, Tensor]:
        """One more token per row; also what the next step takes as `past`."""
        around = self.attention_residual
        mixed, seen = self.attention.step(around.before(states), past)
        states = around.after(states, mixed)
        around = self.cross_residual
        states = around.after(states, self.cross.step(around.before(states), table, table_mask))
        around = self.feed_forward_residual
        return around.after(states, self.feed_forward(around.before(states))), seen


class Embeddings(nn.Module):
    """Adds learned positions and a feature (copied flag or age) to token embeddings; norm as in BART."""

    def __init__(self, config: PolicyConfig, features: int) -> None:
        super().__init__()
        self.positions = nn.Embedding(config.max_positions, config.d_model)
        self.features = nn.Embedding(features, config.d_model)
        self.norm = nn.LayerNorm(config.d_model)
        self.dropout = Dropout(config.dropout)

    def forward(self, tokens: Tensor, read: Sequences) -> Tensor:
        total = tokens + self.positions(read.positions) + self.features(read.features)
        return self.dropout(self.norm(total))  # [N, d]


def _through(layer: nn.Module, recompute: bool, *inputs: object) -> Tensor:
    """What a layer makes of its inputs; to `recompute`, only these are kept for the backward pass."""
    if not (recompute and torch.is_grad_enabled()):
        return layer(*inputs)
    found = checkpoint(layer, *inputs, use_reentrant=False)  # draws the same dropout again
    return cast("Tensor", found)


class Encoder(nn.Module):
    """Reads tables (feature: not yet copied, copied) and neighbors (a feature of their own)."""

    def __init__(self, config: PolicyConfig) -> None:
        super().__init__()
        self.embeddings = Embeddings(config, features=3)
        self.layers = nn.ModuleList(EncoderLayer(config) for _ in range(config.encoder_layers))
        self.norm = nn.LayerNorm(config.d_model) if config.pre_norm else nn.Identity()
        self.recompute = False

    def forward(self, tokens: Tensor, read: Sequences) -> Tensor:
        states = self.embeddings(tokens, read)
        for layer in self.layers:
            states = _through(layer, self.recompute, states, read.blocks)
        return self.norm(states)


class Decoder(nn.Module):
    """Reads canvases (FULL's feature is their tokens' age) and attends to their tables."""

    def __init__(self, config: PolicyConfig, features: int) -> None:
        super().__init__()
        self.embeddings = Embeddings(config, features)
        self.layers = nn.ModuleList(DecoderLayer(config) for _ in range(config.decoder_layers))
        self.norm = nn.LayerNorm(config.d_model) if config.pre_norm else nn.Identity()
        self.recompute = False

    def forward(
        self,
        tokens: Tensor,
        read: Sequences,
        tables: Tensor | Sequence[Tensor],
        contexts: Sequence[Context],
    ) -> Tensor:
        """`tables` are the states of tables, or what `project_tables` makes of them."""
        projected = self.project_tables(tables) if isinstance(tables, Tensor) else tables
        states = self.embeddings(tokens, read)
        for layer, key_value in zip(self.layers, projected, strict=True):
            states = _through(layer, self.recompute, states, read.blocks, key_value, contexts)
        return self.norm(states)

    def project_tables(self, tables: Tensor) -> list[Tensor]:
        """The keys and values of each layer, of the states of tables `[…, d]`."""
        return [layer.cross.key_value(tables) for layer in self._layers()]

    def step(
        self,
        tokens: Tensor,
        position: int,
        past: Sequence[Tensor] | None,
        tables: Sequence[Tensor],
        table_mask: Tensor | None,
    ) -> tuple[Tensor, list[Tensor]]:
        """One more token per row, `[H, d]`; also what the next step takes as `past`."""
        last = self.embeddings.positions.num_embeddings - 1
        added = self.embeddings.positions.weight[min(position, last)] + self.embeddings.features.weight[0]
        states = self.embeddings.norm(tokens + added)
        seen: list[Tensor] = []
        for number, layer in enumerate(self._layers()):
            before = None if past is None else past[number]
            states, now = layer.step(states, before, tables[number], table_mask)
            seen.append(now)
        return self.norm(states), seen

    def _layers(self) -> Iterable[DecoderLayer]:
        return cast("Iterable[DecoderLayer]", self.layers)
