"""Beam search over splices, for many tables at once.

Each round extends each live canvas of each table by one splice, as the paper does: the top K by the first
decision (where, which source, its first token), and of what follows from them the top K by the second (what
is replaced, the last token of the span). `Stop` ends a text if it is among the top K of the first decision.

As in all derivations that policies learn from, the first splice begins with begin, and no other splice places
begin or goes before it. End is placed once, with nothing right of it, and stays.

Nothing here depends on which tables share a batch: candidates of different tables never compete, and ties
go to the earlier hypothesis, gap and source. Equal neighbors would have equal scores up to the last bits,
which do depend on the batch; that is why a problem holds each neighbor once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from heapq import merge

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from textsplice.oracle.canvas import ID_MARKS, obstacle
from textsplice.oracle.numbering import TABLE
from textsplice.oracle.splice import Splice
from textsplice.policy.full.best import Shut, best_first
from textsplice.policy.full.hypothesis import INFINITY, BeamSettings, FirstDecision, Hypothesis
from textsplice.policy.full.model import FullModel
from textsplice.policy.full.pruning import prune
from textsplice.policy.full.scores import (
    Canvases,
    CaseStates,
    FirstScores,
    Read,
    encode_cases,
    read_canvases,
    scores_of,
    second_scores,
)
from textsplice.policy.full.tables import Tables
from textsplice.policy.places import places_of_others
from textsplice.policy.policy import Encoded
from textsplice.policy.problem import Candidate, Outcome, Problem, broken_rule
from textsplice.stopping import stop_if_unwanted
from textsplice.text.linearize import Segment
from textsplice.text.vocabulary import BEGIN_ID, END_ID


def search_splices(
    policy: FullModel,
    problems: Sequence[Problem],
    settings: BeamSettings,
    encodings: Encoded | None = None,
) -> list[Outcome]:
    """What the beam finds for each problem; one that gets stuck does not hold up the others."""
    states = encode_cases(policy, [problem.case for problem in problems], encodings)
    beams = _Beams(policy, problems, settings, states)
    for _ in range(settings.max_splices):
        if not beams.live:
            break
        stop_if_unwanted()
        beams.advance()
    beams.close()
    return beams.outcomes


class _Beams:
    """The state of the search: `starts` items per problem, each with its live hypotheses."""

    def __init__(
        self,
        policy: FullModel,
        problems: Sequence[Problem],
        settings: BeamSettings,
        states: CaseStates,
    ) -> None:
        self.policy = policy
        self.problems = problems
        self.settings = settings
        self.states = states
        self.tables: Tables | None = None
        self.outcomes = [Outcome() for _ in problems]
        self.live = [Hypothesis.empty(item) for item in range(len(problems) * settings.starts)]
        self.seen: list[set[bytes]] = [set() for _ in self.live]
        self.closed = [p.closed(k) for p, k in zip(problems, states.keys, strict=True)]
        self.max_canvas = policy.shape.config.max_positions - 2

    def advance(self) -> None:
        """One more splice on each live canvas, and Stop where it is among the best."""
        read = self._read()
        picks = self._first_decisions(read)
        live = self._second_decisions(read, picks) if picks else []
        self.live = prune(live, self.outcomes, self.settings)

    def close(self) -> None:
        """After the last round: Stop is all that is left."""
        if not self.live:
            return
        stops: list[float] = best_first(self.policy, self._read(), self._shut(), 1).stop.tolist()
        for hypothesis, stop in zip(self.live, stops, strict=True):
            if hypothesis.may_stop and stop > -INFINITY:
                self._finish(hypothesis, stop)

    def _read(self) -> Read:
        read = read_canvases(self.policy, self.states, self._canvases(), self.tables)
        self.tables = read.tables
        return read

    def _case_of(self) -> NDArray[np.int64]:
        return np.array([h.item // self.settings.starts for h in self.live], dtype=np.int64)

    def _canvases(self) -> Canvases:
        case_of = self._case_of()
        lengths = np.array([len(h.ids) for h in self.live], dtype=np.int64)
        tables = max(len(self.problems[case].case.table) for case in case_of)
        ids = np.zeros((len(self.live), max(int(lengths.max()), 1)), dtype=np.int32)
        ages = np.zeros_like(ids)
        copied = np.zeros((len(self.live), tables), dtype=np.bool_)
        for row, hypothesis in enumerate(self.live):
            length = len(hypothesis.ids)
            ids[row, :length] = hypothesis.ids
            source, position, step = hypothesis.origins.T
            ages[row, :length] = len(hypothesis.splices) - step
            copied[row, position[source == TABLE]] = True
        return Canvases(case_of, ids, lengths, ages, copied)

    def _first_decisions(self, read: Read) -> list[list[FirstDecision]]:
        """The top K of each item; Stops among them finish their texts."""
        width = self.settings.beam
        if any(len(hypothesis.ids) for hypothesis in self.live):
            found, stops = self._best_first_decisions(read)
        else:
            first = scores_of(self.policy, read)
            found, stops = [self._best_of_start(first, row) for row in range(len(self.live))], first.stop
        picks: dict[int, list[FirstDecision]] = {}
        for hypothesis, own in zip(self.live, found, strict=True):
            picks.setdefault(hypothesis.item, []).extend(own)
        best = {item: sorted(p, key=FirstDecision.order)[:width] for item, p in picks.items()}
        for hypothesis, stop in zip(self.live, stops.tolist(), strict=True):
            rivals = best[hypothesis.item]
            total = hypothesis.total + stop
            if hypothesis.may_stop and sum(rival.total > total for rival in rivals) < width:
                self._finish(hypothesis, stop)
        return [p for p in best.values() if p]

    def _best_first_decisions(self, read: Read) -> tuple[list[list[FirstDecision]], NDArray[np.float32]]:
        """The top K of each hypothesis, all of which have a canvas; and their Stops."""
        best = best_first(self.policy, read, self._shut(), self.settings.beam)
        totals = np.array([h.total for h in self.live])[:, None] + best.values
        rows = zip(best.gaps.tolist(), best.columns.tolist(), totals.tolist(), strict=True)
        return [
            [FirstDecision(row, *each) for each in zip(*own, strict=True) if each[2] > -INFINITY]
            for row, own in enumerate(rows)
        ], best.stop

    def _shut(self) -> Shut:
        """What no splice of each live canvas may begin with: all but forced values, where there are any."""
        ended = np.array([h.ended for h in self.live])
        table, keys = self.closed_keys
        at = 2 * self._case_of() + ended
        shut = Shut(table[at], keys[at], np.array([len(h.ids) for h in self.live]) - ended)
        for row, hypothesis in enumerate(self.live):
            if hypothesis.forced:
                shut.keys[row] = True
                begins = [segment.start for segment in hypothesis.forced]
                shut.table[row] |= ~np.isin(np.arange(shut.table.shape[1]), begins)
        return shut

    @cached_property
    def closed_keys(self) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """The tokens of each case's table that are closed, and its open columns: before end and after."""
        sizes = self.states.table_sizes
        table = np.ones((2 * len(sizes), int(sizes.max())), dtype=np.bool_)
        keys = np.ones((2 * len(sizes), max(map(len, self.states.open))), dtype=np.bool_)
        for row in range(len(table)):
            case, ended = divmod(row, 2)
            closed = self._is_closed(case, begun=True, ended=bool(ended))
            table[row, : sizes[case]] = closed[: sizes[case]]
            keys[row, : len(self.states.open[case])] = closed[self.states.open[case]]
        return table, keys

    def _is_closed(self, case: int, *, begun: bool, ended: bool) -> NDArray[np.bool_]:
        """The keys that no splice of a canvas may begin with: begin must come first, end last."""
        word = self.states.keys[case].word
        closed = (word == BEGIN_ID) == begun
        if ended:
            closed |= word == END_ID
        by_rules = self.closed[case]
        return closed if by_rules is None else closed | by_rules

    def _best_of_start(self, first: FirstScores, row: int) -> list[FirstDecision]:
        """The top K on an empty canvas: of the source whose best key has its rank among the sources."""
        hypothesis = self.live[row]
        case, rank = divmod(hypothesis.item, self.settings.starts)
        keys = self.states.keys[case]
        scores = first.of(row)[0].cpu().numpy().copy()
        scores[self._is_closed(case, begun=False, ended=False)] = -np.inf
        if hypothesis.forced:
            begins = [segment.start for segment in hypothesis.forced]
            scores[~np.isin(np.arange(len(scores)), begins)] = -np.inf
        order = np.argsort(-scores, kind="stable")
        order = order[scores[order] > -INFINITY]
        if self.settings.starts > 1:
            sources = list(dict.fromkeys(keys.source[order].tolist()))
            source = sources[rank] if rank < len(sources) else -1
            order = order[keys.source[order] == source]
        best = order[: self.settings.beam].tolist()
        return [FirstDecision(row, 0, at, hypothesis.total + float(scores[at])) for at in best]

    def _second_decisions(self, read: Read, picks: Sequence[Sequence[FirstDecision]]) -> list[Hypothesis]:
        """The top K of each item among all that can follow its first decisions; each canvas once."""
        flat = [pick for item in picks for pick in item]
        scores = second_scores(
            self.policy,
            read,
            np.array([pick.row for pick in flat], dtype=np.int64),
            np.array([pick.start for pick in flat], dtype=np.int64),
            np.array([pick.column for pick in flat], dtype=np.int64),
        )
        scores = self._restrict_second(scores, flat)
        spans = scores.shape[2]
        # Twice the width, since several of them may lead to the same canvas.
        best = torch.topk(scores.flatten(1), min(2 * self.settings.beam, scores[0].numel()), dim=1)
        ways = [
            _best_first(pick, own.flatten(), *top)
            for pick, own, *top in zip(flat, scores, best.values.tolist(), best.indices.tolist(), strict=True)
        ]
        live: list[Hypothesis] = []
        offset = 0
        for item in picks:
            kept = 0
            for total, pick, place in merge(*ways[offset : offset + len(item)], key=_falling):
                extended = self._extend(pick, place // spans, place % spans + 1, total)
                if extended is not None:
                    live.append(extended)
                    kept += 1
                    if kept == self.settings.beam:
                        break
            offset += len(item)
        return live

    def _restrict_second(self, scores: Tensor, picks: Sequence[FirstDecision]) -> Tensor:
        """Second scores without what end, the rules and the number of positions rule out."""
        for row, pick in enumerate(picks):
            hypothesis = self.live[pick.row]
            case = hypothesis.item // self.settings.starts
            length = len(hypothesis.ids)
            rest = self._rest(case, pick)
            if rest[-1] == END_ID:
                # A span that includes the source's end fits only where nothing is right of it.
                scores[row, : length + hypothesis.ended, len(rest) - 1] = -INFINITY
            if hypothesis.ended:
                scores[row, length] = -INFINITY
            allowed = self._allowed(pick, rest[: scores.shape[2]])
            if allowed is not None:
                rows, columns = allowed.shape
                block = scores[row, pick.start : pick.start + rows, :columns]
                block.masked_fill_(self.policy.here(~allowed), -INFINITY)
            if self.settings.misplaced:
                others = self._places_of_others(case, pick)
                scores[row, pick.start + 1 : pick.start + 1 + others] -= self.settings.misplaced
        return scores

    def _places_of_others(self, case: int, pick: FirstDecision) -> int:
        """How many tokens right of the gap are other fields' places; 0 if the key is no value."""
        read = self.problems[case].case
        if pick.column >= len(read.table):
            return 0
        numbering = self.states.keys[case].numbering
        origins = self.live[pick.row].origins[pick.start :, :2].tolist()
        fields = (
            int(read.mask_fields[numbering.rank(source)][position]) if numbering.is_neighbor(source) else -1
            for source, position in origins
        )
        return places_of_others(fields, int(read.value_fields[pick.column]))

    def _allowed(self, pick: FirstDecision, rest: NDArray[np.int32]) -> NDArray[np.bool_] | None:
        """What may follow a first decision, by (stop - start, end - begin - 1); None if all may."""
        hypothesis = self.live[pick.row]
        case = hypothesis.item // self.settings.starts
        problem, closed = self.problems[case], self.closed[case]
        length = len(hypothesis.ids)
        if not problem.rules and length + len(rest) <= self.max_canvas:
            return None
        sizes = np.arange(1, len(rest) + 1)[None, :]
        removed = np.arange(length - pick.start + 1)[:, None]
        allowed = length - removed + sizes <= self.max_canvas
        if closed is not None:
            allowed &= ~np.logical_or.accumulate(closed[pick.column : pick.column + len(rest)])
        if hypothesis.forced:
            whole = [s.stop - s.start for s in hypothesis.forced if s.start == pick.column]
            allowed &= np.isin(sizes, whole)
        canvas, tail = problem.spell(hypothesis.ids), problem.spell(rest)
        for rule in problem.rules:
            by_rule = rule.splices(canvas, pick.start, tail)
            if by_rule is not None:
                allowed &= by_rule
        return allowed

    def _rest(self, case: int, pick: FirstDecision) -> NDArray[np.int32]:
        """The source of a first decision from its first token on; a word is a source of its own."""
        keys = self.states.keys[case]
        part = int(np.searchsorted(keys.offsets, pick.column, side="right"))
        is_word = pick.column >= keys.offsets[-2]
        stop = pick.column + 1 if is_word else int(keys.offsets[part])
        return keys.word[pick.column : stop].astype(np.int32)

    def _extend(self, pick: FirstDecision, stop: int, size: int, total: float) -> Hypothesis | None:
        """The canvas after a splice; None if the beam has seen it before."""
        parent = self.live[pick.row]
        case = parent.item // self.settings.starts
        keys = self.states.keys[case]
        source, begin = int(keys.source[pick.column]), int(keys.begin[pick.column])
        laid = keys.word[pick.column : pick.column + size].astype(np.int32)
        ids = np.concatenate((parent.ids[: pick.start], laid, parent.ids[stop:]))
        canvas = ids.tobytes()
        if canvas in self.seen[parent.item]:
            return None
        self.seen[parent.item].add(canvas)
        span = np.empty((size, 3), dtype=np.int32)
        span[:, 0], span[:, 2] = source, len(parent.splices)
        span[:, 1] = np.arange(begin, begin + size)
        origins = np.concatenate((parent.origins[: pick.start], span, parent.origins[stop:]))
        splices = (*parent.splices, Splice(pick.start, stop, source, begin, begin + size))
        may_stop, forced = self._verdict(case, ids, origins, splices, total)
        return Hypothesis(parent.item, ids, origins, splices, total, may_stop, forced)

    def _verdict(
        self,
        case: int,
        ids: NDArray[np.int32],
        origins: NDArray[np.int32],
        splices: tuple[Splice, ...],
        total: float,
    ) -> tuple[bool, tuple[Segment, ...]]:
        """Whether a canvas may be given as a text; if not, the values that it must still place."""
        problem, outcome = self.problems[case], self.outcomes[case]
        score = total / (2 * len(splices))
        reason = obstacle(ids, ID_MARKS)
        if reason is not None:
            outcome.hinder(f"{reason} within {self.settings.max_splices} splices", rule=False, score=score)
            return False, ()
        text = problem.draft(ids, origins, splices)
        broken = broken_rule(problem.rules, text)
        if broken is not None:
            outcome.hinder(broken, rule=True, score=score)
            return False, tuple(s for rule in problem.rules for s in rule.missing(text))
        outcome.could_end(Candidate(splices, tuple(ids[1:-1].tolist()), score))
        return True, ()

    def _finish(self, hypothesis: Hypothesis, stop: float) -> None:
        score = (hypothesis.total + stop) / (2 * len(hypothesis.splices) + 1)
        text = Candidate(hypothesis.splices, tuple(hypothesis.ids[1:-1].tolist()), score)
        self.outcomes[hypothesis.item // self.settings.starts].finish(text)


def _best_first(
    pick: FirstDecision, scores: Tensor, values: list[float], places: list[int]
) -> Iterator[tuple[float, FirstDecision, int]]:
    """Totals of what may follow a first decision, best first; the rest is sorted only if it is needed."""
    for value, place in zip(values, places, strict=True):
        if value == -INFINITY:
            return
        yield pick.total + value, pick, place
    known = set(places)
    order = scores.argsort(descending=True, stable=True)
    for value, place in zip(scores[order].tolist(), order.tolist(), strict=True):
        if value > -INFINITY and place not in known:
            yield pick.total + value, pick, place


def _falling(way: tuple[float, FirstDecision, int]) -> float:
    return -way[0]
