"""The encoder and the decoder on a CPU, without gradients: the layers of `transformer` with less around them.

Texts stand one after another without padding, some hundred tokens at a time go through all layers, so that
they stay in the processor's cache, and what stands between two products is compiled (`kernels`).

Products are oneDNN's where the processor has vectors of 512 bits: MKL, which torch takes for float32, was
half as fast on one of AMD's (docs/speed.md). oneDNN compiles a product for each number of rows, so there are
few of them; the rows that fill up the last are never read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import NamedTuple, cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from textsplice.policy import kernels
from textsplice.policy.transformer import (
    CrossAttention,
    Decoder,
    DecoderLayer,
    Encoder,
    EncoderLayer,
    Residual,
    SelfAttention,
)

ROWS = 1024  # of a product, unless one text is longer
STEP = 128  # their number is a multiple of it

F32 = NDArray[np.float32]
I64 = NDArray[np.int64]


class Texts(NamedTuple):
    """What a stack reads: rows of the embedding table and features of texts one after another."""

    ids: NDArray[np.integer]
    features: I64
    lengths: I64


class Known(NamedTuple):
    """The tables that texts attend to: keys and values in each layer, and the rows of each text's table."""

    layers: Sequence[Tensor]  # [tokens of tables, 2d] each
    starts: I64
    lengths: I64


@torch.no_grad()
def read_texts(stack: Encoder | Decoder, tokens: Tensor, texts: Texts, tables: Known | None = None) -> Tensor:
    """The states of texts one after another, `[N, d]`; those of a decoder attend to their tables."""
    out = torch.empty(len(texts.ids), tokens.shape[1])
    row = 0
    for part in _parts(texts.lengths):
        lengths = texts.lengths[part]
        rows = slice(row, row + int(lengths.sum()))
        row = rows.stop
        own = None if tables is None else Known(tables.layers, tables.starts[part], tables.lengths[part])
        _Part(stack, tokens, Texts(texts.ids[rows], texts.features[rows], lengths), own).read(out[rows])
    return out


def multiply(states: Tensor, by: nn.Linear, *, gelu: bool = False) -> Tensor:
    """What a projection makes of states, and perhaps GELU of that."""
    fast = _onednn()
    if fast is not None:
        return fast(states, by.weight, by.bias, "gelu" if gelu else "none", [], "none" if gelu else "")
    projected = functional.linear(states, by.weight, by.bias)
    return functional.gelu(projected) if gelu else projected


@cache
def _onednn() -> Callable[..., Tensor] | None:
    """The product of oneDNN that torch's own compiler uses, where it is worth it."""
    wide = torch.backends.cpu.get_cpu_capability().startswith("AVX512")
    return getattr(torch.ops.mkldnn, "_linear_pointwise", None) if wide else None


def _parts(lengths: I64) -> Iterator[slice]:
    """Ranges of texts that have at most `ROWS` tokens together, or are one text."""
    first = total = 0
    for text, length in enumerate(lengths.tolist()):
        if total and total + length > ROWS:
            yield slice(first, text)
            first, total = text, 0
        total += length
    if total:
        yield slice(first, len(lengths))


class _Part:
    """Some texts on their way through the layers of a stack."""

    def __init__(self, stack: Encoder | Decoder, tokens: Tensor, texts: Texts, tables: Known | None) -> None:
        self.stack = stack
        self.tables = tables
        self.rows, self.lengths = len(texts.ids), texts.lengths
        self.starts = np.cumsum(texts.lengths) - texts.lengths
        # What stands beyond the tokens is multiplied too, and must be numbers.
        shape = (-(-self.rows // STEP) * STEP, tokens.shape[1])
        self.states, self.normed, self.mixed = (torch.zeros(shape) for _ in range(3))
        embeddings = stack.embeddings
        positions, features = _of(embeddings.positions.weight), _of(embeddings.features.weight)
        kernels.embed(*texts, _of(tokens), positions, features, _of(self.states))
        self._normalize(embeddings.norm, self.states)

    def read(self, out: Tensor) -> None:
        """Writes the states after the last layer, `[N, d]`."""
        for number, layer in enumerate(cast("list[EncoderLayer | DecoderLayer]", list(self.stack.layers))):
            around = layer.attention_residual
            projected = multiply(self._before(around), layer.attention.projection)
            own = (projected, self.starts, self.lengths)
            self._after(around, self._attend(projected, *own, layer.attention))
            if isinstance(layer, DecoderLayer):
                assert self.tables is not None
                around, cross = layer.cross_residual, layer.cross
                layers, starts, lengths = self.tables
                asked = multiply(self._before(around), cross.query)
                self._after(around, self._attend(asked, layers[number], starts, lengths, cross))
            around, forward = layer.feed_forward_residual, layer.feed_forward
            expanded = multiply(self._before(around), forward.expand, gelu=True)
            self._after(around, multiply(expanded, forward.contract))
        if isinstance(self.stack.norm, nn.LayerNorm):
            self._normalize(self.stack.norm, out)
        else:
            out.copy_(self.states[: self.rows])

    def _attend(
        self,
        query: Tensor,
        read: Tensor,
        starts: I64,
        lengths: I64,
        attention: SelfAttention | CrossAttention,
    ) -> Tensor:
        """What attention makes of queries and of the rows that each text reads.

        A row of queries may have more behind them, and a row of keys and values more before.
        """
        asked, known = _of(query), _of(read)
        own = (asked.reshape(-1), asked.shape[1], self.starts, self.lengths)
        other = (known.reshape(-1), known.shape[1], starts, lengths)
        kernels.mix(*own, *other, attention.heads, _of(self.mixed))
        return multiply(self.mixed, attention.out)

    def _before(self, around: Residual) -> Tensor:
        """What a sublayer reads."""
        if not around.pre_norm:
            return self.states
        self._normalize(around.norm, self.normed)
        return self.normed

    def _after(self, around: Residual, change: Tensor) -> None:
        """Adds what a sublayer made."""
        kernels.add(_of(self.states), _of(change), self.rows)
        if not around.pre_norm:
            self._normalize(around.norm, self.states)

    def _normalize(self, norm: nn.LayerNorm, out: Tensor) -> None:
        kernels.normalize(_of(self.states), _of(norm.weight), _of(norm.bias), norm.eps, self.rows, _of(out))


def _of(tensor: Tensor) -> F32:
    return tensor.detach().numpy()
