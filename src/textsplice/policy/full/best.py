"""The best first decisions of canvases: the pairs of a gap and a key that splices may begin with.

Shapes in comments: H hypotheses, S tokens of a table, W open columns beyond it (`CaseStates.open`), G gaps,
B pairs that are kept.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from textsplice.policy.full.decision_kernels import decide_first
from textsplice.policy.full.model import FullModel
from textsplice.policy.full.scores import FirstScores, Read, scores_of

NEVER = float("-inf")


class Shut(NamedTuple):
    """What a splice of each canvas may not begin with, and the last gap that it may begin at.

    No splice of a canvas with tokens begins at gap 0, before begin.
    """

    table: NDArray[np.bool_]  # [H, S]
    keys: NDArray[np.bool_]  # [H, W]
    last: NDArray[np.int64]  # [H]


class Best(NamedTuple):
    """The best pairs of each canvas, best first, and Stop: log-probabilities."""

    values: NDArray[np.float32]  # [H, B]; -inf where there is nothing more
    gaps: NDArray[np.int64]
    columns: NDArray[np.int64]
    stop: NDArray[np.float32]  # [H]


def best_first(policy: FullModel, read: Read, shut: Shut, width: int) -> Best:
    """The best `width` pairs of each canvas; ties go to the earlier gap and column."""
    if policy.compiled:
        totals, stop, parts = _compiled(policy, read, shut, width)
    else:
        first = scores_of(policy, read)
        totals, stop = first.total.cpu().numpy(), first.stop.cpu().numpy()
        parts = [_of_table(policy, first, shut, width), _of_keys(policy, first, shut, width)]
    values, gaps, columns = (np.concatenate(pair, axis=1) for pair in zip(*parts, strict=True))
    values = values - totals[:, None]
    order = np.lexsort((columns, gaps, -values), axis=1)[:, :width]

    def best(part: NDArray[Any]) -> NDArray[Any]:
        return np.take_along_axis(part, order, 1)

    return Best(best(values), best(gaps), best(columns), stop)


def _compiled(
    policy: FullModel, read: Read, shut: Shut, width: int
) -> tuple[NDArray[np.float32], NDArray[np.float32], list[tuple[NDArray[Any], ...]]]:
    states, case_of = read.states, read.case_of
    columns = states.key_columns
    canvas, own = read.canvas.numpy(), read.tables.first_keys.numpy()
    stops = canvas[read.canvas_start] @ policy.first.stop.detach().numpy()
    totals = np.empty_like(stops)
    shape = (len(case_of), width)
    of_table, of_keys = (
        (np.full(shape, NEVER, dtype=np.float32), np.zeros(shape, np.int64), np.zeros(shape, np.int64))
        for _ in range(2)
    )
    decide_first(
        canvas.reshape(-1),
        canvas.shape[1],
        read.canvas_start,
        read.lengths + 1,
        shut.last,
        columns.flat,
        columns.at[case_of],
        columns.counts[case_of],
        shut.keys,
        own.reshape(-1),
        read.table_start,
        states.table_sizes[case_of],
        states.table_shut[case_of],
        shut.table,
        stops,
        totals,
        of_table,
        of_keys,
    )
    values, gaps, places = of_keys
    for case in np.unique(case_of).tolist():
        if len(states.open[case]):
            places[case_of == case] = states.open[case][places[case_of == case]]
    return totals, stops - totals, [of_table, (values, gaps, places)]


def _of_table(policy: FullModel, first: FirstScores, shut: Shut, width: int) -> tuple[NDArray[Any], ...]:
    """Scores, gaps and tokens of the best pairs with a token of the table."""
    size = first.table.shape[2]
    closed = _shut_gaps(first, shut)[:, :, None] | shut.table[:, None, :size]
    flat = first.table.masked_fill_(policy.here(closed), NEVER).flatten(1)
    top = torch.topk(flat, min(width, flat.shape[1]), dim=1)
    places = top.indices.cpu().numpy()
    return top.values.cpu().numpy(), places // size, places % size


def _of_keys(policy: FullModel, first: FirstScores, shut: Shut, width: int) -> tuple[NDArray[Any], ...]:
    """The same with other keys; the best pairs are in the gaps that have the best key."""
    closed = _shut_gaps(first, shut)
    highest = np.full(closed.shape, NEVER, dtype=np.float32)
    inside = np.arange(closed.shape[1]) <= first.lengths[:, None]
    for case, keys in first.keys.items():
        mine = first.case_of == case
        of_gaps = np.repeat(shut.keys[mine, : keys.shape[1]], first.lengths[mine] + 1, axis=0)
        keys.masked_fill_(policy.here(of_gaps), NEVER)
        highest[mine[:, None] & inside] = keys.amax(dim=1).cpu().numpy()
    highest[closed] = NEVER
    gaps = np.argsort(-highest, axis=1, kind="stable")[:, :width]
    count = min(width, min(keys.shape[1] for keys in first.keys.values()))
    shape = (len(gaps), gaps.shape[1], count)
    values, columns = np.empty(shape, dtype=np.float32), np.empty(shape, dtype=np.int64)
    for case, keys in first.keys.items():
        rows = np.flatnonzero(first.case_of == case)
        inside_canvas = np.minimum(gaps[rows], first.lengths[rows][:, None])
        at = policy.here((first.first_gap[rows][:, None] + inside_canvas).ravel())
        top = torch.topk(keys.index_select(0, at), count, dim=1)
        values[rows] = top.values.cpu().numpy().reshape(len(rows), *shape[1:])
        columns[rows] = first.states.open[case][top.indices.cpu().numpy()].reshape(len(rows), *shape[1:])
    values[np.take_along_axis(highest, gaps, 1) == NEVER] = NEVER
    flat = len(gaps), -1
    return values.reshape(flat), np.repeat(gaps, count, axis=1), columns.reshape(flat)


def _shut_gaps(first: FirstScores, shut: Shut) -> NDArray[np.bool_]:
    """The gaps that no splice may begin at: before begin, after end, beyond the canvas."""
    places = np.arange(first.table.shape[1])
    return (places > shut.last[:, None]) | (places == 0)
