"""What all policies are made of: one embedding, an encoder, a decoder."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional
from transformers import PreTrainedModel

from textsplice.policy.config import PolicyConfig
from textsplice.policy.layout import Block, lay_out
from textsplice.policy.transformer import NEIGHBOR, Context, Decoder, Encoder, Sequences, sequences
from textsplice.ragged import Ragged

# bfloat16 kernels are compiled for each shape they meet, so flat tensors get sizes that come again.
ROUND = 256


def round_up(read: Sequences) -> Sequences:
    """The same sequences and then as many of one padding token as make the size a multiple of `ROUND`."""
    size = len(read.ids)
    more = (0, -size % ROUND or ROUND)
    return Sequences(
        functional.pad(read.ids, more),
        functional.pad(read.positions, more),
        functional.pad(read.features, more),
        [*read.blocks, Block(more[1], 1, None)],
    )


class PolicyModel(PreTrainedModel):
    """The transformer without the heads that choose."""

    config_class = PolicyConfig
    config: PolicyConfig

    def __init__(self, config: PolicyConfig, decoder_features: int) -> None:
        super().__init__(config)
        self.tokens = nn.Embedding(config.embedded, config.d_model)
        self.encoder = Encoder(config)
        self.decoder = Decoder(config, decoder_features)
        # Whether the layers multiply in bfloat16; sums, norms, attention and the choices stay in float32.
        self.mixed_precision = False

    def word_states(self) -> Tensor:
        """The generable words as the encoder's layers would see them, `[V, d]`."""
        words = self.config.embed(np.asarray(self.config.words, dtype=np.int64))
        return self.encoder.embeddings.norm(self.tokens(torch.from_numpy(words)))

    def encode(self, read: Sequences) -> Tensor:
        """The states of tables and neighbors, `[N, d]`."""
        if not self.mixed_precision:
            return self.encoder(self.tokens(read.ids), read)
        padded = round_up(read)
        with torch.autocast("cpu", torch.bfloat16):
            states = self.encoder(self.tokens(padded.ids), padded)
        return states.split([len(read.ids), len(padded.ids) - len(read.ids)])[0]

    def decode(self, read: Sequences, tables: Tensor, contexts: Sequence[Context]) -> Tensor:
        """The states of canvases, which attend to their own table each, `[N, d]`."""
        if not self.mixed_precision:
            return self.decoder(self.tokens(read.ids), read, tables, contexts)
        padded = round_up(read)
        nothing = len(padded.ids) - len(read.ids)
        contexts = [*contexts, Context(torch.zeros(nothing, 1, dtype=torch.long))]
        tables = functional.pad(tables, (0, 0, 0, -len(tables) % ROUND))
        with torch.autocast("cpu", torch.bfloat16):
            states = self.decoder(self.tokens(padded.ids), padded, tables, contexts)
        return states.split([len(read.ids), nothing])[0]

    @torch.no_grad()
    def encode_texts(self, texts: Sequence[NDArray[np.int32]]) -> list[Tensor]:
        """Each neighbor's encoding `[L, d]`; depends on nothing else, so it can be cached."""
        if not texts:
            return []
        packed = Ragged.from_rows(texts)
        layout = lay_out(packed.lengths)
        features = np.full(layout.size, NEIGHBOR, dtype=np.int64)
        flat = self.encode(sequences(self.config, layout, layout.spread(packed.values), features))
        starts = zip(layout.start.tolist(), packed.lengths.tolist(), strict=True)
        return [flat[start : start + length] for start, length in starts]

    def encode_neighbors(
        self,
        cases: Sequence[Sequence[NDArray[np.int32]]],
        encodings: Sequence[Sequence[Tensor]] | None,
    ) -> list[Tensor]:
        """The encodings of each case's neighbors one after another, `[tokens, d]`."""
        if encodings is None:
            flat = iter(self.encode_texts([text for texts in cases for text in texts]))
            encodings = [[next(flat) for _ in texts] for texts in cases]
        empty = torch.zeros(0, self.config.d_model)
        return [torch.cat([empty, *own]) for own in encodings]
