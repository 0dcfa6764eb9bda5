"""FULL's decisions at the canvases of a beam: log-probabilities of everything that may be chosen.

Shapes in comments: H hypotheses, M first decisions, K columns of a case (see `cases`), V generable
words, S tokens of a table, R rows and L width of a block, G gaps, E ends, d model width.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from textsplice.policy.cases import Case, Keys
from textsplice.policy.device import to_device
from textsplice.policy.full.model import FullModel
from textsplice.policy.packing import Packing, pack, padding_mask
from textsplice.policy.policy import Encoded
from textsplice.policy.transformer import Context, sequences
from textsplice.text.vocabulary import PAD_ID

NEVER = float("-inf")


@dataclass(frozen=True)
class CaseStates:
    """What is computed once per case, before the first canvas; `keys[c]` says what the columns mean."""

    cases: list[Case]
    keys: list[Keys]
    first_keys: list[Tensor]  # per case, [neighbor tokens + V, d]
    neighbors: Tensor  # [neighbor tokens of all cases, d]
    neighbor_ends: Tensor  # the second head's keys of the same
    neighbor_start: NDArray[np.int64]  # where each case begins in them, and where the last ends
    words: Tensor  # [V, d]
    word_ends: Tensor
    shut: list[Tensor]  # per case: the columns that no splice may begin with


@dataclass(frozen=True)
class Canvases:
    """The canvases of `H` hypotheses, without padding tokens on either side.

    `case_of[h]`: which case of the `CaseStates`. `ids[h, :lengths[h]]`: tokens, as the policy reads them;
    `ages[h, :]`: how many splices ago each was placed (1 = by the last splice). `copied[h, :S]`: whether each
    token of the case's table is on the canvas. Anything beyond a row's length is ignored.
    """

    case_of: NDArray[np.int64]
    ids: NDArray[np.int32]
    lengths: NDArray[np.int64]
    ages: NDArray[np.int32]
    copied: NDArray[np.bool_]


@dataclass(frozen=True)
class FirstScores:
    """First decisions: `log_probs[h, start, column]`, `stop[h]`; exactly -inf where nothing is allowed.

    `start` goes from 0 to the longest canvas of the batch, `column` as in `Keys`, padded with -inf. This is
    by far the largest tensor of a search: the caller may overwrite it. The rest is what the second decision
    needs: the states of canvases and tables, and where those of each hypothesis begin.
    """

    log_probs: Tensor  # [H, G, K]
    stop: Tensor  # [H]
    states: CaseStates
    case_of: NDArray[np.int64]
    lengths: NDArray[np.int64]
    canvas: Tensor
    canvas_start: NDArray[np.int64]
    tables: Tensor
    table_start: NDArray[np.int64]


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
    return CaseStates(
        cases=list(cases),
        keys=keys,
        first_keys=[torch.cat([own, word_keys]) for own in first_keys],
        neighbors=every,
        neighbor_ends=policy.second.neighbor_keys(every),
        neighbor_start=np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
        words=words,
        word_ends=policy.second.word_keys(words),
        shut=[policy.here(np.flatnonzero(~own.allowed)) for own in keys],
    )


@torch.no_grad()
def first_scores(policy: FullModel, states: CaseStates, canvases: Canvases) -> FirstScores:
    """The first decision at each canvas."""
    tables, table_start = _encode_tables(policy, states, canvases)
    packing = pack(canvases.lengths + 2)
    canvas = _decode(policy, states, canvases, packing, tables, table_start)
    table_keys = policy.first.table_keys(tables)

    hypotheses = len(canvases.case_of)
    columns = max((len(states.keys[c]) for c in set(canvases.case_of.tolist())), default=0)
    gaps = int(canvases.lengths.max(initial=0)) + 1
    log_probs = torch.empty(hypotheses, gaps, columns, device=policy.device)
    stop = torch.empty(hypotheses, device=policy.device)
    for case in np.unique(canvases.case_of).tolist():
        rows = np.flatnonzero(canvases.case_of == case)
        lengths = canvases.lengths[rows]
        places = np.arange(int(lengths.max()) + 1)
        at, width = policy.here(rows), len(places)
        # A gap has the state of the token left of it; no gap is right of the last padding token.
        inside = packing.start[rows][:, None] + np.minimum(places, lengths[:, None])
        gap = functional.embedding(policy.here(inside), canvas)  # [R, L, d]
        size = len(states.cases[case].table)
        own = functional.embedding(policy.here(table_start[rows][:, None] + np.arange(size)), table_keys)
        scores = torch.cat([gap @ own.mT, gap @ states.first_keys[case].T], dim=2)  # [R, L, K]
        scores.index_fill_(2, states.shut[case], NEVER)
        scores.masked_fill_(policy.here(places > lengths[:, None])[:, :, None], NEVER)
        ends = gap[:, 0] @ policy.first.stop  # [R]
        total = torch.logaddexp(scores.flatten(1).logsumexp(dim=1), ends)
        log_probs[at, :width, : scores.shape[2]] = scores.sub_(total[:, None, None])
        log_probs[at, width:] = NEVER
        log_probs[at, :width, scores.shape[2] :] = NEVER
        stop[at] = ends - total
    return FirstScores(
        log_probs=log_probs,
        stop=stop,
        states=states,
        case_of=canvases.case_of,
        lengths=canvases.lengths,
        canvas=canvas,
        canvas_start=packing.start,
        tables=tables,
        table_start=table_start,
    )


@torch.no_grad()
def second_scores(
    policy: FullModel,
    first: FirstScores,
    hypothesis: NDArray[np.int64],
    start: NDArray[np.int64],
    column: NDArray[np.int64],
) -> Tensor:
    """The second decision after each of `M` first ones: `log_probs[m, stop, end - begin - 1]`.

    `hypothesis` says which canvas of `first`. The last axis is the length of the span: index 0 is
    `end == begin + 1`. Exactly -inf where `stop < start`, beyond the canvas, beyond the source or the table's
    segment, and where the span would end at a mask.
    """
    head = policy.second
    states = first.states
    case_of = first.case_of[hypothesis]
    limit = np.array([states.keys[c].limit[k] for c, k in zip(case_of, column, strict=True)])
    lengths = first.lengths[hypothesis]
    place = _encoded_places(first, hypothesis, column)

    longest = int(lengths.max(initial=0))
    stops = np.arange(longest + 1)
    # The canvas begins after one padding token, so the token that follows `stop` is at `stop + 1`.
    follows = first.canvas_start[hypothesis][:, None] + 1 + np.minimum(stops, lengths[:, None])
    canvas = functional.embedding(policy.here(follows), first.canvas)

    spans = np.arange(int((limit - column).max(initial=1)))
    inside = np.minimum(spans, (limit - column - 1)[:, None])
    ends = torch.cat([states.neighbor_ends, head.table_keys(first.tables), states.word_ends])
    keys = functional.embedding(policy.here(place[:, None] + inside), ends)
    if head.conditioned:
        gap = policy.here(first.canvas_start[hypothesis] + start)
        encoded = torch.cat([states.neighbors, first.tables, states.words])
        begin = functional.embedding(policy.here(place), encoded)
        to_canvas, to_keys = head.condition(functional.embedding(gap, first.canvas), begin)
        canvas, keys = canvas + to_canvas[:, None], keys + to_keys[:, None]

    end_allowed = np.stack(
        [
            states.keys[c].allowed[np.minimum(k + spans, len(states.keys[c]) - 1)]
            for c, k in zip(case_of, column, strict=True)
        ]
    ) & (spans < (limit - column)[:, None])
    stop_allowed = (stops >= start[:, None]) & (stops <= lengths[:, None])
    allowed = policy.here(stop_allowed[:, :, None] & end_allowed[:, None, :])
    scores = (canvas @ keys.mT).masked_fill(~allowed, NEVER)
    return scores - scores.flatten(1).logsumexp(dim=1)[:, None, None]


def _encode_tables(
    policy: FullModel, states: CaseStates, canvases: Canvases
) -> tuple[Tensor, NDArray[np.int64]]:
    """Encodes each distinct (table, copied flags) once; also where the table of each hypothesis begins."""
    sizes = np.array([len(case.table) for case in states.cases], dtype=np.int64)
    width = canvases.copied.shape[1]
    there = np.arange(width) < sizes[canvases.case_of][:, None]
    what = np.column_stack([canvases.case_of, np.packbits(canvases.copied & there, axis=1)])
    _, index, state_of = np.unique(what, axis=0, return_index=True, return_inverse=True)
    cases = canvases.case_of[index]
    packing = pack(sizes[cases])
    ids = np.concatenate([states.cases[c].table for c in cases.tolist()])
    features = canvases.copied[index][there[index]].astype(np.int32)
    read = sequences(policy.shape, packing, packing.spread(ids), packing.spread(features))
    return policy.encode(to_device(read, policy.device)), packing.start[state_of]


def _decode(
    policy: FullModel,
    states: CaseStates,
    canvases: Canvases,
    packing: Packing,
    tables: Tensor,
    table_start: NDArray[np.int64],
) -> Tensor:
    there = np.arange(canvases.ids.shape[1]) < canvases.lengths[:, None]
    columns = np.nonzero(there)[1]
    places = np.repeat(packing.start, canvases.lengths) + 1 + columns
    ids = np.full(packing.size, PAD_ID, dtype=np.int64)
    ids[places] = canvases.ids[there]
    ages = np.zeros(packing.size, dtype=np.int64)
    ages[places] = np.minimum(canvases.ages[there], policy.shape.config.max_age)
    sizes = np.array([len(case.table) for case in states.cases], dtype=np.int64)[canvases.case_of]
    contexts: list[Context] = []
    row = 0
    for block in packing.blocks:
        rows = packing.order[row : row + block.rows]
        row += block.rows
        width = int(sizes[rows].max())
        inside = np.minimum(np.arange(width), sizes[rows][:, None] - 1)
        own = torch.from_numpy(table_start[rows][:, None] + inside)
        contexts.append(Context(own, padding_mask(sizes[rows], width)))
    read, contexts = to_device((sequences(policy.shape, packing, ids, ages), contexts), policy.device)
    return policy.decode(read, tables, contexts)


def _encoded_places(
    first: FirstScores, hypothesis: NDArray[np.int64], column: NDArray[np.int64]
) -> NDArray[np.int64]:
    """The place of each column of a hypothesis in `[neighbors of all cases | tables | words]`."""
    states = first.states
    sizes = np.diff(states.neighbor_start)
    tables = len(states.neighbors)
    words = tables + len(first.tables)
    case = first.case_of[hypothesis]
    table_length = np.array([len(c.table) for c in states.cases], dtype=np.int64)[case]
    beyond_table = column - table_length
    return np.select(
        [beyond_table < 0, beyond_table < sizes[case]],
        [tables + first.table_start[hypothesis] + column, states.neighbor_start[case] + beyond_table],
        words + beyond_table - sizes[case],
    )
