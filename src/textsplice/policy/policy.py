"""What all policies are made of: one embedding, an encoder, a decoder; and what each must be able to do."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from textsplice.config import SearchConfig
from textsplice.errors import InputError
from textsplice.policy.cases import Case
from textsplice.policy.device import to_device
from textsplice.policy.examples import TrainingSplit
from textsplice.policy.kind import PolicyKind, policy_kind
from textsplice.policy.output import PolicyOutput
from textsplice.policy.packing import Block, Packing, pack, padding_mask
from textsplice.policy.problem import Outcome, Problem
from textsplice.policy.reading import Known, Texts, read_texts
from textsplice.policy.shape import PolicyShape
from textsplice.policy.transformer import NEIGHBOR, Context, Decoder, Encoder, Sequences, sequences
from textsplice.ragged import Ragged

# bfloat16 kernels are compiled for each shape they meet, so flat tensors get sizes that recur.
ROUND = 256
# The encodings of the neighbors of each case, as `Policy.encode_texts` computes them.
Encoded = Sequence[Sequence[Tensor]]


class Policy(nn.Module):
    """A policy: `collate` and `forward` train it, `propose` generates with it.

    A new policy is a subclass of this or of another policy, and a `PolicyKind` in `extensions.POLICIES`.
    """

    def __init__(self, shape: PolicyShape, decoder_features: int = 1) -> None:
        super().__init__()
        self.shape = shape
        config = shape.config
        self.tokens = nn.Embedding(shape.embedded, config.d_model)
        self.encoder = Encoder(config)
        self.decoder = Decoder(config, decoder_features)
        embedded = torch.from_numpy(shape.embed(shape.word_ids()))
        self.register_buffer("embedded_words", embedded, persistent=False)
        # Whether the layers multiply in bfloat16; sums, norms, attention and the choices stay in float32.
        self.mixed_precision = False

    def recompute_layers(self, recompute: bool) -> None:
        """Whether training keeps only what enters each layer, and computes the rest again for gradients."""
        self.encoder.recompute = self.decoder.recompute = recompute

    @property
    def kind(self) -> PolicyKind:
        """What the policy says of itself."""
        return policy_kind(self.shape.config.kind)

    @property
    def device(self) -> torch.device:
        """Where its weights are."""
        return self.tokens.weight.device

    @property
    def compiled(self) -> bool:
        """Whether compiled functions of the CPU may read and choose: where nothing is trained or rounded."""
        return self.device.type == "cpu" and not (self.training or self.mixed_precision)

    def collate(self, split: TrainingSplit, store_tokens: Ragged, rows: NDArray[np.int64]) -> Any:
        """The batch of a training step over the examples `rows` of a split, on the CPU.

        A batch is a dataclass that `to_device` can move. Other threads may call this while the policy trains.
        """
        raise NotImplementedError

    def forward(self, batch: Any) -> PolicyOutput:
        """The loss of a batch on the policy's device."""
        raise NotImplementedError

    def propose(
        self, problems: Sequence[Problem], search: SearchConfig, encodings: Encoded | None = None
    ) -> list[Outcome]:
        """Finished texts of each problem with their derivations.

        What is found for one problem must not depend on the others. `encodings[p][n]` is the encoding of
        neighbor n of problem p, if it is known.
        """
        raise NotImplementedError

    def log_likelihoods(self, case: Case, texts: Ragged, encodings: Encoded | None = None) -> Tensor:
        """The log-probability of each text, from what follows BEGIN to END, on the CPU."""
        del case, texts, encodings
        raise InputError(
            f"a run of kind {self.kind.name} has no probability of a text, only of its derivations.",
            remedy="Use a run of kind lrt or copy.",
        )

    # What subclasses are built from

    def here(self, array: NDArray[Any]) -> Tensor:
        """An array as a tensor on the policy's device."""
        return torch.from_numpy(array).to(self.device)

    def word_states(self) -> Tensor:
        """The generable words as the encoder's layers would see them, `[V, d]`."""
        return self.encoder.embeddings.norm(self.tokens(self.embedded_words))

    def encode(self, read: Sequences) -> Tensor:
        """The states of tables and neighbors, `[N, d]`."""
        if not self.mixed_precision:
            return self.encoder(self.tokens(read.ids), read)
        padded = round_up(read)
        with torch.autocast(self.device.type, torch.bfloat16):
            states = self.encoder(self.tokens(padded.ids), padded)
        return states.split([len(read.ids), len(padded.ids) - len(read.ids)])[0]

    def decode(
        self, read: Sequences, tables: Tensor | Sequence[Tensor], contexts: Sequence[Context]
    ) -> Tensor:
        """The states of canvases, each of which attends to its own table, `[N, d]`.

        `tables` are the states of tables, or their keys and values in each layer.
        """
        if not self.mixed_precision:
            return self.decoder(self.tokens(read.ids), read, tables, contexts)
        padded = round_up(read)
        nothing = len(padded.ids) - len(read.ids)
        first = torch.zeros(nothing, 1, dtype=torch.long, device=self.device)
        if isinstance(tables, Tensor):
            tables = functional.pad(tables, (0, 0, 0, -len(tables) % ROUND))
        with torch.autocast(self.device.type, torch.bfloat16):
            states = self.decoder(self.tokens(padded.ids), padded, tables, [*contexts, Context(first)])
        return states.split([len(read.ids), nothing])[0]

    @torch.no_grad()
    def read_texts(self, texts: Texts) -> Tensor:
        """The encoder's states of texts one after another, `[N, d]`; ids are of the whole vocabulary."""
        if self.compiled:
            return read_texts(self.encoder, self.tokens.weight, self._embedded(texts))
        packing = pack(texts.lengths)
        return self.encode(self._packed(texts, packing))[self.here(packing.places())]

    @torch.no_grad()
    def read_canvases(self, canvases: Texts, tables: Known) -> Tensor:
        """The decoder's states of canvases one after another, `[N, d]`."""
        if self.compiled:
            return read_texts(self.decoder, self.tokens.weight, self._embedded(canvases), tables)
        packing = pack(canvases.lengths)
        contexts: list[Context] = []
        row = 0
        for block in packing.blocks:
            rows = packing.order[row : row + block.rows]
            row += block.rows
            lengths = tables.lengths[rows]
            width = int(lengths.max())
            inside = np.minimum(np.arange(width), lengths[:, None] - 1)
            places = torch.from_numpy(tables.starts[rows][:, None] + inside)
            contexts.append(Context(places, padding_mask(lengths, width)))
        read = self._packed(canvases, packing)
        states = self.decode(read, tables.layers, to_device(contexts, self.device))
        return states[self.here(packing.places())]

    def _embedded(self, texts: Texts) -> Texts:
        return texts._replace(ids=self.shape.embed(texts.ids))

    def _packed(self, texts: Texts, packing: Packing) -> Sequences:
        read = sequences(self.shape, packing, packing.spread(texts.ids), packing.spread(texts.features))
        return to_device(read, self.device)

    @torch.no_grad()
    def encode_texts(self, texts: Sequence[NDArray[np.int32]]) -> list[Tensor]:
        """The encoding of each neighbor, `[L, d]`; it depends on nothing else, so it can be cached."""
        if not texts:
            return []
        tokens = Ragged.from_rows(texts)
        features = np.full(len(tokens.values), NEIGHBOR, dtype=np.int64)
        flat = self.read_texts(Texts(tokens.values, features, tokens.lengths))
        return list(flat.split(tokens.lengths.tolist()))

    def encode_neighbors(self, cases: Sequence[Case], encodings: Encoded | None) -> list[Tensor]:
        """The encodings of each case's neighbors one after another, `[tokens, d]`."""
        if encodings is None:
            flat = iter(self.encode_texts([text for case in cases for text in case.neighbors]))
            encodings = [[next(flat) for _ in case.neighbors] for case in cases]
        empty = torch.zeros(0, self.shape.config.d_model, device=self.device)
        return [torch.cat([empty, *own]) for own in encodings]


def round_up(read: Sequences) -> Sequences:
    """The same sequences and enough sequences of one padding token to reach a multiple of `ROUND`."""
    size = len(read.ids)
    more = (0, -size % ROUND or ROUND)
    return Sequences(
        functional.pad(read.ids, more),
        functional.pad(read.positions, more),
        functional.pad(read.features, more),
        [*read.blocks, Block(more[1], 1, None)],
    )
