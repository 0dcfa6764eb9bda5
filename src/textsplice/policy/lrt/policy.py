"""LRT: one token at a time, left to right, from the table, the neighbors or the vocabulary.

Shapes in comments: T canvas places of a case, K keys of a case's texts, V generable words,
H hypotheses, S tokens of a table, d model width.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from textsplice.policy.cases import Case, Keys
from textsplice.policy.config import PolicyConfig
from textsplice.policy.heads import TokenKeys
from textsplice.policy.layout import lay_out, padding_mask
from textsplice.policy.model import PolicyModel
from textsplice.policy.output import PolicyOutput
from textsplice.policy.token_batch import TokenBatch, TokenCase
from textsplice.policy.transformer import Context, causal, look_up, sequences
from textsplice.ragged import Ragged

UNSAYABLE = -12.0  # the log-probability of a token that no key stands for, where texts are compared
FORBIDDEN = -1e9  # finite, so that a row without a right key has no NaN in its gradient
NEVER = float("-inf")


@dataclass(frozen=True)
class TokenStates:
    """What is computed once a case; `keys[c]` says what the columns mean."""

    cases: list[Case]
    keys: list[Keys]
    projected: list[Tensor]  # a case each, [its columns, d]
    allowed: list[Tensor]  # a case each, [its columns] bool
    encoded: Tensor  # [cases, S, d]: the tables
    tables: list[Tensor]  # a decoder layer each, [cases, S, 2d]: keys and values of the tables
    table_mask: Tensor | None  # [cases, 1, 1, S]


@dataclass(frozen=True)
class Cache:
    """The decoder's keys and values of every token read so far, one row a hypothesis."""

    length: int
    layers: list[Tensor]  # a decoder layer each, [H, length, 2d]

    def select(self, parents: NDArray[np.int64]) -> Cache:
        """The cache of new hypotheses, each of which goes on from one of the old."""
        at = torch.from_numpy(parents)
        return Cache(self.length, [layer.index_select(0, at) for layer in self.layers])


