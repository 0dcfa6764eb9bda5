"""FULL's model as plain equations: one canvas at a time, no batches. Start reading here.

A policy turns an empty canvas into a text by splices. A splice replaces `canvas[start:stop]` by
`source[begin:end]`, where a source is the table, a neighbor or a word of the vocabulary. It is chosen in two
decisions:

    first    P(start, source, begin)  ∝ exp score(token left of the gap, first token of the span)
    second   P(stop, end | the first) ∝ exp score(token right of the gap, last token of the span)

`Stop` competes with all first decisions and ends the text. Scores are products of states: an encoder reads
the table and each neighbor, a decoder reads the canvas and attends to the table (`Reference.encode`,
`.decode`). Training maximizes the probability of the oracle's derivation (`Reference.loss`); where a span
appears in several places, the first decision counts them all.

`Reference` uses the weights of a `FullModel` and none of its code for attention, batches or scores. The tests
compare the two, and `benchmarks/training.py` measures what batches gain.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from textsplice.oracle.numbering import TABLE, Numbering
from textsplice.oracle.splice import Splice
from textsplice.policy.cases import Case
from textsplice.policy.full.model import FullModel
from textsplice.policy.transformer import (
    NEIGHBOR,
    CrossAttention,
    DecoderLayer,
    Embeddings,
    EncoderLayer,
    SelfAttention,
)
from textsplice.text.vocabulary import MASK_ID, PAD_ID, UNKNOWN_ID


class CanvasToken(NamedTuple):
    """A token of the canvas, its source and position there, and the number of the splice that placed it."""

    id: int
    source: int
    position: int
    step: int


class DerivationLoss(NamedTuple):
    """Sums over the actions of one derivation."""

    first: Tensor
    second: Tensor
    actions: int


class Reference:
    """The equations of a policy, with its weights."""

    def __init__(self, policy: FullModel) -> None:
        self.policy = policy
        self.config = policy.shape.config
        self.words = list(policy.shape.words)

    def encode(self, ids: Sequence[int], features: Sequence[int]) -> Tensor:
        """The states of one text, `[L, d]`."""
        encoder = self.policy.encoder
        states = self._embed(encoder.embeddings, ids, features)
        for layer in encoder.layers:
            assert isinstance(layer, EncoderLayer)
            around = layer.attention_residual
            states = around.after(states, self._self_attend(layer.attention, around.before(states)))
            around = layer.feed_forward_residual
            states = around.after(states, layer.feed_forward(around.before(states)))
        return encoder.norm(states)

    def decode(self, ids: Sequence[int], ages: Sequence[int], table: Tensor) -> Tensor:
        """The states of one canvas, `[M + 2, d]`: it is padded with one token on either side."""
        decoder = self.policy.decoder
        padded = [PAD_ID, *ids, PAD_ID]
        states = self._embed(decoder.embeddings, padded, [0, *ages, 0])
        for layer in decoder.layers:
            assert isinstance(layer, DecoderLayer)
            around = layer.attention_residual
            states = around.after(states, self._self_attend(layer.attention, around.before(states)))
            around = layer.cross_residual
            crossed = self._cross_attend(layer.cross, around.before(states), table)
            states = around.after(states, crossed)
            around = layer.feed_forward_residual
            states = around.after(states, layer.feed_forward(around.before(states)))
        return decoder.norm(states)

    def encode_neighbors(self, case: Case) -> list[Tensor]:
        """The states of each neighbor."""
        return [self.encode(text.tolist(), [NEIGHBOR] * len(text)) for text in case.neighbors]

    def word_states(self) -> Tensor:
        """The generable words, `[V, d]`."""
        return self.policy.encoder.embeddings.norm(self.policy.tokens(self._ids(self.words)))

    def first_scores(
        self, canvas: Tensor, case: Case, table: Tensor, neighbors: Sequence[Tensor]
    ) -> tuple[list[Tensor], Tensor]:
        """Scores `[gaps, tokens]` of the table, of each neighbor, of the words; and Stop's score."""
        head = self.policy.first
        gaps = head.canvas(canvas[:-1])
        scores = [gaps @ head.table(table).T]
        scores += [gaps @ head.neighbor(neighbor).T for neighbor in neighbors]
        scores.append(gaps @ head.word(self.word_states()).T)
        for text, text_scores in zip([case.table, *case.neighbors], scores, strict=False):
            for position, token in enumerate(text):
                if token == MASK_ID:
                    text_scores[:, position] = -math.inf
        for position, segment in enumerate(case.segments):
            if segment < 0:
                scores[0][:, position] = -math.inf
        return scores, canvas[0] @ head.stop

    def second_scores(
        self,
        canvas: Tensor,
        case: Case,
        table: Tensor,
        neighbors: Sequence[Tensor],
        splice: Splice,
    ) -> Tensor:
        """Scores `[stop, end - begin - 1]` after the first decision of a splice, -inf if not allowed."""
        head = self.policy.second
        start, _, source, begin, _ = splice
        numbering = Numbering(len(neighbors))
        if source == TABLE:
            states, project = table, head.table
            tokens, limit = case.table, begin
            while limit < len(tokens) and case.segments[limit] == case.segments[begin]:
                limit += 1
        elif numbering.is_neighbor(source):
            rank = numbering.rank(source)
            states, project = neighbors[rank], head.neighbor
            tokens, limit = case.neighbors[rank], len(case.neighbors[rank])
        else:
            word = numbering.word_id(source)
            number = self.words.index(word)
            states, project = self.word_states()[number : number + 1], head.word
            tokens, limit = np.array([word], dtype=np.int32), 1
        query = canvas[1:]  # stop = 0 is followed by the canvas's first token
        keys = project(states[begin:limit]) @ head.canvas.weight
        if head.conditioned:
            to_canvas, to_keys = head.condition(canvas[start], states[begin])
            query, keys = query + to_canvas, keys + to_keys
        scores = query @ keys.T
        scores[:start] = -math.inf
        for position in range(begin, limit):
            if tokens[position] == MASK_ID:
                scores[:, position - begin] = -math.inf
        return scores

    def loss(self, case: Case, splices: Sequence[Splice]) -> DerivationLoss:
        """The losses of one derivation: the sum over its canvases, each on its own."""
        neighbors = self.encode_neighbors(case)
        canvas: list[CanvasToken] = []
        first = second = torch.zeros(())
        actions = 0
        for step, splice in enumerate([*splices, None]):
            if splice is None or self._can_express(case, splice):
                losses = self._action_loss(case, neighbors, canvas, step, splice)
                first, second, actions = first + losses[0], second + losses[1], actions + 1
            if splice is not None:
                canvas[splice.start : splice.stop] = [
                    CanvasToken(token, splice.neighbor, splice.begin + i, step)
                    for i, token in enumerate(self._span(case, splice))
                ]
        return DerivationLoss(first, second, actions)

    def _action_loss(
        self,
        case: Case,
        neighbors: Sequence[Tensor],
        canvas: Sequence[CanvasToken],
        step: int,
        splice: Splice | None,
    ) -> tuple[Tensor, Tensor]:
        """`-log P` of the first and of the second decision at one canvas; no splice is Stop."""
        copied = {token.position for token in canvas if token.source == TABLE}
        flags = [int(position in copied) for position in range(len(case.table))]
        table = self.encode(case.table.tolist(), flags)
        ages = [min(step - token.step, self.config.max_age) for token in canvas]
        states = self.decode([token.id for token in canvas], ages, table)
        scores, stop = self.first_scores(states, case, table, neighbors)
        total = torch.cat([*(s.flatten() for s in scores), stop[None]]).logsumexp(0)
        if splice is None:
            return total - stop, torch.zeros(())
        right = [scores[text][splice.start, position] for text, position in self._equal_spans(case, splice)]
        pairs = self.second_scores(states, case, table, neighbors, splice)
        pair = pairs[splice.stop, splice.end - splice.begin - 1]
        return total - torch.stack(right).logsumexp(0), pairs.flatten().logsumexp(0) - pair

    def _can_express(self, case: Case, splice: Splice) -> bool:
        numbering = Numbering(len(case.neighbors))
        return not numbering.is_word(splice.neighbor) or numbering.word_id(splice.neighbor) in self.words

    def _span(self, case: Case, splice: Splice) -> list[int]:
        numbering = Numbering(len(case.neighbors))
        if numbering.is_word(splice.neighbor):
            return [numbering.word_id(splice.neighbor)]
        return [case.table, *case.neighbors][splice.neighbor][splice.begin : splice.end].tolist()

    def _equal_spans(self, case: Case, splice: Splice) -> list[tuple[int, int]]:
        """All (text, position) keys at which the splice's span begins; the last text is the words."""
        span = self._span(case, splice)
        found: list[tuple[int, int]] = []
        for number, text in enumerate([case.table, *case.neighbors]):
            for position in range(len(text) - len(span) + 1):
                if text[position : position + len(span)].tolist() != span or span[0] == MASK_ID:
                    continue
                inside = case.segments[position : position + len(span)]
                if number == TABLE and (inside[0] < 0 or len(set(inside.tolist())) > 1):
                    continue
                found.append((number, position))
        if len(span) == 1 and span[0] in self.words:
            found.append((Numbering(len(case.neighbors)).first_word, self.words.index(span[0])))
        return found

    def _ids(self, ids: Sequence[int]) -> Tensor:
        return torch.tensor([i if i < self.policy.shape.embedded else UNKNOWN_ID for i in ids])

    def _embed(self, embeddings: Embeddings, ids: Sequence[int], features: Sequence[int]) -> Tensor:
        positions = [min(i, self.config.max_positions - 1) for i in range(len(ids))]
        total = self.policy.tokens(self._ids(ids))
        total = total + functional.embedding(torch.tensor(positions), embeddings.positions.weight)
        total = total + functional.embedding(torch.tensor(features), embeddings.features.weight)
        return embeddings.norm(total)

    def _self_attend(self, attention: SelfAttention, states: Tensor) -> Tensor:
        query, key, value = attention.projection(states).chunk(3, dim=-1)
        return attention.out(self._attend(query, key, value))

    def _cross_attend(self, attention: CrossAttention, states: Tensor, table: Tensor) -> Tensor:
        key, value = attention.key_value(table).chunk(2, dim=-1)
        return attention.out(self._attend(attention.query(states), key, value))

    def _attend(self, query: Tensor, key: Tensor, value: Tensor) -> Tensor:
        width = query.shape[-1] // self.config.heads
        mixed: list[Tensor] = []
        for head in range(self.config.heads):
            at = slice(head * width, (head + 1) * width)
            scores = query[:, at] @ key[:, at].T / math.sqrt(width)
            mixed.append(scores.softmax(dim=-1) @ value[:, at])
        return torch.cat(mixed, dim=-1)
