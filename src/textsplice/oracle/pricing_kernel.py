"""Compiled: which rows of a corpus pay, that is, make some stretch of a target cheaper than `S` says.

Let `S` be least for some rows. Another row *pays* if it has a chain over a stretch `target[a:b]` that costs,
with its gaps filled at the costs `S`, less than `S[a][b]`. If no row pays, `S` is least over all rows, by
induction on the length of the stretch: a least derivation with all rows is either two derivations side by
side, or one chain with its gaps, and each part is shorter.

To find out, chains need no costs. Take a chain from `a` that has consumed `target[a:c]`.

1.  If it has cost more than `S[a][c]`, it can be forgotten: if it pays in the end, the chain that begins
    with its last token pays too. If it has cost less, it pays. So a chain that matters costs `S[a][c]`: it is
    *live*.
2.  By the same argument it resumes at `q` only if `S[a][c] + S[c][q] = S[a][q]`: the gap is *tight*.
3.  A live chain that gets `target[q]`, adjacent or after a tight gap, now costs `S[a][q]`. It pays exactly
    if `S[a][q + 1]` is more: a *step*. Otherwise it is live.
4.  A chain need not begin at a match whose left neighbors match too: beginning there costs the same.

A row is read once, from left to right. `live[c]` is the set of the `a` whose chains are live at `c` somewhere
to the left. Sets of `a` are bits of machine words, so all beginnings are followed at once.

All compiled functions are in this file, as in `oracle.kernel`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

Flat = tuple[NDArray[np.int32], NDArray[np.int64]]  # the values and offsets of a Ragged
Sets = NDArray[np.uint64]  # the last axis is a set of target positions
WORD = 64
ONE = np.uint64(1)
NONE = np.uint64(0)


class Positions(NamedTuple):
    """Where a target has each kind: `at[offsets[kind]:offsets[kind + 1]]`, the last one first."""

    kinds: NDArray[np.int32]  # per position
    offsets: NDArray[np.int32]
    at: NDArray[np.int32]


class Bounds(NamedTuple):
    """What a row is priced against."""

    step: Sets  # [q]: the a with S[a][q + 1] = S[a][q] + 1
    tight: Sets  # [q, c]: the a with S[a][c] + S[c][q] = S[a][q]


@njit(cache=True, nogil=True)
def positions_of(kinds: NDArray[np.int32]) -> Positions:
    """The positions of each kind."""
    offsets = np.zeros(len(kinds) + 2, np.int32)
    for kind in kinds:
        offsets[kind + 2] += 1
    offsets = np.cumsum(offsets).astype(np.int32)
    at = np.empty(len(kinds), np.int32)
    for q in range(len(kinds) - 1, -1, -1):
        at[offsets[kinds[q] + 1]] = q
        offsets[kinds[q] + 1] += 1
    return Positions(kinds, offsets[:-1].copy(), at)


@njit(cache=True, nogil=True)
def bounds_of(S: NDArray[np.int32]) -> Bounds:
    """The steps and tight gaps of least costs."""
    length = len(S) - 1
    words = max(length - 1, 0) // WORD + 1
    step = np.zeros((length, words), np.uint64)
    tight = np.zeros((length, length, words), np.uint64)
    for a in range(length):
        word, bit = a // WORD, ONE << np.uint64(a % WORD)
        for q in range(a + 1, length):
            if S[a, q + 1] > S[a, q]:
                step[q, word] |= bit
        for c in range(a + 1, length):
            for q in range(c + 1, length):
                if S[a, c] + S[c, q] == S[a, q]:
                    tight[q, c, word] |= bit
    return Bounds(step, tight)


@njit(cache=True, nogil=True)
def paying_rows(
    first: int,
    count: int,
    rows: NDArray[np.int32],
    kind_of: NDArray[np.int32],  # per id; -1 if the target does not have it
    store: Flat,
    positions: Positions,
    bounds: Bounds,
    found: NDArray[np.int32],
) -> tuple[int, int]:
    """Prices `count` of `rows` from the `first` on, round the end, until `found` is full of rows that pay.

    Each of these pays for another stretch. Returns how many were found, and how many rows were priced.
    """
    tokens, offsets = store
    length, words = bounds.step.shape
    step = bounds.step.copy()
    live = np.zeros((length + 1, words), np.uint64)
    ends = np.empty(length + 1, np.int32)  # the c with a live chain
    reached = np.zeros((2, length, words), np.uint64)  # the chains that end at this match, by turns
    filled = 0
    for i in range(count):
        row = rows[(first + i) % len(rows)]
        begin, end = offsets[row], offsets[row + 1]
        if words == 1:
            pays = row_pays_in_a_word(
                tokens[begin:end],
                kind_of,
                positions,
                step.reshape(length),
                bounds.tight.reshape(length, length),
                live.reshape(length + 1),
                reached.reshape(2, length),
            )
        else:
            pays = row_pays(tokens[begin:end], kind_of, positions, step, bounds.tight, live, ends, reached)
        if pays:
            found[filled] = row
            filled += 1
            if filled == len(found):
                return filled, i + 1
    return filled, count


@njit(cache=True, nogil=True)
def row_pays_in_a_word(
    row: NDArray[np.int32],
    kind_of: NDArray[np.int32],
    positions: Positions,
    step: Sets,
    tight: Sets,
    live: Sets,
    reached: Sets,
) -> bool:
    """What `row_pays` says, for targets whose positions fit into one machine word: a set has no axis."""
    before, pays = -1, False
    live[:] = NONE
    for t in range(len(row)):
        kind = kind_of[row[t]]
        if kind >= 0:
            here, there = reached[t & 1], reached[(t + 1) & 1]
            for i in range(positions.offsets[kind], positions.offsets[kind + 1]):
                q = positions.at[i]
                gaps = tight[q]
                chains = NONE
                for c in range(q):  # all of them, dead or live: without a branch, several are done at once
                    chains |= live[c] & gaps[c]
                if q > 0 and before >= 0 and positions.kinds[q - 1] == before:
                    chains |= there[q - 1]
                    begun = NONE
                else:
                    begun = ONE << np.uint64(q)
                if chains & step[q]:
                    step[q] &= ~chains
                    pays = True
                chains |= begun
                here[q] = chains
                live[q + 1] |= chains
            if pays:
                break
        before = kind
    return pays


@njit(cache=True, nogil=True)
def row_pays(
    row: NDArray[np.int32],
    kind_of: NDArray[np.int32],
    positions: Positions,
    step: Sets,
    tight: Sets,
    live: Sets,
    ends: NDArray[np.int32],
    reached: Sets,
) -> bool:
    """Whether a row pays for a stretch; that stretch is then no step any more."""
    ended, before, pays = 0, -1, False
    for t in range(len(row)):
        kind = kind_of[row[t]]
        if kind >= 0:
            here, there = t & 1, (t + 1) & 1
            for i in range(positions.offsets[kind], positions.offsets[kind + 1]):
                q = positions.at[i]  # the last one first: what is reached at this token is not used at it
                words = q // WORD + 1
                adjacent = q > 0 and before >= 0 and positions.kinds[q - 1] == before
                for w in range(words):
                    reached[here, q, w] = reached[there, q - 1, w] if adjacent else NONE
                for j in range(ended):
                    c = ends[j]
                    if c < q:
                        for w in range((c - 1) // WORD + 1):
                            reached[here, q, w] |= live[c, w] & tight[q, c, w]
                any_live = False
                for w in range(words):
                    if reached[here, q, w] & step[q, w]:
                        step[q, w] &= ~reached[here, q, w]
                        pays = True
                    any_live = any_live or live[q + 1, w] != NONE
                if not adjacent:
                    reached[here, q, words - 1] |= ONE << np.uint64(q % WORD)
                if not any_live:
                    ends[ended] = q + 1
                    ended += 1
                for w in range(words):
                    live[q + 1, w] |= reached[here, q, w]
            if pays:
                break
        before = kind
    for j in range(ended):
        live[ends[j]] = NONE
    return pays


@njit(cache=True, nogil=True)
def first_rows(store: Flat, rows: NDArray[np.int32], vocabulary: int) -> NDArray[np.int32]:
    """The first of these rows that has each id; -1 if none has."""
    tokens, offsets = store
    first = np.full(vocabulary, -1, np.int32)
    for row in rows[::-1]:
        for i in range(offsets[row], offsets[row + 1]):
            first[tokens[i]] = row
    return first
