"""Token beams: LRT and S2S+copy write left to right, one token at a time.

Their texts are derivations too: each token is one splice at the right end. Where a word's occurrences are
summed over (marginalised, the standard setting), the splice names the most probable of them, which is an
attribution and not what was chosen; such a generation says so.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from textsplice.oracle.splice import Splice
from textsplice.policy.token import Cache, TokenPolicy, TokenStates
from textsplice.search.problem import Candidate, Outcome, Problem, breaks, draft, gap
from textsplice.text.vocabulary import BEGIN_ID, END_ID

INFINITY = float("inf")
MAX_TOKENS = 120  # the longest reference of E2E has 87


@dataclass(frozen=True, slots=True)
class TokenSettings:
    """`wanted` texts are looked for; a text has at most `max_tokens` tokens."""

    beam: int = 5
    max_tokens: int = MAX_TOKENS
    wanted: int = 1
    marginalize: bool = True


@dataclass(frozen=True, slots=True)
class Prefix:
    """A text so far, with begin; `columns` are the keys its tokens were copied from."""

    case: int
    ids: tuple[int, ...]
    columns: tuple[int, ...]
    total: float


class _Next(NamedTuple):
    """A token that could come next: the prefix's row in the batch, the word, its key."""

    total: float
    row: int
    word: int
    column: int


def search_tokens(
    policy: TokenPolicy,
    problems: Sequence[Problem],
    settings: TokenSettings,
    encodings: Sequence[Sequence[Tensor]] | None = None,
) -> list[Outcome]:
    """What the beam finds for each problem."""
    states = policy.encode_cases([problem.case for problem in problems], encodings)
    beams = _TokenBeams(policy, problems, settings, states)
    for _ in range(min(settings.max_tokens, policy.config.max_positions - 2)):
        if not beams.live:
            break
        beams.advance()
    beams.close()
    return beams.outcomes


