"""LRT's model: its weights, its loss, and its log-probabilities of next tokens and of whole texts.

Shapes in comments: T canvas places of a case, K keys of a case's texts, V generable words,
H hypotheses, S tokens of a table, d model width.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from textsplice.policy.cases import Case, Keys, numbers_of
from textsplice.policy.device import to_device
from textsplice.policy.examples import TrainingSplit
from textsplice.policy.kept import Kept
from textsplice.policy.lrt.batch import LrtBatch, LrtCase, collate_lrt
from textsplice.policy.lrt.prefixes import PrefixTree, prefix_trees
from textsplice.policy.output import PolicyOutput
from textsplice.policy.packing import Block, pack, padding_mask
from textsplice.policy.policy import Encoded, Policy
from textsplice.policy.shape import PolicyShape
from textsplice.policy.transformer import Context, look_up, sequences
from textsplice.ragged import Ragged

UNSAYABLE = -12.0  # the log-probability of a token that no key stands for, when texts are compared
FORBIDDEN = -1e9  # finite, so that a row without a right key has no NaN in its gradient
NEVER = float("-inf")


@dataclass(frozen=True)
class LrtStates:
    """What is computed once per case; `keys[c]` says what the columns mean."""

    cases: list[Case]
    keys: list[Keys]
    own: Tensor  # [cases, W, d]: the keys of the tokens of table and neighbors, padded
    own_shut: Tensor  # [cases, W] bool: padding, field names, masks
    word_keys: Tensor  # [V, d]
    encoded: Tensor  # [cases, S, d]: the tables
    tables: list[Tensor]  # per decoder layer, [cases, S, 2d]: keys and values of the tables
    table_mask: Tensor | None  # [cases, 1, 1, S]

    def scores(self, case: int, states: Tensor) -> Tensor:
        """The score of each of a case's columns at decoder states `[n, d]`; -inf where none is allowed."""
        texts = int(self.keys[case].offsets[-2])
        own = (states @ self.own[case, :texts].T).masked_fill_(self.own_shut[case, :texts], NEVER)
        return torch.cat([own, states @ self.word_keys.T], dim=1)


@dataclass(frozen=True)
class Cache:
    """The decoder's keys and values of all tokens read so far, one row per hypothesis."""

    length: int
    layers: list[Tensor]  # per decoder layer, [H, length, 2d]

    def select(self, parents: NDArray[np.int64]) -> Cache:
        """The cache of new hypotheses, each of which continues one of the old."""
        at = torch.from_numpy(parents).to(self.layers[0].device)
        return Cache(self.length, [layer.index_select(0, at) for layer in self.layers])


class LrtKeys(nn.Module):
    """The matrices that make keys of tokens of the table, of neighbors and of words."""

    def __init__(self, width: int, *, neighbors: bool) -> None:
        super().__init__()
        self.table = nn.Linear(width, width, bias=False)
        if neighbors:  # a weight that never gets a gradient would be trained by weight decay alone
            self.neighbor = nn.Linear(width, width, bias=False)
        self.word = nn.Linear(width, width, bias=False)


