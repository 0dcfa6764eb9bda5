"""The compiled half of the oracle: least costs of every stretch of a target, in O(N·T³ + T·M).

`T` is the target's length, `N` the number of neighbours, `M` the number of *matches* (a target position and
a place in a neighbour with the same token). `S[a][b]` is the least number of splices that derive
`target[a:b]`. A *chain* is what one splice leaves in the finished text: pieces of one neighbour, in order,
with gaps between them that other splices fill. Two facts make the paper's O(N·T⁶) parse cheap:

1.  `S[a][b-1] ≤ S[a][b] ≤ S[a][b-1] + 1`: drop the last token, or add it with a splice of its own.
2.  A chain that began at `a`, has consumed `target[a:c]` and is to resume at `p` is worth keeping only if
    its cost so far is `S[a][c]` and `S[a][c] + S[c][p] = S[a][p]`. Otherwise a fresh chain at `p` is no
    dearer and can go on in the same way.

So the state of a chain is one bit for each match, *live* or not, and where a chain resumes after a gap only
the first live place of each neighbour matters.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

NOWHERE = np.int32(2**31 - 1)


class Sources(NamedTuple):
    """The texts one target is parsed with, laid end to end, one free place before each.

    First the table's values, one source a value, then the neighbours. `kind[place]` is the number of the
    token's kind among the target's tokens, -1 if the target does not have it.
    """

    kind: NDArray[np.int32]
    source: NDArray[np.int32]  # of each place
    starts: NDArray[np.int32]  # place of a source's first token
    numbers: NDArray[np.int32]  # how splices number the source
    bases: NDArray[np.int32]  # where the source's first token stands in what splices call by that number


class Matches(NamedTuple):
    """Every match of one target; those of target position `q` are `rows[q]:rows[q + 1]`, by place.

    Match 0 is none: it is never live.
    """

    rows: NDArray[np.int32]
    position: NDArray[np.int32]
    place: NDArray[np.int32]
    source: NDArray[np.int32]
    before: NDArray[np.int32]  # the match one token to the left in both texts, 0 if there is none


@njit(cache=True, nogil=True)
def find_matches(kinds: NDArray[np.int32], sources: Sources) -> Matches:
    """All matches of a target, given as the kind of each of its tokens."""
    length = len(kinds)
    counts = np.zeros(length + 1, np.int32)
    for kind in sources.kind:
        if kind >= 0:
            counts[kind] += 1
    heads = np.zeros(length + 1, np.int32)  # of each kind, in `places`
    for kind in range(length):
        heads[kind + 1] = heads[kind] + counts[kind]
    places = np.empty(heads[length], np.int32)
    index = np.zeros(len(sources.kind), np.int32)  # of a place among those of its kind
    fill = np.zeros(length, np.int32)
    for place, kind in enumerate(sources.kind):
        if kind >= 0:
            index[place] = fill[kind]
            places[heads[kind] + fill[kind]] = place
            fill[kind] += 1

    rows = np.empty(length + 1, np.int32)
    rows[0] = 1
    for q in range(length):
        rows[q + 1] = rows[q] + counts[kinds[q]]
    total = rows[length]
    position = np.zeros(total, np.int32)
    place_of = np.zeros(total, np.int32)
    source_of = np.zeros(total, np.int32)
    before = np.zeros(total, np.int32)
    for q in range(length):
        head = heads[kinds[q]]
        for i in range(counts[kinds[q]]):
            match = rows[q] + i
            place = places[head + i]
            position[match] = q
            place_of[match] = place
            source_of[match] = sources.source[place]
            if q > 0 and sources.kind[place - 1] == kinds[q - 1]:
                before[match] = rows[q - 1] + index[place - 1]
    return Matches(rows, position, place_of, source_of, before)


@njit(cache=True, nogil=True)
def least_costs(matches: Matches, source_count: int) -> NDArray[np.int32]:
    """`S` for every stretch; a token without a match costs one splice (a word of the vocabulary)."""
    rows, place, source, before = matches.rows, matches.place, matches.source, matches.before
    length = len(rows) - 1
    S = np.zeros((length + 1, length + 1), np.int32)
    ends = np.zeros((length + 1, length + 1), np.int32)  # S transposed: gaps that end at p, side by side
    live = np.zeros(rows[length], np.bool_)
    first = np.empty((length + 1, source_count), np.int32)  # live place of a chain that has consumed y[a:c]
    resume = np.empty(source_count, np.int32)  # the first place after which a chain can resume at p
    alive = np.empty(length + 1, np.int32)  # the c at which a chain may end, rising
    for a in range(length - 1, -1, -1):
        S[a, a + 1] = ends[a + 1, a] = 1
        first[a + 1] = NOWHERE
        for match in range(rows[a], rows[a + 1]):
            live[match] = True
            if first[a + 1, source[match]] == NOWHERE:
                first[a + 1, source[match]] = place[match]
        alive[0] = a + 1
        alive_count = 1
        for p in range(a + 1, length):
            s = S[a, p]
            any_live = False
            if rows[p] < rows[p + 1]:
                resume[:] = NOWHERE
                for i in range(alive_count):
                    c = alive[i]
                    if c < p and S[a, c] + ends[p, c] == s:
                        for n in range(source_count):
                            resume[n] = min(resume[n], first[c, n])
                here = first[p + 1]
                here[:] = NOWHERE
                for match in range(rows[p], rows[p + 1]):
                    n = source[match]
                    goes_on = live[before[match]] or resume[n] < place[match]
                    live[match] = goes_on
                    if goes_on:
                        any_live = True
                        here[n] = min(here[n], place[match])
            cost = s
            if any_live:
                alive[alive_count] = p + 1
                alive_count += 1
            else:
                cost = s + 1
                for i in range(alive_count):
                    c = alive[i]
                    if c < p and S[a, c] + ends[p + 1, c] == s:
                        cost = s
                        break
            S[a, p + 1] = ends[p + 1, a] = cost
    return S
