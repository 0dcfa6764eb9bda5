"""Compiled: both decisions of a beam over splices, from the states of canvases to the best that may follow.

Scores are used where they are made: nothing but the best pairs and the scores of second decisions is kept.
Shapes in comments: H hypotheses, M first decisions, K pairs that are kept, d model width.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from textsplice.policy.vectors import ANY_ORDER, multiply, padded, sum_of, turn, write_exps

F32 = NDArray[np.float32]
I64 = NDArray[np.int64]
FLAGS = NDArray[np.bool_]

BLOCK = 64  # scores that are looked at together
LOWEST = np.float32(-np.inf)


@njit(cache=True, nogil=True)
def decide_first(
    canvas: F32,  # flat: rows of d
    d: int,
    starts: I64,  # [H]: the row of each canvas's first gap
    gaps: I64,  # [H]: how many gaps it has
    last: I64,  # [H]: the last gap that a splice may begin at; none begins at gap 0
    keys: F32,  # flat: the keys of each case as columns
    keys_at: I64,  # [H]
    key_counts: I64,  # [H]
    keys_shut: FLAGS,  # [H, keys]: what may not be chosen
    table_keys: F32,  # flat: rows of d
    tables: I64,  # [H]: the row of each table's first token
    table_counts: I64,  # [H]
    never: FLAGS,  # [H, tokens of a table]: what no splice may begin with
    table_shut: FLAGS,  # [H, tokens of a table]: what may not be chosen
    stops: F32,  # [H]: the scores of Stop
    totals: F32,  # [H]: the logarithm of the sum of all exponentials
    of_table: tuple[F32, I64, I64],  # [H, K] each: the best pairs of the table: score, gap, token
    of_keys: tuple[F32, I64, I64],  # the same for other keys
) -> None:
    """Writes the totals of first decisions, and the best pairs of a gap and a key."""
    rows = gaps.max()
    wide, wide_table = padded(key_counts.max()), padded(table_counts.max())
    scores, own = np.empty(rows * wide, np.float32), np.empty(rows * wide_table, np.float32)
    turned = np.empty(d * wide_table, np.float32)
    before = -1
    for h in range(len(starts)):
        count, width = gaps[h], padded(key_counts[h])
        multiply(canvas, starts[h] * d, d, count, keys, keys_at[h], width, d, scores, 0, width, width)
        width_table = padded(table_counts[h])
        if tables[h] != before:  # several canvases may read the same
            before = tables[h]
            turn(table_keys, before * d, d, table_counts[h], d, turned, width_table)
        multiply(canvas, starts[h] * d, d, count, turned, 0, width_table, d, own, 0, width_table, width_table)
        for gap in range(count):
            for token in range(table_counts[h]):
                if never[h, token]:
                    own[gap * width_table + token] = LOWEST
        of_others = (scores, width, key_counts[h])
        totals[h] = total_of(count, of_others, (own, width_table, table_counts[h]), stops[h])
        for gap in range(1, last[h] + 1):
            token_scores = own[gap * width_table : gap * width_table + table_counts[h]]
            keep_best(token_scores, table_shut[h], gap, of_table[0][h], of_table[1][h], of_table[2][h])
            key_scores = scores[gap * width : gap * width + key_counts[h]]
            keep_best(key_scores, keys_shut[h], gap, of_keys[0][h], of_keys[1][h], of_keys[2][h])


@njit(cache=True, nogil=True, fastmath=ANY_ORDER)
def total_of(
    rows: int, one: tuple[F32, int, int], other: tuple[F32, int, int], stop: np.float32
) -> np.float32:
    """The logarithm of the sum of exponentials: of two matrices, and of one score.

    A matrix is flat; its width and how many of its columns count follow.
    """
    highest = stop
    for scores, width, count in (one, other):
        for row in range(rows):
            part = scores[row * width : row * width + count]
            for i in range(count):
                highest = max(highest, part[i])
    room = max(one[2], other[2])
    exps, bits = np.empty(room, np.float32), np.empty(room, np.int32)
    total = np.float32(np.exp(stop - highest))
    for scores, width, count in (one, other):
        for row in range(rows):
            write_exps(scores[row * width : row * width + count], highest, exps, bits)
            total += sum_of(exps[:count])
    return highest + np.log(total)


@njit(cache=True, nogil=True)
def keep_best(scores: F32, shut: FLAGS, gap: int, best: F32, gaps: I64, places: I64) -> None:
    """Takes the open ones of a gap's scores among the best so far; of equal ones the first stays before."""
    for first in range(0, len(scores), BLOCK):
        block = scores[first : first + BLOCK]
        highest = LOWEST
        for i in range(len(block)):
            highest = max(highest, block[i])
        if highest <= best[-1]:
            continue
        for i in range(first, first + len(block)):
            if scores[i] > best[-1] and not shut[i]:
                at = len(best) - 1
                while at and best[at - 1] < scores[i]:
                    best[at], gaps[at], places[at] = best[at - 1], gaps[at - 1], places[at - 1]
                    at -= 1
                best[at], gaps[at], places[at] = scores[i], gap, i


@njit(cache=True, nogil=True)
def decide_second(
    canvas: F32,  # flat: rows of d
    d: int,
    starts: I64,  # [M]: the row of the token that follows the gap
    begins: I64,  # [M]: the gap, which is the first stop
    stops: I64,  # [M]: how many stops there are from it on
    to_canvas: F32,  # [M, d]: what is added to the canvas's states
    keys: tuple[F32, F32, F32],  # flat: the keys of neighbors, tables and words
    kinds: I64,  # [M]: which of these
    rows: I64,  # [M]: the row of the span's first token
    counts: I64,  # [M]: how many tokens may be its last
    to_keys: F32,  # [M, d]
    shut: FLAGS,  # [M, tokens]: where no span may end
    scores: F32,  # [M, stops, tokens]: -inf on entry
) -> None:
    """Writes the log-probabilities of second decisions."""
    most, widest = stops.max(), padded(counts.max())
    left, turned = np.empty(most * d, np.float32), np.empty(d * widest, np.float32)
    right, found = np.empty(widest * d, np.float32), np.empty(most * widest, np.float32)
    for m in range(len(starts)):
        count, width = counts[m], padded(counts[m])
        lay(canvas, starts[m] * d, stops[m], to_canvas[m], left)
        source = keys[0] if kinds[m] == 0 else keys[1] if kinds[m] == 1 else keys[2]
        lay(source, rows[m] * d, count, to_keys[m], right)
        turn(right, 0, d, count, d, turned, width)
        multiply(left, 0, d, stops[m], turned, 0, width, d, found, 0, width, width)
        highest = LOWEST
        for row in range(stops[m]):
            for i in range(count):
                if not shut[m, i]:
                    highest = max(highest, found[row * width + i])
        if highest == LOWEST:
            continue
        total = 0.0
        for row in range(stops[m]):
            for i in range(count):
                if not shut[m, i]:
                    total += np.exp(found[row * width + i] - highest)
        total = highest + np.float32(np.log(total))
        for row in range(stops[m]):
            for i in range(count):
                if not shut[m, i]:
                    scores[m, begins[m] + row, i] = found[row * width + i] - total


@njit(cache=True, nogil=True)
def lay(rows: F32, at: int, count: int, more: F32, out: F32) -> None:
    """Writes some rows, to each of which something is added."""
    d = len(more)
    for row in range(count):
        own, to = rows[at + row * d : at + (row + 1) * d], out[row * d : (row + 1) * d]
        for i in range(d):
            to[i] = own[i] + more[i]
