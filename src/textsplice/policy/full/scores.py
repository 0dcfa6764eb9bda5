"""FULL's decisions at the canvases of a beam: log-probabilities of everything that may be chosen.

Shapes in comments: H hypotheses, M first decisions, K columns of a case (see `cases`), V generable
words, S tokens of a table, R rows and L width of a block, G gaps, E ends, d model width.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from textsplice.policy.cases import Case, Keys
from textsplice.policy.full.decision_kernels import decide_second
from textsplice.policy.full.model import FullModel
from textsplice.policy.full.tables import Tables, encode_tables
from textsplice.policy.policy import Encoded
from textsplice.policy.reading import Known, Texts
from textsplice.policy.vectors import VECTOR
from textsplice.text.vocabulary import PAD_ID

NEVER = float("-inf")


class KeyColumns(NamedTuple):
    """The keys of cases as the columns of matrices one after another, each `VECTOR` wide or a multiple."""

    flat: NDArray[np.float32]
    at: NDArray[np.int64]  # where each case's begins
    counts: NDArray[np.int64]  # how many keys it has


@dataclass(frozen=True)
class CaseStates:
    """What is computed once per case, before the first canvas; `keys[c]` says what the columns mean."""

    cases: list[Case]
    keys: list[Keys]
    first_keys: list[Tensor]  # per case, [its open columns, d]
    open: list[NDArray[np.int64]]  # per case: the columns beyond the table that a splice may begin with
    neighbors: Tensor  # [neighbor tokens of all cases, d]
    neighbor_ends: Tensor  # the second head's keys of the same
    neighbor_start: NDArray[np.int64]  # where each case begins in them, and where the last ends
    words: Tensor  # [V, d]
    word_ends: Tensor
    table_sizes: NDArray[np.int64]  # [cases]
    table_shut: NDArray[np.bool_]  # [cases, S]: padding, and what no splice may begin with

    @cached_property
    def key_columns(self) -> KeyColumns:
        """The keys of all cases, as compiled functions multiply them."""
        counts = np.array([len(keys) for keys in self.first_keys], dtype=np.int64)
        widths = -(-counts // VECTOR) * VECTOR
        parts = [
            functional.pad(keys, (0, 0, 0, int(width) - len(keys))).T.flatten()
            for keys, width in zip(self.first_keys, widths, strict=True)
        ]
        sizes = np.array([len(part) for part in parts], dtype=np.int64)
        return KeyColumns(torch.cat(parts).numpy(), np.cumsum(sizes) - sizes, counts)


@dataclass(frozen=True)
class Canvases:
    """The canvases of `H` hypotheses, without padding tokens on either side.

    `case_of[h]`: which case of the `CaseStates`. `ids[h, :lengths[h]]`: tokens (ids of the whole vocabulary);
    `ages[h, :]`: how many splices ago each was placed (1 = by the last splice). `copied[h, :S]`: whether each
    token of the case's table is on the canvas. Anything beyond a row's length is ignored.
    """

    case_of: NDArray[np.int64]
    ids: NDArray[np.int32]
    lengths: NDArray[np.int64]
    ages: NDArray[np.int32]
    copied: NDArray[np.bool_]


@dataclass(frozen=True)
class Read:
    """Canvases and their tables, as the decoder has read them: what both decisions need."""

    states: CaseStates
    case_of: NDArray[np.int64]
    lengths: NDArray[np.int64]
    canvas: Tensor  # [tokens of canvases, with one padding token on either side; d]
    canvas_start: NDArray[np.int64]  # [H]
    tables: Tables
    table_start: NDArray[np.int64]  # [H]


@dataclass(frozen=True)
class FirstScores(Read):
    """First decisions, as scores with the softmax `exp(score - total)`; -inf where nothing is allowed.

    `keys[c]` holds a row for each gap of each canvas of case c, and a column for each of its open columns;
    the gaps of hypothesis h begin at row `first_gap[h]`. By far the largest tensors of a search: the caller
    may overwrite them, and `table`.
    """

    keys: dict[int, Tensor]
    first_gap: NDArray[np.int64]
    table: Tensor  # [H, G, S]
    total: Tensor  # [H]
    stop: Tensor  # [H]: log-probabilities

    def of(self, hypothesis: int) -> Tensor:
        """The log-probabilities of one hypothesis, `[its gaps, its columns]`."""
        case = int(self.case_of[hypothesis])
        gaps, keys = int(self.lengths[hypothesis]) + 1, self.states.keys[case]
        own = torch.full((gaps, len(keys)), NEVER, device=self.total.device)
        size = len(self.states.cases[case].table)
        own[:, :size] = self.table[hypothesis, :gaps, :size]
        at = int(self.first_gap[hypothesis])
        columns = torch.from_numpy(self.states.open[case]).to(own.device)
        own[:, columns] = self.keys[case][at : at + gaps]
        return own - self.total[hypothesis]

    @property
    def log_probs(self) -> Tensor:
        """All of them, `[H, G, K]`, padded with -inf; a search does not need them all."""
        every = [self.of(hypothesis) for hypothesis in range(len(self.case_of))]
        width = max((own.shape[1] for own in every), default=0)
        padded = torch.full((len(every), int(self.lengths.max(initial=0)) + 1, width), NEVER)
        padded = padded.to(self.total.device)
        for row, own in enumerate(every):
            padded[row, : own.shape[0], : own.shape[1]] = own
        return padded


@torch.no_grad()
def encode_cases(policy: FullModel, cases: Sequence[Case], encodings: Encoded | None = None) -> CaseStates:
    """The keys of each case; neighbors are encoded here unless their encodings are known."""
    neighbors = policy.encode_neighbors(cases, encodings)
    words = policy.word_states()
    word_keys = policy.first.word_keys(words)
    every = torch.cat(neighbors)
    sizes = [len(own) for own in neighbors]
    first_keys = policy.first.neighbor_keys(every).split(sizes)
    keys = [Keys(case, policy.shape.word_ids()) for case in cases]
    lengths = [len(case.table) for case in cases]
    opened = [n + np.flatnonzero(own.allowed[n:]) for n, own in zip(lengths, keys, strict=True)]
    table_shut = np.ones((len(cases), max(lengths)), dtype=np.bool_)
    for row, (length, own) in enumerate(zip(lengths, keys, strict=True)):
        table_shut[row, :length] = ~own.allowed[:length]
    return CaseStates(
        cases=list(cases),
        keys=keys,
        first_keys=[
            torch.cat([own, word_keys])[policy.here(columns - length)]
            for own, columns, length in zip(first_keys, opened, lengths, strict=True)
        ],
        open=opened,
        neighbors=every,
        neighbor_ends=policy.second.neighbor_keys(every),
        neighbor_start=np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
        words=words,
        word_ends=policy.second.word_keys(words),
        table_sizes=np.array(lengths, dtype=np.int64),
        table_shut=table_shut,
    )


@torch.no_grad()
def read_canvases(
    policy: FullModel, states: CaseStates, canvases: Canvases, known: Tables | None = None
) -> Read:
    """Reads each canvas; `known` are the tables of the canvases before."""
    case_of, lengths = canvases.case_of, canvases.lengths
    tables, table_start = encode_tables(policy, states.cases, case_of, canvases.copied, known)
    starts = np.cumsum(lengths + 2) - (lengths + 2)
    there = np.arange(canvases.ids.shape[1]) < lengths[:, None]
    places = np.repeat(starts + 1, lengths) + np.nonzero(there)[1]
    ids = np.full(int((lengths + 2).sum()), PAD_ID, dtype=np.int64)
    ids[places] = canvases.ids[there]
    ages = np.zeros_like(ids)
    ages[places] = np.minimum(canvases.ages[there], policy.shape.config.max_age)
    known_tables = Known(tables.layers, table_start, states.table_sizes[case_of])
    canvas = policy.read_canvases(Texts(ids, ages, lengths + 2), known_tables)
    return Read(states, case_of, lengths, canvas, starts, tables, table_start)


def first_scores(
    policy: FullModel, states: CaseStates, canvases: Canvases, known: Tables | None = None
) -> FirstScores:
    """The first decision at each canvas."""
    return scores_of(policy, read_canvases(policy, states, canvases, known))


@torch.no_grad()
def scores_of(policy: FullModel, read: Read) -> FirstScores:
    """The first decision at canvases that have been read."""
    states, case_of, lengths = read.states, read.case_of, read.lengths
    # A gap has the state of the token left of it; no gap is right of the last padding token.
    places = np.arange(int(lengths.max(initial=0)) + 1)
    inside = places <= lengths[:, None]
    row, place = np.nonzero(inside)
    gaps = functional.embedding(policy.here(read.canvas_start[row] + place), read.canvas)  # [all gaps, d]
    keys: dict[int, Tensor] = {}
    first_gap = np.zeros(len(lengths), dtype=np.int64)
    over_keys = torch.full(inside.shape, NEVER, device=policy.device)
    for case in np.unique(case_of).tolist():
        own = np.flatnonzero(case_of[row] == case)
        scores = keys[case] = gaps.index_select(0, policy.here(own)) @ states.first_keys[case].T
        over_keys[policy.here(row[own]), policy.here(place[own])] = scores.logsumexp(dim=1)
        mine = case_of == case
        first_gap[mine] = np.cumsum(lengths[mine] + 1) - (lengths[mine] + 1)
    table = _table_scores(policy, read, gaps, inside)
    ends = functional.embedding(policy.here(read.canvas_start), read.canvas) @ policy.first.stop  # [H]
    every = torch.cat([over_keys, table.logsumexp(dim=2), ends[:, None]], dim=1)
    total = every.logsumexp(dim=1)
    return FirstScores(
        **vars(read), keys=keys, first_gap=first_gap, table=table, total=total, stop=ends - total
    )


@torch.no_grad()
def second_scores(
    policy: FullModel,
    read: Read,
    hypothesis: NDArray[np.int64],
    start: NDArray[np.int64],
    column: NDArray[np.int64],
) -> Tensor:
    """The second decision after each of `M` first ones: `log_probs[m, stop, end - begin - 1]`.

    `hypothesis` says which canvas of `read`. The last axis is the length of the span: index 0 is
    `end == begin + 1`. Exactly -inf where `stop < start`, beyond the canvas, beyond the source or the table's
    segment, and where the span would end at a mask.
    """
    states = read.states
    case_of = read.case_of[hypothesis]
    limit = np.array([states.keys[c].limit[k] for c, k in zip(case_of, column, strict=True)])
    counts = limit - column
    spans = np.arange(int(counts.max(initial=1)))
    shut = spans >= counts[:, None]
    for row, (case, first, count) in enumerate(zip(case_of, column, counts, strict=True)):
        shut[row, :count] = ~states.keys[case].allowed[first : first + count]
    decide = _second_compiled if policy.compiled else _second_by_tensors
    return decide(policy, read, hypothesis, start, _places(read, hypothesis, column), counts, shut)


def _second_compiled(
    policy: FullModel,
    read: Read,
    hypothesis: NDArray[np.int64],
    start: NDArray[np.int64],
    places: tuple[NDArray[np.int64], NDArray[np.int64]],
    counts: NDArray[np.int64],
    shut: NDArray[np.bool_],
) -> Tensor:
    states, canvas, lengths = read.states, read.canvas, read.lengths[hypothesis]
    gap = read.canvas_start[hypothesis] + start
    kinds, rows = places
    to_canvas = to_keys = torch.zeros(len(hypothesis), canvas.shape[1])
    if policy.second.conditioned:
        begin = torch.empty_like(to_keys)
        for kind, encoded in enumerate((states.neighbors, read.tables.encoded, states.words)):
            mine = torch.from_numpy(np.flatnonzero(kinds == kind))
            begin[mine] = encoded[torch.from_numpy(rows[kinds == kind])]
        to_canvas, to_keys = policy.second.condition(canvas[torch.from_numpy(gap)], begin)
    scores = torch.full((len(hypothesis), int(lengths.max(initial=0)) + 1, shut.shape[1]), NEVER)
    of_neighbors, of_tables, of_words = (
        own.numpy().reshape(-1) for own in (states.neighbor_ends, read.tables.ends, states.word_ends)
    )
    decide_second(
        canvas.numpy().reshape(-1),
        canvas.shape[1],
        gap + 1,
        start,
        lengths - start + 1,
        to_canvas.contiguous().numpy(),
        (of_neighbors, of_tables, of_words),
        kinds,
        rows,
        counts,
        to_keys.contiguous().numpy(),
        shut,
        scores.numpy(),
    )
    return scores


def _second_by_tensors(
    policy: FullModel,
    read: Read,
    hypothesis: NDArray[np.int64],
    start: NDArray[np.int64],
    places: tuple[NDArray[np.int64], NDArray[np.int64]],
    counts: NDArray[np.int64],
    shut: NDArray[np.bool_],
) -> Tensor:
    head, states, lengths = policy.second, read.states, read.lengths[hypothesis]
    stops = np.arange(int(lengths.max(initial=0)) + 1)
    # The canvas begins after one padding token, so the token that follows `stop` is at `stop + 1`.
    follows = read.canvas_start[hypothesis][:, None] + 1 + np.minimum(stops, lengths[:, None])
    canvas = functional.embedding(policy.here(follows), read.canvas)
    kind, row = places
    place = row + np.array([0, len(states.neighbors), len(states.neighbors) + len(read.tables.encoded)])[kind]
    inside = np.minimum(np.arange(shut.shape[1]), (counts - 1)[:, None])
    ends = torch.cat([states.neighbor_ends, read.tables.ends, states.word_ends])
    keys = functional.embedding(policy.here(place[:, None] + inside), ends)
    if head.conditioned:
        gap = policy.here(read.canvas_start[hypothesis] + start)
        encoded = torch.cat([states.neighbors, read.tables.encoded, states.words])
        begin = functional.embedding(policy.here(place), encoded)
        to_canvas, to_keys = head.condition(functional.embedding(gap, read.canvas), begin)
        canvas, keys = canvas + to_canvas[:, None], keys + to_keys[:, None]
    stop_shut = (stops < start[:, None]) | (stops > lengths[:, None])
    closed = policy.here(stop_shut[:, :, None] | shut[:, None, :])
    scores = (canvas @ keys.mT).masked_fill(closed, NEVER)
    return scores - scores.flatten(1).logsumexp(dim=1)[:, None, None]


def _table_scores(policy: FullModel, read: Read, gaps: Tensor, inside: NDArray[np.bool_]) -> Tensor:
    """The scores of all gaps with the tokens of their own table, `[H, G, S]`."""
    grid = np.cumsum(inside).reshape(inside.shape) - 1
    canvas = functional.embedding(policy.here(grid), gaps)
    sizes = read.states.table_sizes[read.case_of]
    width = int(sizes.max(initial=1))
    places = read.table_start[:, None] + np.minimum(np.arange(width), sizes[:, None] - 1)
    own = functional.embedding(policy.here(places), read.tables.first_keys)
    scores = torch.bmm(canvas, own.mT)
    shut = ~inside[:, :, None] | read.states.table_shut[read.case_of, :width][:, None]
    return scores.masked_fill_(policy.here(shut), NEVER)


def _places(
    read: Read, hypothesis: NDArray[np.int64], column: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Where each column of a hypothesis is: 0 among the neighbors of all cases, 1 the tables, 2 the words."""
    states = read.states
    case = read.case_of[hypothesis]
    size = np.diff(states.neighbor_start)[case]
    beyond_table = column - states.table_sizes[case]
    kind = np.select([beyond_table < 0, beyond_table < size], [1, 0], 2)
    of_table = read.table_start[hypothesis] + column
    of_neighbor = states.neighbor_start[case] + beyond_table
    return kind, np.choose(kind, (of_neighbor, of_table, beyond_table - size))
