"""FULL's losses over a batch: each softmax as a few large products.

Shapes in comments: A actions (canvases), T canvas places of a case, K neighbor keys of a case,
V generable words, S tokens of a table, R rows and L width of a block, E ends, d model width.
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional

from textsplice.policy.full.batch import BatchBlock, BatchCase, FullBatch
from textsplice.policy.full.heads import FirstHead, SecondHead
from textsplice.policy.transformer import look_up

# The score of what can't be chosen. Finite, because an infinite one makes gradients NaN where a whole row is
# forbidden; the probability underflows to exactly 0.
FORBIDDEN = -1e9
# The right keys are scored once more by themselves, and two products differ in their last bits.
ROUNDING = 1e-4


def first_losses(
    head: FirstHead, batch: FullBatch, canvas: Tensor, neighbors: Tensor, tables: Tensor, words: Tensor
) -> tuple[Tensor, Tensor]:
    """Equation 2: `-log Σ` over the keys of equal spans, at the oracle's gap; and how many are right."""
    at_gap = functional.embedding(batch.gap_places, canvas)  # [A, d]
    neighbor_keys = head.neighbor_keys(neighbors)
    table_keys = head.table_keys(tables)
    word_keys = head.word_keys(words)
    losses: list[Tensor] = []
    correct = torch.zeros((), dtype=torch.long, device=canvas.device)
    for case, states, gap, own_neighbors, own_table in zip(
        batch.cases,
        canvas.split([case.canvas_places for case in batch.cases]),
        at_gap.split([len(case.marks) for case in batch.cases]),
        look_up(neighbor_keys, [case.key_places for case in batch.cases]),  # [K, d]
        look_up(table_keys, [case.table_places for case in batch.cases]),  # [A, S, d]
        strict=True,
    ):
        keys = torch.cat([own_neighbors, word_keys])  # [K + V, d]
        forbidden = ~case.table_allowed
        right = torch.cat(
            [
                gap @ keys.T,
                (own_table @ gap[:, :, None])[:, :, 0].masked_fill(forbidden, FORBIDDEN),
                (gap @ head.stop)[:, None],
            ],
            dim=1,
        ).masked_fill(~case.marks, FORBIDDEN)  # [A, K + V + S + 1]
        total, best = _first_totals(case, states, keys, own_table, head.stop)
        losses.append((total - right.logsumexp(dim=1)).sum())
        correct += (right.detach().amax(dim=1) >= best - ROUNDING).sum()
    return torch.stack(losses).sum(), correct


def second_losses(
    head: SecondHead, batch: FullBatch, canvas: Tensor, neighbors: Tensor, tables: Tensor, words: Tensor
) -> tuple[Tensor, Tensor]:
    """Equation 3: `-log` of the oracle's stop and end, given its start and begin; and how many are right."""
    ends = torch.cat([head.neighbor_keys(neighbors), head.table_keys(tables), head.word_keys(words)])
    blocks = [block for case in batch.cases for block in case.blocks]
    rows = [len(block.chosen) for block in blocks]
    added: list[tuple[Tensor, Tensor] | None] = [None] * len(blocks)
    if head.conditioned:
        left = functional.embedding(batch.gap_places, canvas)
        begin = functional.embedding(batch.begin_places, torch.cat([neighbors, tables, words]))
        to_canvas, to_keys = head.condition(left, begin)
        added = list(zip(to_canvas.split(rows), to_keys.split(rows), strict=True))
    losses: list[Tensor] = []
    correct = torch.zeros((), dtype=torch.long, device=canvas.device)
    for block, places, states, keys, extra, splices in zip(
        blocks,
        batch.canvases.blocks,
        canvas.split([block.size for block in batch.canvases.blocks]),
        look_up(ends, [block.ends for block in blocks]),  # [R, E, d]
        added,
        batch.splices.split(rows),
        strict=True,
    ):
        scores = _second_scores(block, states.view(places.rows, places.width, -1), keys, extra)
        chosen = scores.gather(1, block.chosen[:, None])[:, 0]
        losses.append(((scores.logsumexp(dim=1) - chosen) * splices).sum())
        with torch.no_grad():
            correct += ((chosen >= scores.amax(dim=1)) & splices).sum()
    return torch.stack(losses).sum(), correct


def _first_totals(
    case: BatchCase, states: Tensor, keys: Tensor, own_table: Tensor, stop: Tensor
) -> tuple[Tensor, Tensor]:
    """For each canvas of a case, the log of the softmax's denominator and the best score, both `[A]`."""
    scores = states @ keys.T  # [T, K + V]: nearly all of the pairs, in one product
    over_keys = scores.logsumexp(dim=1)
    best_key = scores.detach().amax(dim=1)
    totals: list[Tensor] = []
    best: list[Tensor] = []
    forbidden = ~case.table_allowed
    sizes = [block.gaps.numel() for block in case.blocks]
    for block, table, part, logs, top in zip(
        case.blocks,
        own_table.split([len(block.gaps) for block in case.blocks]),
        states.split(sizes),
        over_keys.split(sizes),
        best_key.split(sizes),
        strict=True,
    ):
        rows, width = block.gaps.shape
        canvas = part.view(rows, width, -1)
        from_table = (canvas @ table.mT).masked_fill(forbidden, FORBIDDEN)  # [R, L, S]
        stops = canvas[:, :1] @ stop  # [R, 1]
        every = torch.cat([logs.view(rows, width, 1), from_table], dim=2).logsumexp(dim=2)
        every = every.masked_fill(~block.gaps, FORBIDDEN)  # [R, L]
        totals.append(torch.cat([every, stops], dim=1).logsumexp(dim=1))
        with torch.no_grad():
            highest = torch.maximum(top.view(rows, width), from_table.amax(dim=2))
            highest = highest.masked_fill(~block.gaps, FORBIDDEN).amax(dim=1)
            best.append(torch.maximum(highest, stops[:, 0]))
    return torch.cat(totals), torch.cat(best)


def _second_scores(
    block: BatchBlock, canvas: Tensor, keys: Tensor, extra: tuple[Tensor, Tensor] | None
) -> Tensor:
    """Scores of all (following token, last token) pairs of a block, `[R, L · E]`."""
    if extra is not None:
        canvas, keys = canvas + extra[0][:, None], keys + extra[1][:, None]
    allowed = block.follows[:, :, None] & block.end_allowed[:, None, :]
    return (canvas @ keys.mT).masked_fill(~allowed, FORBIDDEN).flatten(1)
