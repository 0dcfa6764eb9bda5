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
from heapq import merge
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from textsplice.oracle.canvas import ID_MARKS, obstacle
from textsplice.oracle.numbering import TABLE
from textsplice.oracle.splice import Splice
from textsplice.policy.full.hypothesis import INFINITY, BeamSettings, FirstDecision, Hypothesis
from textsplice.policy.full.model import FullModel
from textsplice.policy.full.pruning import prune
from textsplice.policy.full.scores import (
    Canvases,
    CaseStates,
    FirstScores,
    encode_cases,
    first_scores,
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
        self.closed_columns: dict[tuple[int, bool, bool], NDArray[np.bool_]] = {}
        self.max_canvas = policy.shape.config.max_positions - 2

    def advance(self) -> None:
        """One more splice on each live canvas, and Stop where it is among the best."""
        first = self._first_scores()
        picks = self._first_decisions(first)
        live = self._second_decisions(first, picks) if picks else []
        self.live = prune(live, self.outcomes, self.settings)

    def close(self) -> None:
        """After the last round: Stop is all that is left."""
        if not self.live:
            return
        first = self._first_scores()
        for hypothesis, stop in zip(self.live, first.stop.tolist(), strict=True):
            if hypothesis.may_stop and stop > -INFINITY:
                self._finish(hypothesis, stop)

    def _first_scores(self) -> FirstScores:
        first = first_scores(self.policy, self.states, self._canvases(), self.tables)
        self.tables = first.tables
        return first

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

    def _first_decisions(self, first: FirstScores) -> list[list[FirstDecision]]:
        """The top K of each item; Stops among them finish their texts."""
        width = self.settings.beam
        if any(len(hypothesis.ids) for hypothesis in self.live):
            found = self._best_first_decisions(first)
        else:
            found = [self._best_of_start(first, row) for row in range(len(self.live))]
        stops: list[float] = first.stop.tolist()
        picks: dict[int, list[FirstDecision]] = {}
        for hypothesis, own in zip(self.live, found, strict=True):
            picks.setdefault(hypothesis.item, []).extend(own)
        best = {item: sorted(p, key=FirstDecision.order)[:width] for item, p in picks.items()}
        for hypothesis, stop in zip(self.live, stops, strict=True):
            rivals = best[hypothesis.item]
            total = hypothesis.total + stop
            if hypothesis.may_stop and sum(rival.total > total for rival in rivals) < width:
                self._finish(hypothesis, stop)
        return [p for p in best.values() if p]

    def _best_first_decisions(self, first: FirstScores) -> list[list[FirstDecision]]:
        """The top K of each hypothesis, all of which have a canvas."""
        parts = zip(*self._best_parts(first), strict=True)
        values, gaps, columns = (np.concatenate(pair, axis=1) for pair in parts)
        order = np.lexsort((columns, gaps, -values), axis=1)[:, : self.settings.beam]
        values, gaps, columns = (np.take_along_axis(part, order, 1) for part in (values, gaps, columns))
        totals = np.array([h.total for h in self.live])[:, None] + values
        return [
            [FirstDecision(row, *each) for each in zip(*own, strict=True) if each[2] > -INFINITY]
            for row, own in enumerate(zip(gaps.tolist(), columns.tolist(), totals.tolist(), strict=True))
        ]

    def _best_parts(self, first: FirstScores) -> Iterator[tuple[NDArray[Any], ...]]:
        """Log-probabilities, gaps and columns of the best: among the table's tokens, among all other keys."""
        width = self.settings.beam
        total = first.total.cpu().numpy()[:, None]
        shut = self._shut_gaps(first)
        table = self._open_table(first).masked_fill_(self.policy.here(shut)[:, :, None], -INFINITY)
        flat = table.flatten(1)
        top = torch.topk(flat, min(width, flat.shape[1]), dim=1)
        places = top.indices.cpu().numpy()
        yield top.values.cpu().numpy() - total, places // table.shape[2], places % table.shape[2]
        # The K best pairs are in the K gaps that have the best key.
        highest = np.full(shut.shape, -np.inf, dtype=np.float32)
        inside = np.arange(shut.shape[1]) <= first.lengths[:, None]
        for case in first.keys:
            self._close_keys(first, case)
            of_case = (first.case_of == case)[:, None] & inside
            highest[of_case] = first.keys[case].amax(dim=1).cpu().numpy()
        highest[shut] = -np.inf
        gaps = np.argsort(-highest, axis=1, kind="stable")[:, :width]
        count = min(width, min(keys.shape[1] for keys in first.keys.values()))
        shape = (len(self.live), gaps.shape[1], count)
        values, columns = np.empty(shape, dtype=np.float32), np.empty(shape, dtype=np.int64)
        for case, keys in first.keys.items():
            rows = np.flatnonzero(first.case_of == case)
            inside_canvas = np.minimum(gaps[rows], first.lengths[rows][:, None])
            at = self.policy.here((first.first_gap[rows][:, None] + inside_canvas).ravel())
            top = torch.topk(keys.index_select(0, at), count, dim=1)
            values[rows] = top.values.cpu().numpy().reshape(len(rows), *shape[1:])
            columns[rows] = self.states.open[case][top.indices.cpu().numpy()].reshape(len(rows), *shape[1:])
        values[np.take_along_axis(highest, gaps, 1) == -np.inf] = -np.inf
        flat_gaps = np.repeat(gaps, count, axis=1)
        yield values.reshape(len(gaps), -1) - total, flat_gaps, columns.reshape(len(gaps), -1)

    def _shut_gaps(self, first: FirstScores) -> NDArray[np.bool_]:
        """The gaps that no splice may begin at: before begin, after end, beyond the canvas."""
        places = np.arange(first.table.shape[1])
        last = first.lengths - np.array([h.ended for h in self.live])
        return (places > last[:, None]) | (places == 0)

    def _open_table(self, first: FirstScores) -> Tensor:
        """The scores of the table's tokens without those that are closed."""
        for row, hypothesis in enumerate(self.live):
            case = hypothesis.item // self.settings.starts
            size = len(self.problems[case].case.table)
            shut = self._is_closed(case, begun=True, ended=hypothesis.ended)[:size]
            if hypothesis.forced:
                shut = shut | ~np.isin(np.arange(size), [segment.start for segment in hypothesis.forced])
            if shut.any():
                first.table[row, :, : len(shut)].index_fill_(
                    1, self.policy.here(np.flatnonzero(shut)), -INFINITY
                )
        return first.table

    def _close_keys(self, first: FirstScores, case: int) -> None:
        """Excludes the keys that are closed to the canvases of a case: all, where values are forced."""
        keys, columns = first.keys[case], self.states.open[case]
        closed = {
            ended: self.policy.here(np.flatnonzero(self._is_closed(case, begun=True, ended=ended)[columns]))
            for ended in (False, True)
        }
        for row in np.flatnonzero(first.case_of == case).tolist():
            hypothesis, at = self.live[row], int(first.first_gap[row])
            own = keys[at : at + len(hypothesis.ids) + 1]
            if hypothesis.forced:
                own.fill_(-INFINITY)
            else:
                own.index_fill_(1, closed[hypothesis.ended], -INFINITY)

    def _is_closed(self, case: int, *, begun: bool, ended: bool) -> NDArray[np.bool_]:
        """The keys that no splice of a canvas may begin with: begin must come first, end last."""
        state = (case, begun, ended)
        closed = self.closed_columns.get(state)
        if closed is None:
            word = self.states.keys[case].word
            closed = (word == BEGIN_ID) == begun
            if ended:
                closed |= word == END_ID
            by_rules = self.closed[case]
            if by_rules is not None:
                closed |= by_rules
            self.closed_columns[state] = closed
        return closed

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

    def _second_decisions(
        self, first: FirstScores, picks: Sequence[Sequence[FirstDecision]]
    ) -> list[Hypothesis]:
        """The top K of each item among all that can follow its first decisions; each canvas once."""
        flat = [pick for item in picks for pick in item]
        scores = second_scores(
            self.policy,
            first,
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
        scores = scores.clone()
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