class _TokenBeams:
    def __init__(
        self,
        policy: TokenPolicy,
        problems: Sequence[Problem],
        settings: TokenSettings,
        states: TokenStates,
    ) -> None:
        self.policy = policy
        self.problems = problems
        self.settings = settings
        self.states = states
        self.outcomes = [Outcome() for _ in problems]
        self.live = [Prefix(case, (BEGIN_ID,), (), 0.0) for case in range(len(problems))]
        self.cache: Cache | None = None
        self.closed = self._closed()

    def advance(self) -> None:
        """One token more on every live text."""
        case_of = np.array([prefix.case for prefix in self.live], dtype=np.int64)
        last = np.array([prefix.ids[-1] for prefix in self.live], dtype=np.int32)
        scores, cache = self.policy.step(self.states, case_of, last, self.cache)
        scores = scores.masked_fill(self.closed[case_of][:, : scores.shape[1]], -INFINITY)
        live: list[Prefix] = []
        parents: list[int] = []
        for nexts in self._candidates(scores, case_of).values():
            kept = 0
            # Twice the beam are looked at, so that ends do not leave it with fewer live texts.
            for rank, following in enumerate(sorted(nexts, key=_order)[: 2 * self.settings.beam]):
                parent = self.live[following.row]
                if following.word == END_ID:
                    if rank < self.settings.beam:
                        self._judge(self._extend(parent, following), chosen=True)
                elif kept < self.settings.beam:
                    prefix = self._extend(parent, following)
                    if self._can_win(prefix):
                        live.append(prefix)
                        parents.append(following.row)
                        kept += 1
        self.live = live
        self.cache = cache.select(np.array(parents, dtype=np.int64)) if live else None

    def close(self) -> None:
        """Ends what has grown too long, for want of anything better: such texts are unfinished."""
        for prefix in self.live:
            if not self.outcomes[prefix.case].finished:
                keys = self.states.keys[prefix.case]
                end = keys.column(self.problems[prefix.case].sources.first_word + END_ID, 0)
                if end >= 0:
                    self._judge(self._extend(prefix, _Next(prefix.total, 0, END_ID, end)), chosen=False)

    def _candidates(self, scores: Tensor, case_of: NDArray[np.int64]) -> dict[int, list[_Next]]:
        """The most probable next tokens of each case: keys, or words if their keys are summed."""
        choices = scores
        if self.settings.marginalize:
            size = len(self.problems[0].words)
            choices = self.policy.marginalize(self.states, case_of, scores, size)
        values, places = torch.topk(choices, min(2 * self.settings.beam, choices.shape[1]), dim=1)
        nexts: dict[int, list[_Next]] = {prefix.case: [] for prefix in self.live}
        for row, (row_values, row_places) in enumerate(zip(values.tolist(), places.tolist(), strict=True)):
            prefix = self.live[row]
            for value, place in zip(row_values, row_places, strict=True):
                if value > -INFINITY:
                    word, column = self._word_and_column(prefix.case, scores[row], place)
                    nexts[prefix.case].append(_Next(prefix.total + value, row, word, column))
        return nexts

    def _word_and_column(self, case: int, scores: Tensor, place: int) -> tuple[int, int]:
        words = self.states.keys[case].word
        if not self.settings.marginalize:
            return int(words[place]), place
        columns = np.flatnonzero(words == place)
        return place, int(columns[int(scores[torch.from_numpy(columns)].argmax())])

    def _extend(self, parent: Prefix, following: _Next) -> Prefix:
        ids = (*parent.ids, following.word)
        return Prefix(parent.case, ids, (*parent.columns, following.column), following.total)

    def _judge(self, whole: Prefix, *, chosen: bool) -> None:
        """Keeps a text that has come to its end, chosen or not, if it breaks no rule."""
        problem, outcome = self.problems[whole.case], self.outcomes[whole.case]
        splices, origins = self._splices(whole)
        ids = np.array(whole.ids, dtype=np.int32)
        score = whole.total / len(whole.columns)
        reason = gap(ids)
        broken = None if reason else breaks(problem, draft(problem, ids, origins, splices))
        if reason or broken:
            outcome.hinder(broken or reason or "", rule=broken is not None, score=score)
            return
        keep = outcome.finish if chosen else outcome.could_end
        keep(Candidate(splices, whole.ids[1:-1], score))

    def _splices(self, whole: Prefix) -> tuple[tuple[Splice, ...], NDArray[np.int32]]:
        """The derivation of a text, and the origins of its tokens: one splice a token, begin first."""
        keys = self.states.keys[whole.case]
        columns = np.array(whole.columns, dtype=np.int64)
        begin = self.problems[whole.case].sources.first_word + BEGIN_ID
        sources = np.concatenate(([begin], keys.source[columns]))
        positions = np.concatenate(([0], keys.begin[columns]))
        steps = np.arange(len(whole.ids))
        origins = np.stack((sources, positions, steps), axis=1).astype(np.int32)
        splices = tuple(
            Splice(step, step, source, position, position + 1) for source, position, step in origins.tolist()
        )
        return splices, origins

    def _can_win(self, prefix: Prefix) -> bool:
        """Whether a text could be among the wanted if all its further tokens were certain."""
        bar = self.outcomes[prefix.case].worst_of_best(self.settings.wanted)
        return prefix.total / (self.settings.max_tokens + 1) > bar

    def _closed(self) -> Tensor:
        """The keys of each case that stand for begin, or that a rule keeps out of the text."""
        closed = torch.zeros(len(self.problems), max(map(len, self.states.keys)), dtype=torch.bool)
        for row, (problem, keys) in enumerate(zip(self.problems, self.states.keys, strict=True)):
            closed[row, : len(keys)] = torch.from_numpy(keys.word == BEGIN_ID)
            by_rules = problem.closed(keys)
            if by_rules is not None:
                closed[row, : len(keys)] |= torch.from_numpy(by_rules)
        return closed


def _order(following: _Next) -> tuple[float, int, int, int]:
    return (-following.total, following.row, following.word, following.column)
