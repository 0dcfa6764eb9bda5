"""Beam search over tokens without rules: the texts of all tables as arrays.

It finds what the beam of `beam.py` finds, which also keeps rules and can name one key for each token. Here
the keys of a word are always summed. A *choice* is a column of `[generable words | others]`.

Shapes in comments: H texts, C tables, K texts of a table, W tokens of a table and its neighbors,
V generable words, X other words.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from textsplice.oracle.splice import Origin, Splice
from textsplice.policy.cases import Keys, numbers_of
from textsplice.policy.lrt.model import LrtModel, LrtStates
from textsplice.policy.lrt.settings import INFINITY, TokenSettings
from textsplice.policy.lrt.tree import Trees
from textsplice.policy.problem import Candidate, Outcome
from textsplice.stopping import stop_if_unwanted
from textsplice.text.vocabulary import BEGIN_ID, END_ID, MASK_ID

Ids = NDArray[np.int64]


class Choices(NamedTuple):
    """What can be chosen: `ids[c, x]` is the word of choice `x` of table c, `of_key[c, w]` that of a key."""

    begin: int
    end: int
    ids: Ids  # [C, V + X]
    of_key: Ids  # [C, W]; 0 where there is no key, which has probability 0

    @classmethod
    def of(cls, keys: Sequence[Keys], words: Ids, width: int) -> Choices:
        """The choices of these tables. Begin and end always are among them."""
        marks = [mark for mark in (BEGIN_ID, END_ID) if mark not in words]
        shared = np.concatenate([words, np.array(marks, dtype=np.int64)])
        own = [each.word[: each.offsets[-2]] for each in keys]
        others = [np.setdiff1d(tokens, shared) for tokens in own]
        ids = np.full((len(keys), len(shared) + max(map(len, others))), MASK_ID, dtype=np.int64)
        of_key = np.zeros((len(keys), width), dtype=np.int64)
        for row, (tokens, more) in enumerate(zip(own, others, strict=True)):
            ids[row, : len(shared)] = shared
            ids[row, len(shared) : len(shared) + len(more)] = more
            of_key[row, : len(tokens)] = numbers_of(np.concatenate([shared, more]), tokens)
        begin, end = numbers_of(shared, np.array([BEGIN_ID, END_ID])).tolist()
        return cls(begin, end, ids, of_key)


class Scores(NamedTuple):
    """A step's decisions: the best words of each text, best first, and the end; all are log-probabilities."""

    best: NDArray[np.float64]  # [H, K]
    choice: Ids  # [H, K]
    end: NDArray[np.float64]  # [H]
    keys: NDArray[np.float32]  # [H, W]: the scores of keys
    words: Tensor  # [H, V]: the scores of generable words