class TokenPolicy(PolicyModel):
    """LRT. The text begins with BEGIN, which is given, and ends with END, which is chosen.

    The canvas only grows at its right end, so the decoder is causal and one pass reads all steps of a
    target. Ages and copied flags would change with every step and are left out.
    """

    def __init__(self, config: PolicyConfig) -> None:
        super().__init__(config, decoder_features=1)
        self.keys = TokenKeys(config)
        self.post_init()

    def forward(self, batch: TokenBatch) -> PolicyOutput:
        """The marginal loss: of each target token, `-log Σ` over the keys that stand for it."""
        encoded = self.encode(batch.encoded)
        sizes = [batch.neighbor_places, len(encoded) - batch.neighbor_places]
        neighbors, tables = encoded.split(sizes)
        canvas = self.decode(batch.canvases, tables, batch.contexts)
        table_keys = self.keys.table(tables)
        neighbor_keys = self.keys.neighbor(neighbors) if batch.neighbor_places else neighbors
        word_keys = self.keys.word(self.word_states())
        losses: list[Tensor] = []
        correct = torch.zeros((), dtype=torch.long)
        for case, query, own_table, own_neighbors in zip(
            batch.cases,
            canvas.split([len(case.word) for case in batch.cases]),
            look_up(table_keys, [case.table_keys for case in batch.cases]),
            look_up(neighbor_keys, [case.neighbor_keys for case in batch.cases]),
            strict=True,
        ):
            keys = torch.cat([own_table, own_neighbors])  # [K, d]
            loss, right = _case_loss(case, query @ keys.T, query @ word_keys.T)
            losses.append(loss)
            correct += right
        total = torch.stack(losses).sum()
        return PolicyOutput(
            loss=total / batch.sequences,
            first_loss=total,
            second_loss=torch.zeros(()),
            actions=batch.canvas_tokens - batch.skipped,
            first_correct=int(correct),
            second_actions=0,
            second_correct=0,
            sequences=batch.sequences,
            canvas_tokens=batch.canvas_tokens,
            skipped=batch.skipped,
        )

    @torch.no_grad()
    def encode_cases(
        self, cases: Sequence[Case], encodings: Sequence[Sequence[Tensor]] | None = None
    ) -> TokenStates:
        """What search needs of each case; `encodings[c][n]` as `encode_texts` gave them, if at hand."""
        neighbors = self.encode_neighbors([case.neighbors for case in cases], encodings)
        lengths = np.array([len(case.table) for case in cases], dtype=np.int64)
        layout = lay_out(lengths)
        ids = layout.spread(np.concatenate([case.table for case in cases]))
        flat = self.encode(sequences(self.config, layout, ids, np.zeros_like(ids)))
        width = int(lengths.max(initial=1))
        inside = np.minimum(np.arange(width), np.maximum(lengths - 1, 0)[:, None])
        tables = flat[torch.from_numpy(layout.start[:, None] + inside)]  # [cases, S, d]
        word_keys = self.keys.word(self.word_states())
        words = np.asarray(self.config.words, dtype=np.int64)
        keys = [Keys(case, words) for case in cases]
        projected = [
            torch.cat(
                [
                    self.keys.table(table[:length]),
                    self.keys.neighbor(own) if len(own) else own,
                    word_keys,
                ]
            )
            for table, length, own in zip(tables, lengths.tolist(), neighbors, strict=True)
        ]
        return TokenStates(
            cases=list(cases),
            keys=keys,
            projected=projected,
            allowed=[torch.from_numpy(own.allowed) for own in keys],
            encoded=tables,
            tables=self.decoder.project_tables(tables),
            table_mask=padding_mask(lengths, width),
        )

    @torch.no_grad()
    def step(
        self,
        states: TokenStates,
        case_of: NDArray[np.int64],
        last: NDArray[np.int32],
        cache: Cache | None,
    ) -> tuple[Tensor, Cache]:
        """Reads each hypothesis's last token (BEGIN at first): `log_probs[h, column]` and the cache.

        All hypotheses of a cache have the same length. Columns as in `Keys`, padded with -inf.
        """
        at = torch.from_numpy(case_of)
        position = 0 if cache is None else cache.length
        state, seen = self.decoder.step(
            self.tokens(torch.from_numpy(self.config.embed(last))),
            position,
            None if cache is None else cache.layers,
            [table[at] for table in states.tables],
            None if states.table_mask is None else states.table_mask[at],
        )
        width = max((len(states.projected[c]) for c in set(case_of.tolist())), default=0)
        log_probs = torch.full((len(case_of), width), NEVER)
        for case in set(case_of.tolist()):
            rows = torch.from_numpy(np.flatnonzero(case_of == case))
            scores = state[rows] @ states.projected[case].T
            scores.masked_fill_(~states.allowed[case], NEVER)
            log_probs[rows, : scores.shape[1]] = scores.log_softmax(dim=1)
        return log_probs, Cache(position + 1, seen)

    @torch.no_grad()
    def log_likelihoods(
        self, case: Case, texts: Ragged, encodings: Sequence[Sequence[Tensor]] | None = None
    ) -> Tensor:
        """Of each text, BEGIN to END, the log-probability of all that follows BEGIN.

        All texts are read at once. A token counts by all keys that stand for it together.
        """
        states = self.encode_cases([case], encodings)
        keys, allowed = states.keys[0], states.allowed[0]
        first = np.zeros(len(texts.values), dtype=np.bool_)
        first[texts.offsets[:-1]] = True
        layout = lay_out(texts.lengths - 1)
        read = sequences(
            self.config,
            layout,
            layout.spread(texts.values[~np.roll(first, -1)]),
            np.zeros(layout.size, dtype=np.int64),
        )
        table = torch.arange(len(case.table))
        contexts = [Context(table.expand(block.rows, -1)) for block in layout.blocks]
        canvas = self.decode(
            read._replace(blocks=[causal(block) for block in layout.blocks]), states.encoded[0], contexts
        )[torch.from_numpy(layout.places())]  # [tokens to say, d]
        scores = (canvas @ states.projected[0].T).masked_fill_(~allowed, NEVER)
        said = torch.from_numpy(texts.values[~first][:, None] == keys.word)
        right = scores.masked_fill(~said, NEVER).logsumexp(dim=1) - scores.logsumexp(dim=1)
        text_of = torch.from_numpy(np.repeat(np.arange(len(texts)), texts.lengths - 1))
        return torch.zeros(len(texts)).index_add_(0, text_of, right.clamp_min(UNSAYABLE))

    def marginalize(
        self, states: TokenStates, case_of: NDArray[np.int64], log_probs: Tensor, size: int
    ) -> Tensor:
        """`[h, word id]`: log-probabilities summed over all keys of a word, for ids below `size`."""
        word = np.zeros(tuple(log_probs.shape), dtype=np.int64)
        for case in set(case_of.tolist()):
            own = states.keys[case].word
            word[case_of == case, : len(own)] = own
        total = torch.zeros(len(case_of), size)
        total.scatter_add_(1, torch.from_numpy(word), log_probs.exp())
        return total.log()


def _case_loss(case: TokenCase, texts: Tensor, words: Tensor) -> tuple[Tensor, Tensor]:
    """The loss of a case from scores `[T, K]` and `[T, V]`, and how many of its tokens were right."""
    total = torch.cat([texts, words], dim=1).logsumexp(dim=1)
    word = words.gather(1, case.word[:, None])[:, 0].masked_fill(~case.is_word, FORBIDDEN)
    right = torch.cat([texts.masked_fill(~case.marks, FORBIDDEN), word[:, None]], dim=1)
    loss = ((total - right.logsumexp(dim=1)) * case.counts).sum()
    with torch.no_grad():
        best = torch.maximum(words.amax(dim=1), torch.cat([texts, words[:, :1]], dim=1).amax(dim=1))
        correct = ((right.amax(dim=1) >= best) & case.counts).sum()
    return loss, correct
