"""Compiled: the fewest splices from a canvas to a target, and the splices that begin such a derivation.

The canvas is one more source whose chain costs nothing. Its tokens that stay in the finished text are *kept*.
Between two kept tokens there is either nothing, on the canvas and in the target, or other splices derive what
is between them in the target: at least one token, since no splice can only delete. With `S` as in
`oracle.kernel`, let `P[b][t]` be the least cost of `target[:b]` with `target[b-1]` kept from `canvas[t-1]`:

    P[b][t] = min( P[b-1][t-1],  min over c < b-1 and u ≤ t-1 of P[c][u] + S[c][b-1] )

`P[0][0] = 0`: canvas and target are thought to begin, and likewise to end, with a token that is always kept.

All compiled functions are in this file, as in `oracle.kernel`.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from textsplice.oracle.matches import Matches, ParsedTexts

NEVER = 1 << 30
Flat = tuple[NDArray[np.int32], NDArray[np.int64]]  # the values and offsets of a Ragged


@njit(cache=True, nogil=True)
def costs_to_go(
    ending: NDArray[np.int32],  # S transposed
    kinds: NDArray[np.int32],  # of the target's tokens
    canvases: Flat,  # kinds of the canvases' tokens, -1 if the target does not have them
) -> NDArray[np.int32]:
    """The cost to go of each canvas, `NEVER` if the target is empty and the canvas is not."""
    values, offsets = canvases
    length = len(kinds)
    costs = np.empty(len(offsets) - 1, np.int32)
    head = np.full(length, -1, np.int32)  # per kind: the last position that has it
    earlier = np.empty(length, np.int32)  # per position: the one before it of the same kind
    for q in range(length):
        earlier[q] = head[kinds[q]]
        head[kinds[q]] = q
    before = np.full(length + 1, NEVER, np.int32)  # P[.][t - 1]
    here = np.full(length + 1, NEVER, np.int32)  # P[.][t]
    least = np.empty(length + 1, np.int32)  # per c: the least P[c][u] for u < t
    for i in range(len(costs)):
        before[:] = NEVER
        least[:] = NEVER
        before[0] = least[0] = 0
        for place in range(offsets[i], offsets[i + 1]):
            here[:] = NEVER
            q = head[values[place]] if values[place] >= 0 else -1
            while q >= 0:
                cost = before[q]
                for c in range(q):
                    cost = min(cost, least[c] + ending[q, c])
                here[q + 1] = cost
                q = earlier[q]
            for b in range(1, length + 1):
                least[b] = min(least[b], here[b])
            before, here = here, before
        cost = before[length]
        for c in range(length):
            cost = min(cost, least[c] + ending[length, c])
        costs[i] = min(cost, NEVER)
    return costs


@njit(cache=True, nogil=True)
def kept(
    S: NDArray[np.int32], kinds: NDArray[np.int32], canvas: NDArray[np.int32]
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """`P`, and from the right: the least cost of `target[b:]` with `target[b]` kept from `canvas[t]`."""
    length, width = len(kinds), len(canvas)
    left = np.full((length + 1, width + 1), NEVER, np.int32)
    right = np.full((length + 1, width + 1), NEVER, np.int32)
    left[0, 0] = right[length, width] = 0
    least = np.full(length + 1, NEVER, np.int32)
    least[0] = 0
    for t in range(1, width + 1):
        for b in range(1, length + 1):
            if canvas[t - 1] == kinds[b - 1]:
                cost = left[b - 1, t - 1]
                for c in range(b - 1):
                    cost = min(cost, least[c] + S[c, b - 1])
                left[b, t] = cost
        for b in range(1, length + 1):
            least[b] = min(least[b], left[b, t])
    least[:] = NEVER
    least[length] = 0
    for t in range(width - 1, -1, -1):
        for b in range(length):
            if canvas[t] == kinds[b]:
                cost = right[b + 1, t + 1]
                for c in range(b + 2, length + 1):
                    cost = min(cost, least[c] + S[b + 1, c])
                right[b, t] = cost
        for b in range(length):
            least[b] = min(least[b], right[b, t])
    return left, right


@njit(cache=True, nogil=True)
def open_gaps(
    S: NDArray[np.int32], kinds: NDArray[np.int32], canvas: NDArray[np.int32], total: int
) -> NDArray[np.int32]:
    """All `c, p, u, t`: some least derivation keeps what is around `canvas[u:t]`, to be `target[c:p]`."""
    left, right = kept(S, kinds, canvas)
    lefts, rights = np.argwhere(left <= total), np.argwhere(right <= total)
    gaps = np.empty((64, 4), np.int32)
    count = 0
    for c, u in lefts:
        for p, t in rights:
            if c < p and u <= t and left[c, u] + S[c, p] + right[p, t] == total:
                if count == len(gaps):
                    gaps = np.concatenate((gaps, np.empty_like(gaps)))
                gaps[count, 0], gaps[count, 1], gaps[count, 2], gaps[count, 3] = c, p, u, t
                count += 1
    return gaps[:count]


@njit(cache=True, nogil=True)
def next_splices(
    S: NDArray[np.int32],
    gaps: NDArray[np.int32],
    target: NDArray[np.int32],
    texts: ParsedTexts,
    matches: Matches,
    first_word: int,
    splices: NDArray[np.int32],  # (limit, 5)
) -> int:
    """Writes the best next splices until `splices` is full; returns how many were written."""
    rows, place = matches.rows, matches.place
    value = np.empty(rows[-1], np.int32)
    written = 0
    for x in range(len(target)):  # where the chain begins in the target
        here = gaps[(gaps[:, 0] <= x) & (gaps[:, 1] > x)]
        useful = False
        for gap in here:
            useful = useful or S[gap[0], x] + S[x, gap[1]] == S[gap[0], gap[1]]
        if not useful:
            continue
        if rows[x] == rows[x + 1]:
            written = at_gaps(S, here, x, x + 1, first_word + int(target[x]), 0, 1, splices, written)
        for first in range(rows[x], rows[x + 1]):
            n = matches.text[first]
            shift = texts.offset[n] - texts.start[n]
            run_chain(S, matches, first, x, value)
            for z in range(len(target), x, -1):  # where the chain ends
                for last in range(rows[z - 1], rows[z]):
                    if matches.text[last] == n and value[last] + 1 == S[x, z]:
                        begin, end = place[first] + shift, place[last] + 1 + shift
                        written = at_gaps(S, here, x, z, int(texts.source[n]), begin, end, splices, written)
    return written


@njit(cache=True, nogil=True)
def at_gaps(
    S: NDArray[np.int32],
    gaps: NDArray[np.int32],
    x: int,
    z: int,
    source: int,
    begin: int,
    end: int,
    splices: NDArray[np.int32],
    written: int,
) -> int:
    """Writes the splice of a chain over `target[x:z]` for each gap where it is best, but not twice."""
    for c, p, u, t in gaps:
        if z > p or S[c, x] + S[x, z] + S[z, p] != S[c, p]:
            continue
        is_new = written < len(splices)
        for other in splices[:written]:
            if other[2] == source and other[3] == begin and other[4] == end:
                is_new = is_new and not (other[0] == u and other[1] == t)
        if is_new:
            splice = splices[written]
            splice[0], splice[1], splice[2], splice[3], splice[4] = u, t, source, begin, end
            written += 1
    return written


@njit(cache=True, nogil=True)
def run_chain(S: NDArray[np.int32], matches: Matches, first: int, x: int, value: NDArray[np.int32]) -> None:
    """For each match right of `first`, which is at `x`: what the gaps of a chain between them cost.

    A chain whose gaps cost more than `S[x][q + 1]` when it has reached `q` is in no least derivation: a new
    chain from there would cost less in all.
    """
    rows, place, text, before = matches.rows, matches.place, matches.text, matches.before
    n = text[first]
    value[rows[x] : rows[x + 1]] = NEVER
    value[first] = 0
    for q in range(x + 1, len(rows) - 1):
        for match in range(rows[q], rows[q + 1]):
            value[match] = NEVER
            if text[match] != n or place[match] <= place[first]:
                continue
            least = value[before[match]] if before[match] else NEVER
            for c in range(x + 1, q):
                if S[c, q] < least:
                    for earlier in range(rows[c - 1], rows[c]):
                        if text[earlier] == n and place[earlier] < place[match]:
                            least = min(least, value[earlier] + S[c, q])
            if least <= S[x, q + 1]:
                value[match] = least