class PlainBeams:
    """The state of the search: the texts that go on, by table and falling probability, all of one length."""

    def __init__(self, policy: LrtModel, states: LrtStates, settings: TokenSettings) -> None:
        self.policy, self.states, self.settings = policy, states, settings
        self.longest = min(settings.max_tokens, policy.shape.config.max_positions - 2)
        self.outcomes = [Outcome() for _ in states.cases]
        self.bars = np.full(len(states.cases), -INFINITY)
        self.choices = Choices.of(states.keys, policy.shape.word_ids(), states.own.shape[1])
        self.of_key = policy.here(self.choices.of_key)
        embedded = policy.shape.embed(policy.shape.word_ids())
        # Words without an embedding of their own come last and have the same key.
        self.distinct = len(embedded) - int((embedded[::-1] == embedded[-1:]).cumprod()[1:].sum())
        self.own = states.own.mT.contiguous()  # [C, d, W]
        self.trees = Trees(policy, states, settings.beam)
        self.tables = np.arange(len(states.cases))  # those that have texts, and few others
        # Of each text: its table's place among these, its slot (each place has K), and what was written.
        self.place_of = np.arange(len(states.cases))
        self.slots = self.place_of * settings.beam
        self.totals = np.zeros(len(states.cases))
        self.ids = np.full((len(states.cases), 1), BEGIN_ID, dtype=np.int64)
        self.columns = np.zeros((len(states.cases), 0), dtype=np.int64)

    def run(self) -> list[Outcome]:
        """Writes all texts."""
        for _ in range(self.longest):
            if not len(self.totals):
                break
            stop_if_unwanted()
            self.advance()
        self.close()
        return self.outcomes

    def advance(self) -> None:
        """One more token on each text, and the end where it is among the best."""
        scores = self._scores()
        width, tables = self.settings.beam, len(self.tables)
        # The best K of each table; ties go to the earlier text.
        totals = np.full((tables * width, scores.best.shape[1]), -INFINITY)
        totals[self.slots] = self.totals[:, None] + scores.best
        totals = totals.reshape(tables, -1)
        order = np.argsort(-totals, axis=1, kind="stable")[:, :width]
        best = np.take_along_axis(totals, order, axis=1)  # [C, K]
        bars = best[:, -1] if best.shape[1] == width else np.full(tables, -INFINITY)
        self._finish(scores, bars)
        written = min(self.columns.shape[1] + 1 + self.settings.horizon, self.longest)
        kept = best / written > self.bars[self.tables][:, None]
        place, rank = np.nonzero(kept)
        at = order[place, rank]
        parent_slots = place * width + at // scores.best.shape[1]
        row_of = np.zeros(tables * width, dtype=np.int64)
        row_of[self.slots] = np.arange(len(self.slots))
        parents = row_of[parent_slots]
        choice = scores.choice[parents, at % scores.best.shape[1]]
        columns = self._columns(scores, parents, choice)
        words = self.choices.ids[self.tables[place], choice]
        self.ids = np.column_stack((self.ids[parents], words))
        self.columns = np.column_stack((self.columns[parents], columns))
        self.totals = best[place, rank]
        # What is kept of a table are its first: where a text is dropped, all less probable ones are.
        self.place_of, self.slots = place, place * width + rank
        self.trees.follow(parents)
        self._forget()

    def close(self) -> None:
        """Ends what has grown too long, if nothing better was found: such texts are unfinished."""
        if self.columns.shape[1] == 0:
            return
        for row, place in enumerate(self.place_of.tolist()):
            case = int(self.tables[place])
            keys, outcome = self.states.keys[case], self.outcomes[case]
            end = keys.column(keys.numbering.word(END_ID), 0)
            if end >= 0 and not outcome.finished:
                score = float(self.totals[row]) / self.columns.shape[1]
                outcome.could_end(self._candidate(row, end, score))

    @torch.no_grad()
    def _scores(self) -> Scores:
        """Reads the last token of each text, and scores what may come next."""
        case = self.tables[self.place_of]
        state = self.trees.step(self.policy.shape.embed(self.ids[:, -1]), case)
        words = self._words(state)
        keys, of_key = self._keys(state, case)
        highest = torch.maximum(words.amax(dim=1), keys.amax(dim=1)) if keys.shape[1] else words.amax(dim=1)
        shares = words.new_empty(len(words), self.choices.ids.shape[1])
        generated, others = shares.split([words.shape[1], shares.shape[1] - words.shape[1]], dim=1)
        torch.sub(words, highest[:, None], out=generated)
        generated.exp_()
        others.zero_()
        shares.scatter_add_(1, of_key, (keys - highest[:, None]).exp_())
        total = shares.sum(dim=1)
        end = shares[:, self.choices.end].clone()
        shares[:, self.choices.begin] = 0
        shares[:, self.choices.end] = 0
        values, choice = torch.topk(shares, min(self.settings.beam, shares.shape[1]), dim=1)
        with np.errstate(divide="ignore"):
            logs = np.log(total.cpu().numpy().astype(np.float64))
            best = np.log(values.cpu().numpy().astype(np.float64)) - logs[:, None]
            ends = np.log(end.cpu().numpy().astype(np.float64)) - logs
        return Scores(best, choice.cpu().numpy(), ends, keys.cpu().numpy(), words)

    def _words(self, state: Tensor) -> Tensor:
        """The scores of the generable words, `[H, V]`; the last ones may share one key, scored once."""
        words = state.new_empty(len(state), len(self.states.word_keys))
        torch.mm(state, self.states.word_keys[: self.distinct].T, out=words[:, : self.distinct])
        words[:, self.distinct :] = words[:, self.distinct - 1 : self.distinct]
        return words

    def _keys(self, state: Tensor, case: Ids) -> tuple[Tensor, Tensor]:
        """The scores of the keys of each text's table and neighbors, `[H, W]`, and their choices."""
        at, slots = self.policy.here(case), self.policy.here(self.slots)
        every = state.new_zeros(len(self.tables) * self.settings.beam, state.shape[1])
        every = every.index_copy_(0, slots, state).unflatten(0, (len(self.tables), -1))
        keys = torch.bmm(every, self.own).flatten(0, 1).index_select(0, slots)
        return keys.masked_fill_(self.states.own_shut.index_select(0, at), -INFINITY), self.of_key[at]

    def _columns(self, scores: Scores, parents: Ids, choice: Ids) -> Ids:
        """The most probable key of each chosen word, as a column of its case."""
        case = self.tables[self.place_of[parents]]
        texts = np.array([int(self.states.keys[c].offsets[-2]) for c in case.tolist()], dtype=np.int64)
        words = scores.words.shape[1]
        is_word = choice < words
        at = (self.policy.here(parents), self.policy.here(np.where(is_word, choice, 0)))
        of_word = np.where(is_word, scores.words[at].cpu().numpy(), -INFINITY)
        if not scores.keys.shape[1]:
            return texts + choice
        own = np.where(self.choices.of_key[case] == choice[:, None], scores.keys[parents], -INFINITY)
        best = own.argmax(axis=1)
        highest = own[np.arange(len(own)), best]
        return np.where((highest >= of_word) & (highest > -INFINITY), best, texts + choice)

    def _finish(self, scores: Scores, bars: NDArray[np.float64]) -> None:
        """Ends each text that has a word if fewer than K ways to go on are more probable."""
        if not self.columns.shape[1]:
            return
        totals = self.totals + scores.end
        ending = np.flatnonzero((totals > -INFINITY) & (totals >= bars[self.place_of]))
        if not len(ending):
            return
        ends = self._columns(scores, ending, np.full(len(ending), self.choices.end)).tolist()
        for row, end in zip(ending.tolist(), ends, strict=True):
            case = int(self.tables[self.place_of[row]])
            score = float(totals[row]) / (self.columns.shape[1] + 1)
            self.outcomes[case].finish(self._candidate(row, end, score))
            self.bars[case] = self.outcomes[case].worst_of_best(self.settings.wanted)

    def _candidate(self, row: int, end: int, score: float) -> Candidate:
        keys = self.states.keys[int(self.tables[self.place_of[row]])]
        columns = [*self.columns[row].tolist(), end]
        sources, begins = keys.source[columns].tolist(), keys.begin[columns].tolist()
        steps = range(1, len(columns) + 1)
        origins = [Origin(*each) for each in zip(sources, begins, steps, strict=True)]
        origins = [Origin(keys.numbering.word(BEGIN_ID), 0, 0), *origins]
        return Candidate(splices(origins), tuple(self.ids[row, 1:].tolist()), score)

    def _forget(self) -> None:
        """Drops the tables without texts, once they are an eighth."""
        there = np.unique(self.place_of)
        if len(self.tables) - len(there) < max(len(self.tables) / 8, 1) or not len(there):
            return
        self.own = self.own.index_select(0, self.policy.here(there))
        new = np.zeros(len(self.tables), dtype=np.int64)
        new[there] = np.arange(len(there))
        self.slots = new[self.place_of] * self.settings.beam + self.slots % self.settings.beam
        self.place_of = new[self.place_of]
        self.tables = self.tables[there]


def splices(origins: Sequence[Origin]) -> tuple[Splice, ...]:
    """The derivation of a text from the origins of its tokens: one splice per token."""
    return tuple(Splice(o.step, o.step, o.neighbor, o.position, o.position + 1) for o in origins)
