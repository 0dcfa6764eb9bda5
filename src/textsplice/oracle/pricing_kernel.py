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

Most rows are not even read that closely, if the positions of the target fit into one word. A row *has* the
positions whose token stands in it, and those *follow* whose token stands right behind the token of the
position before. Forget where in the row they stand, let any position be reached from any to its left, and
only more chains are live. If still none pays, the row does not pay, nor does any other with the same two
sets. Of 10,000 rows of E2E, this leaves one to ten.

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
FACTOR = np.uint64(0x9E3779B97F4A7C15)
REMEMBERED_BITS = 12
HASH_SHIFT = np.uint64(64 - REMEMBERED_BITS)


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
    sets = positions_in_a_word(positions) if words == 1 else np.zeros(0, np.uint64)
    tight = bounds.tight.reshape(length, length * words)
    refused = np.zeros((1 << REMEMBERED_BITS, 2), np.uint64)
    unordered = np.zeros(length + 1, np.uint64)
    filled = 0
    for i in range(count):
        row = rows[(first + i) % len(rows)]
        text = tokens[offsets[row] : offsets[row + 1]]
        if words == 1 and not may_pay(text, kind_of, sets, step, tight, refused, unordered):
            continue
        if row_pays(text, kind_of, positions, step, bounds.tight, live, ends, reached):
            found[filled] = row
            filled += 1
            if filled == len(found):
                return filled, i + 1
    return filled, count


@njit(cache=True, nogil=True)
def positions_in_a_word(positions: Positions) -> NDArray[np.uint64]:
    """The set of positions of each kind; the last one is empty, for tokens of no kind (-1)."""
    sets = np.zeros(len(positions.offsets), np.uint64)
    for q in range(len(positions.kinds)):
        sets[positions.kinds[q]] |= ONE << np.uint64(q)
    return sets


@njit(cache=True, nogil=True)
def may_pay(
    row: NDArray[np.int32],
    kind_of: NDArray[np.int32],
    sets: NDArray[np.uint64],
    step: Sets,
    tight: Sets,  # [q]: a set for each c
    refused: Sets,  # pairs of sets that do not pay, by a hash
    live: NDArray[np.uint64],
) -> bool:
    """Whether a row would pay if its tokens could be had in any order."""
    has, follow, before = NONE, NONE, NONE
    for token in row:
        here = sets[kind_of[token]]
        has |= here
        follow |= (before << ONE) & here
        before = here
    known = refused[((has * FACTOR) ^ follow) * FACTOR >> HASH_SHIFT]
    if known[0] == has and known[1] == follow:
        return False
    for q in range(len(step)):
        live[q + 1] = NONE
        if has >> np.uint64(q) & ONE:
            chains = live[q] if follow >> np.uint64(q) & ONE else NONE
            gaps = tight[q]
            for c in range(np.uint64(q)):  # unsigned: only so is it compiled to vectors
                chains |= live[c] & gaps[c]
            if chains & step[q, 0]:
                return True
            live[q + 1] = chains | ONE << np.uint64(q)
    known[0], known[1] = has, follow
    return False


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