class LrtModel(Policy):
    """The text begins with BEGIN, which is given, and ends with END, which is chosen.

    The canvas only grows at its right end, so the decoder is causal and one pass reads all steps of a target.
    Ages and copied flags would change with each step and are left out.
    """

    def __init__(self, shape: PolicyShape) -> None:
        super().__init__(shape)
        self.keys = LrtKeys(shape.config.d_model, neighbors=self.kind.uses_neighbors)
        self._words_kept = Kept()

    def collate(self, split: TrainingSplit, store_tokens: Ragged, rows: NDArray[np.int64]) -> LrtBatch:
        return collate_lrt(self.shape, split, store_tokens, rows, neighbors=self.kind.uses_neighbors)

    def forward(self, batch: LrtBatch) -> PolicyOutput:
        """The marginal loss: for each target token, `-log Σ` over the keys that stand for it."""
        encoded = self.encode(batch.encoded)
        sizes = [batch.neighbor_places, len(encoded) - batch.neighbor_places]
        neighbors, tables = encoded.split(sizes)
        canvas = self.decode(batch.canvases, tables, batch.contexts)
        table_keys = self.keys.table(tables)
        neighbor_keys = self.keys.neighbor(neighbors) if batch.neighbor_places else neighbors
        word_keys = self.keys.word(self.word_states())
        losses: list[Tensor] = []
        none = torch.zeros((), dtype=torch.long, device=canvas.device)
        correct = none.clone()
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
            second_loss=torch.zeros((), device=canvas.device),
            actions=batch.canvas_tokens - batch.skipped,
            first_correct=correct,
            second_actions=0,
            second_correct=none,
            sequences=batch.sequences,
            canvas_tokens=batch.canvas_tokens,
            skipped=batch.skipped,
        )

    @torch.no_grad()
    def encode_cases(self, cases: Sequence[Case], encodings: Encoded | None = None) -> LrtStates:
        """What is computed once per case; neighbors are encoded here unless their encodings are known."""
        neighbors = self.encode_neighbors(cases, encodings)
        lengths = np.array([len(case.table) for case in cases], dtype=np.int64)
        packing = pack(lengths)
        ids = packing.spread(np.concatenate([case.table for case in cases]))
        read = sequences(self.shape, packing, ids, np.zeros_like(ids))
        flat = self.encode(to_device(read, self.device))
        width = int(lengths.max(initial=1))
        inside = np.minimum(np.arange(width), np.maximum(lengths - 1, 0)[:, None])
        tables = flat[self.here(packing.start[:, None] + inside)]  # [cases, S, d]
        keys = [Keys(case, self.shape.word_ids()) for case in cases]
        own, shut = self._own_keys(keys, lengths, tables, neighbors)
        return LrtStates(
            cases=list(cases),
            keys=keys,
            own=own,
            own_shut=shut,
            word_keys=self._word_keys(),
            encoded=tables,
            tables=self.decoder.project_tables(tables),
            table_mask=to_device(padding_mask(lengths, width), self.device),
        )

    def _own_keys(
        self, keys: Sequence[Keys], lengths: NDArray[np.int64], tables: Tensor, neighbors: Sequence[Tensor]
    ) -> tuple[Tensor, Tensor]:
        """The keys of each case's table and neighbors, and which of them stand for nothing."""
        projected = self.keys.table(tables)
        widest = max(int(own.offsets[-2]) for own in keys)
        shut = np.ones((len(keys), widest), dtype=np.bool_)
        for row, own in enumerate(keys):
            texts = int(own.offsets[-2])
            shut[row, :texts] = ~own.allowed[:texts]
        if not any(map(len, neighbors)):
            return projected, self.here(shut)
        own_keys = projected.new_zeros(len(keys), widest, projected.shape[-1])
        sizes = [len(own) for own in neighbors]
        parts = self.keys.neighbor(torch.cat(list(neighbors))).split(sizes)
        for row, (length, part) in enumerate(zip(lengths.tolist(), parts, strict=True)):
            own_keys[row, :length] = projected[row, :length]
            own_keys[row, length : length + len(part)] = part
        return own_keys, self.here(shut)

    def _word_keys(self) -> Tensor:
        """The keys of the generable words, made once for the same weights."""
        norm = self.encoder.embeddings.norm
        return self._words_kept.of(
            (self.tokens.weight, norm.weight, norm.bias, self.keys.word.weight),
            lambda: self.keys.word(self.word_states()),
        )

    @torch.no_grad()
    def step(
        self,
        states: LrtStates,
        case_of: NDArray[np.int64],
        last: NDArray[np.int32],
        cache: Cache | None,
    ) -> tuple[Tensor, Cache]:
        """Reads each hypothesis's last token (BEGIN at first): `log_probs[h, column]` and the cache.

        All hypotheses of a cache have the same length. Columns as in `Keys`, padded with -inf.
        """
        at = self.here(case_of)
        position = 0 if cache is None else cache.length
        state, seen = self.decoder.step(
            self.tokens(self.here(self.shape.embed(last))),
            position,
            None if cache is None else cache.layers,
            [table[at] for table in states.tables],
            None if states.table_mask is None else states.table_mask[at],
        )
        width = max((len(states.keys[c]) for c in set(case_of.tolist())), default=0)
        log_probs = torch.full((len(case_of), width), NEVER, device=self.device)
        for case in set(case_of.tolist()):
            rows = self.here(np.flatnonzero(case_of == case))
            scores = states.scores(case, state[rows])
            log_probs[rows, : scores.shape[1]] = scores.log_softmax(dim=1)
        return log_probs, Cache(position + 1, seen)

    @torch.no_grad()
    def log_likelihoods(self, case: Case, texts: Ragged, encodings: Encoded | None = None) -> Tensor:
        """The log-probability of what follows BEGIN in each text, on the CPU.

        What texts begin with alike is read once. The probability of a token is the sum over all keys that
        stand for it.
        """
        states = self.encode_cases([case], encodings)
        found = torch.zeros(len(texts))
        for tree in prefix_trees(texts):
            lengths = [len(nodes) for nodes in tree.nodes]
            after = np.array([node for nodes in tree.nodes for node in nodes], dtype=np.int64)
            following = np.concatenate([texts[text][1:] for text in tree.texts]).astype(np.int64)
            pairs, place = np.unique(np.stack((after, following)), axis=1, return_inverse=True)
            right = self._likelihood_of(states, self._read_tree(states, tree), pairs[0], pairs[1])
            each = right.clamp_min(UNSAYABLE).cpu()[torch.from_numpy(place.ravel())]
            found.index_add_(0, torch.from_numpy(np.repeat(tree.texts, lengths)), each)
        return found

    def _read_tree(self, states: LrtStates, tree: PrefixTree) -> Tensor:
        """The decoder's state after each beginning, `[N, d]`."""
        size = len(tree.tokens)
        read = sequences(self.shape, pack(np.array([size])), tree.tokens, np.zeros(size, dtype=np.int64))
        positions = np.minimum(tree.depths, self.shape.config.max_positions - 1)
        read = read._replace(positions=torch.from_numpy(positions), blocks=[Block(1, size, tree.mask)])
        contexts = [Context(torch.arange(len(states.cases[0].table))[None])]
        read, contexts = to_device((read, contexts), self.device)
        return self.decode(read, states.encoded[0], contexts)

    def _likelihood_of(
        self, states: LrtStates, canvas: Tensor, after: NDArray[np.int64], following: NDArray[np.int64]
    ) -> Tensor:
        """The log-probability of each following token after one of the states, over all keys that say it."""
        keys = states.keys[0]
        texts = int(keys.offsets[-2])
        own = (canvas @ states.own[0, :texts].T).masked_fill_(states.own_shut[0, :texts], NEVER)
        words = canvas @ states.word_keys.T  # [N, V]
        total = torch.logaddexp(own.logsumexp(dim=1), words.logsumexp(dim=1))
        at, number = self.here(after), numbers_of(keys.words, following)
        word = words[at, self.here(np.maximum(number, 0))].masked_fill(self.here(number < 0), NEVER)
        said = self.here(following[:, None] == keys.word[:texts])
        copied = own.index_select(0, at).masked_fill(~said, NEVER).logsumexp(dim=1)
        return torch.logaddexp(copied, word) - total.index_select(0, at)

    def marginalize(
        self, states: LrtStates, case_of: NDArray[np.int64], log_probs: Tensor, size: int
    ) -> Tensor:
        """`[h, word id]`: the log of the probability summed over all keys of a word, for ids below `size`."""
        word = np.zeros(tuple(log_probs.shape), dtype=np.int64)
        for case in set(case_of.tolist()):
            own = states.keys[case].word
            word[case_of == case, : len(own)] = own
        total = torch.zeros(len(case_of), size, device=self.device)
        total.scatter_add_(1, self.here(word), log_probs.exp())
        return total.log()


def _case_loss(case: LrtCase, texts: Tensor, words: Tensor) -> tuple[Tensor, Tensor]:
    """The loss of a case from scores `[T, K]` and `[T, V]`, and how many of its tokens were right."""
    total = torch.cat([texts, words], dim=1).logsumexp(dim=1)
    word = words.gather(1, case.word[:, None])[:, 0].masked_fill(~case.is_word, FORBIDDEN)
    right = torch.cat([texts.masked_fill(~case.marks, FORBIDDEN), word[:, None]], dim=1)
    loss = ((total - right.logsumexp(dim=1)) * case.counts).sum()
    with torch.no_grad():
        best = torch.maximum(words.amax(dim=1), torch.cat([texts, words[:, :1]], dim=1).amax(dim=1))
        correct = ((right.amax(dim=1) >= best) & case.counts).sum()
    return loss, correct
