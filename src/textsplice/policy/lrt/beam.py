"""Beam search over tokens: texts are written left to right, one token at a time.

These texts are derivations too: each token is one splice at the right end. If the occurrences of a word are
summed (marginalized, the default), the splice names the most probable of them. That is an attribution and not
what was chosen; such a generation says so.

Each round keeps the K best texts that go on. A text ends if fewer than K of the ways to go on are more
probable than its end.

No text ends while it breaks a rule, and no word is written that breaks one for good. A value that a rule
requires may begin after any token, and is then written to its end. Texts that lack more values or sentences
have a beam of their own: they are more probable, and would crowd out those that are closer to their end.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from textsplice.oracle.splice import Origin, Splice
from textsplice.policy.device import to_device
from textsplice.policy.lrt.model import Cache, LrtModel, LrtStates
from textsplice.policy.lrt.plain import PlainBeams
from textsplice.policy.lrt.settings import INFINITY, TokenSettings
from textsplice.policy.policy import Encoded
from textsplice.policy.problem import Candidate, Draft, Outcome, Problem
from textsplice.stopping import stop_if_unwanted
from textsplice.text.linearize import Segment
from textsplice.text.vocabulary import BEGIN_ID, END_ID

FURTHER = 64  # words looked at beside the best, where a rule may refuse those


@dataclass(frozen=True, slots=True)
class Prefix:
    """A text so far, from begin; `columns` are the keys that its tokens were copied from.

    `missing` are the values that rules still require, `lacks` is how far it is from where it may end; `owed`
    are the keys that must come next, because a value has begun.
    """

    case: int
    ids: tuple[int, ...]
    columns: tuple[int, ...]
    total: float
    may_end: bool = False
    missing: tuple[Segment, ...] = ()
    lacks: int = 0
    owed: tuple[int, ...] = ()


class _Next(NamedTuple):
    """How a text could go on: the prefix's row in the batch, and what is chosen there.

    That is a key, or a word if its keys are summed. `value` are the remaining keys of a required value.
    """

    total: float
    row: int
    choice: int
    value: tuple[int, ...] = ()

    def order(self) -> tuple[float, int, int]:
        """The most probable first; ties go to the earlier text, the earlier key."""
        return (-self.total, self.row, self.choice)


def search_tokens(
    policy: LrtModel,
    problems: Sequence[Problem],
    settings: TokenSettings,
    encodings: Encoded | None = None,
) -> list[Outcome]:
    """What the beam finds for each problem; one that gets stuck does not hold up the others."""
    states = policy.encode_cases([problem.case for problem in problems], encodings)
    if settings.marginalize and not any(problem.rules for problem in problems):
        return PlainBeams(policy, states, settings).run()
    beams = _TokenBeams(policy, problems, settings, states)
    for _ in range(beams.longest):
        if not beams.live:
            break
        stop_if_unwanted()
        beams.advance()
    beams.close()
    return beams.outcomes


class _TokenBeams:
    """The state of the search: the live texts of each problem, all of one length."""

    def __init__(
        self,
        policy: LrtModel,
        problems: Sequence[Problem],
        settings: TokenSettings,
        states: LrtStates,
    ) -> None:
        self.policy = policy
        self.problems = problems
        self.settings = settings
        self.states = states
        self.longest = min(settings.max_tokens, policy.shape.config.max_positions - 2)
        self.outcomes = [Outcome() for _ in problems]
        self.cache: Cache | None = None
        self.closed, self.ends = self._closed()
        self.places = [list(zip(k.source.tolist(), k.begin.tolist(), strict=True)) for k in states.keys]
        self.words = dict(enumerate(problems[0].words))
        empty = (self._ruled(Prefix(case, (BEGIN_ID,), (), 0.0)) for case in range(len(problems)))
        self.live = [prefix for prefix in empty if prefix is not None]

    def advance(self) -> None:
        """One more token on each live text, and the end where it is among the best."""
        case_of = np.array([prefix.case for prefix in self.live], dtype=np.int64)
        last = np.array([prefix.ids[-1] for prefix in self.live], dtype=np.int32)
        scores, cache = self.policy.step(self.states, case_of, last, self.cache)
        width = scores.shape[1]
        at = self.policy.here(case_of)
        scores = scores.masked_fill(self.closed[at, :width], -INFINITY)
        ends = self.ends[at, :width]
        words = scores.masked_fill(ends, -INFINITY)
        live: list[Prefix] = []
        parents: list[int] = []
        bars: dict[tuple[int, int], float] = {}
        for group, nexts in self._candidates(words, case_of).items():
            best = [*self._best(nexts, words)]
            full = len(best) == self.settings.beam
            bars[group] = best[-1][1].total if full else -INFINITY
            parents += [row for row, _ in best]
            live += [prefix for _, prefix in best]
        self._finish(scores.masked_fill(~ends, -INFINITY), bars)
        kept = [at for at, prefix in enumerate(live) if self._can_win(prefix)]
        self.live = [live[at] for at in kept]
        self.cache = cache.select(np.array([parents[at] for at in kept], dtype=np.int64)) if kept else None

    def close(self) -> None:
        """Ends what has grown too long, if nothing better was found: such texts are unfinished."""
        for prefix in self.live:
            outcome, keys = self.outcomes[prefix.case], self.states.keys[prefix.case]
            end = keys.column(keys.numbering.word(END_ID), 0)
            if prefix.may_end and end >= 0 and not outcome.finished:
                outcome.could_end(self._candidate(prefix, end, prefix.total / len(prefix.columns)))

    def _candidates(self, words: Tensor, case_of: NDArray[np.int64]) -> dict[tuple[int, int], list[_Next]]:
        """How the texts of each case that lack as much could go on."""
        choices = words
        if self.settings.marginalize:
            choices = self.policy.marginalize(self.states, case_of, words, len(self.words))
        ruled = any(self.problems[case].rules for case in set(case_of.tolist()))
        look = 2 * self.settings.beam + FURTHER * ruled
        top = torch.topk(choices, min(look, choices.shape[1]), dim=1)
        groups: dict[tuple[int, int], list[_Next]] = {(p.case, p.lacks): [] for p in self.live}
        rows = zip(self.live, top.values.tolist(), top.indices.tolist(), strict=True)
        for row, (prefix, values, best) in enumerate(rows):
            if not prefix.owed:
                groups[prefix.case, prefix.lacks].extend(
                    _Next(prefix.total + value, row, choice)
                    for value, choice in zip(values, best, strict=True)
                )
            wanted = [prefix.owed] if prefix.owed else [(*range(s.start, s.stop),) for s in prefix.missing]
            for value in wanted:
                word = int(self.states.keys[prefix.case].word[value[0]])
                choice = word if self.settings.marginalize else value[0]
                total = prefix.total + float(choices[row, choice])
                group = groups.setdefault((prefix.case, prefix.lacks - 1), [])
                group.append(_Next(total, row, choice, value))
        return groups

    def _best(self, nexts: Sequence[_Next], words: Tensor) -> Iterator[tuple[int, Prefix]]:
        """The K best texts of a group that no rule refuses, with their parents' rows."""
        seen: set[tuple[tuple[int, ...], ...]] = set()
        for following in sorted(nexts, key=_Next.order):
            if len(seen) == self.settings.beam or following.total == -INFINITY:
                return
            prefix = self._extended(following, words)
            what = (prefix.ids if self.settings.marginalize else prefix.columns, prefix.owed)
            ruled = None if what in seen else self._ruled(prefix)
            if ruled is not None:
                seen.add(what)
                yield following.row, ruled

    def _extended(self, following: _Next, words: Tensor) -> Prefix:
        parent = self.live[following.row]
        keys = self.states.keys[parent.case].word
        column = following.choice
        if following.value:
            column = following.value[0]
        elif self.settings.marginalize:
            columns = np.flatnonzero(keys == following.choice)
            best = words[following.row, self.policy.here(columns)].argmax()
            column = int(columns[int(best)])
        return Prefix(
            parent.case,
            (*parent.ids, int(keys[column])),
            (*parent.columns, column),
            following.total,
            lacks=parent.lacks - 1,
            owed=following.value[1:],
        )

    def _ruled(self, prefix: Prefix) -> Prefix | None:
        """A text with what the rules say of it; None if no text that begins with it can obey them."""
        problem, outcome = self.problems[prefix.case], self.outcomes[prefix.case]
        if not problem.rules:
            return replace(prefix, may_end=len(prefix.ids) > 1, lacks=0)
        origins = self._origins(prefix.case, prefix.columns)
        sources = replace(problem.sources, words=self.words)
        tokens = [self.words[number] for number in prefix.ids[1:]]
        text = Draft(tokens, origins[1:], sources, splices(origins))
        may_end = len(tokens) > 0
        for rule in problem.rules:
            broken = rule.violation(text)
            if broken:
                may_end, mendable = False, rule.mendable(text)
                if tokens or not mendable:
                    outcome.hinder(broken, rule=True, score=prefix.total / max(len(tokens), 1))
                if not mendable:
                    return None
        missing = tuple(dict.fromkeys(s for rule in problem.rules for s in rule.missing(text)))
        lacks = prefix.lacks if prefix.owed else sum(rule.lacks(text) for rule in problem.rules)
        return replace(prefix, may_end=may_end, missing=missing, lacks=lacks)

    def _finish(self, ends: Tensor, bars: dict[tuple[int, int], float]) -> None:
        """Ends each text that may end if fewer than K ways to go on are more probable."""
        values = ends.logsumexp(dim=1) if self.settings.marginalize else ends.amax(dim=1)
        columns: list[int] = ends.argmax(dim=1).tolist()
        for prefix, value, column in zip(self.live, values.tolist(), columns, strict=True):
            total = prefix.total + value
            if prefix.may_end and total > -INFINITY and total >= bars[prefix.case, prefix.lacks]:
                score = total / (len(prefix.columns) + 1)
                self.outcomes[prefix.case].finish(self._candidate(prefix, column, score))

    def _candidate(self, prefix: Prefix, end: int, score: float) -> Candidate:
        origins = self._origins(prefix.case, (*prefix.columns, end))
        return Candidate(splices(origins), prefix.ids[1:], score)

    def _origins(self, case: int, columns: Sequence[int]) -> list[Origin]:
        """The origins of the tokens of a text, begin first; each was placed by a step of its own."""
        begin = self.states.keys[case].numbering.word(BEGIN_ID)
        places = ((begin, 0), *(self.places[case][column] for column in columns))
        return [Origin(source, position, step) for step, (source, position) in enumerate(places)]

    def _can_win(self, prefix: Prefix) -> bool:
        """Whether a text could be among the wanted if its next tokens, up to the horizon, were certain."""
        bar = self.outcomes[prefix.case].worst_of_best(self.settings.wanted)
        return prefix.total / min(len(prefix.columns) + self.settings.horizon, self.longest) > bar

    def _closed(self) -> tuple[Tensor, Tensor]:
        """The keys of each case that stand for begin or that a rule excludes; those that stand for end."""
        shape = len(self.problems), max(map(len, self.states.keys))
        closed, ends = torch.zeros(shape, dtype=torch.bool), torch.zeros(shape, dtype=torch.bool)
        for row, (problem, keys) in enumerate(zip(self.problems, self.states.keys, strict=True)):
            closed[row, : len(keys)] = torch.from_numpy(keys.word == BEGIN_ID)
            ends[row, : len(keys)] = torch.from_numpy(keys.word == END_ID)
            by_rules = problem.closed(keys)
            if by_rules is not None:
                closed[row, : len(keys)] |= torch.from_numpy(by_rules)
        return to_device((closed, ends), self.policy.device)


def splices(origins: Sequence[Origin]) -> tuple[Splice, ...]:
    """The derivation of a text from the origins of its tokens: one splice per token."""
    return tuple(Splice(o.step, o.step, o.neighbor, o.position, o.position + 1) for o in origins)
