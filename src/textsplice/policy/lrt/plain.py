"""Beam search over tokens without rules: the texts of all tables as arrays.

It finds what the beam of `beam.py` finds, which also keeps rules and can name one key for each token.

Shapes in comments: C tables, K texts of a table, W tokens of a table and its neighbors, d model width.
"""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray

from textsplice.oracle.splice import Splice
from textsplice.policy.lrt.model import LrtModel, LrtStates
from textsplice.policy.lrt.scoring import Best, Choices, Scored, best_of
from textsplice.policy.lrt.settings import INFINITY, TokenSettings
from textsplice.policy.lrt.tree import Trees
from textsplice.policy.problem import Candidate, Outcome
from textsplice.stopping import stop_if_unwanted
from textsplice.text.vocabulary import BEGIN_ID, END_ID

Ids = NDArray[np.int64]


class PlainBeams:
    """The state of the search: the texts that go on, by table and falling probability, all of one length."""

    def __init__(self, policy: LrtModel, states: LrtStates, settings: TokenSettings) -> None:
        self.policy, self.states, self.settings = policy, states, settings
        self.longest = min(settings.max_tokens, policy.shape.config.max_positions - 2)
        self.outcomes = [Outcome() for _ in states.cases]
        self.bars = np.full(len(states.cases), -INFINITY)
        self.choices = Choices.of(states.keys, policy.shape.word_ids(), states.own.shape[1])
        self.first_word = np.array([keys.offsets[-2] for keys in states.keys], dtype=np.int64)
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
        found = self._best()
        width, tables = self.settings.beam, len(self.tables)
        # The best K of each table; ties go to the earlier text.
        totals = np.full((tables * width, width), -INFINITY)
        totals[self.slots] = self.totals[:, None] + found.scores[:, :-1]
        totals = totals.reshape(tables, -1)
        order = np.argsort(-totals, axis=1, kind="stable")[:, :width]
        best = np.take_along_axis(totals, order, axis=1)  # [C, K]
        self._finish(found, best[:, -1])
        written = min(self.columns.shape[1] + 1 + self.settings.horizon, self.longest)
        kept = best / written > self.bars[self.tables][:, None]
        place, rank = np.nonzero(kept)
        at = order[place, rank]
        row_of = np.zeros(tables * width, dtype=np.int64)
        row_of[self.slots] = np.arange(len(self.slots))
        parents = row_of[place * width + at // width]
        case, choice = self.tables[place], found.choice[parents, at % width]
        columns = self._columns(case, choice, found.key[parents, at % width])
        self.ids = np.column_stack((self.ids[parents], self.choices.ids[case, choice]))
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
    def _best(self) -> Best:
        """Reads the last token of each text, and scores what may come next."""
        case = self.tables[self.place_of]
        state = self.trees.step(self.policy.shape.embed(self.ids[:, -1]), case)
        words = state @ self.states.word_keys[: self.distinct].T
        every = state.new_zeros(len(self.tables) * self.settings.beam, state.shape[1])
        every.index_copy_(0, self.policy.here(self.slots), state)
        keys = torch.bmm(every.unflatten(0, (len(self.tables), -1)), self.own).flatten(0, 1)
        scored = Scored(words, keys, self.slots, case)
        return best_of(scored, self.choices, self.states.own_shut, self.settings.beam)

    def _columns(self, case: Ids, choice: Ids, key: Ids) -> Ids:
        """The columns of chosen words in their cases: of the most probable keys."""
        return np.where(key >= 0, key, self.first_word[case] + choice)

    def _finish(self, found: Best, bars: NDArray[np.float64]) -> None:
        """Ends each text that has a word if fewer than K ways to go on are more probable."""
        if not self.columns.shape[1]:
            return
        totals = self.totals + found.scores[:, -1]
        ending = np.flatnonzero((totals > -INFINITY) & (totals >= bars[self.place_of]))
        cases = self.tables[self.place_of[ending]]
        ends = self._columns(cases, found.choice[ending, -1], found.key[ending, -1])
        for row, case, end in zip(ending.tolist(), cases.tolist(), ends.tolist(), strict=True):
            score = float(totals[row]) / (self.columns.shape[1] + 1)
            self.outcomes[case].finish(self._candidate(row, end, score))
            self.bars[case] = self.outcomes[case].worst_of_best(self.settings.wanted)

    def _candidate(self, row: int, end: int, score: float) -> Candidate:
        keys = self.states.keys[int(self.tables[self.place_of[row]])]
        found = keys.places(np.append(self.columns[row], end))
        word = keys.numbering.word(BEGIN_ID)
        sources, begins = ([first, *part.tolist()] for first, part in zip((word, 0), found, strict=True))
        steps, ends = range(len(sources)), [begin + 1 for begin in begins]
        made = map(Splice, steps, steps, sources, begins, ends)
        return Candidate(tuple(made), tuple(self.ids[row, 1:].tolist()), score)

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
