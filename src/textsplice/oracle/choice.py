"""The compiled choice among derivations of least cost, and its splices.

Many derivations can be as short. This one is chosen, and is the same every time:

1.  If one chain can span the whole text (it can wherever begin and end tokens stand in the neighbours), the
    first splice lays it: of all such chains the one that keeps most of the target's tokens, and of those the
    one from the better-ranked source, the table before neighbours.
2.  Its gaps are filled from left to right, each by the derivation of least cost that has, in this order,
    fewest splices from neighbours not used so far, fewest splices from neighbours rather than the table,
    the least sum of ranks. (Fewest distinct neighbours over all is a covering problem; this is its greedy
    answer.) Words of the vocabulary compete with nothing: they stand only for tokens no other source has.
3.  Of what is still equal: the longer first chain, the source and place that come first, the shorter gap.

To find it, costs and preferences are one number each: preferences are digits below the cost, so that
adding and comparing numbers compares costs first. The recurrence is the plain one of the specification,
`F[b][t]`: what the kernel's dominance drops can be as short, and preferable.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from textsplice.oracle.kernel import Matches, Sources

# Twelve bits a digit, for sums over up to 4095 splices; ranks have two because they are sums of ranks.
LONGEST = 4095
ONE_SPLICE = 1 << 48
NEW_NEIGHBOR = 1 << 36
NEIGHBOR = 1 << 24
DROPPED_TOKEN = 1 << 24
LAST_RANK = 4095
NEVER = np.int64(1 << 62)


@njit(cache=True, nogil=True)
def write(row: NDArray[np.int32], start: int, stop: int, neighbor: int, begin: int, end: int) -> None:
    """One splice."""
    row[0], row[1], row[2], row[3], row[4] = start, stop, neighbor, begin, end


@njit(cache=True, nogil=True)
def write_task(row: NDArray[np.int32], a: int, b: int, replaced: int) -> None:
    """One stretch still to be derived, in place of `replaced` tokens of the canvas."""
    row[0], row[1], row[2] = a, b, replaced


@njit(cache=True, nogil=True)
def run_chains(
    a: int,
    b: int,
    matches: Matches,
    start: NDArray[np.int64],  # what a chain of each source costs
    keep: int,  # what is taken off for each token it keeps
    gaps: NDArray[np.int64],  # what target[c:q] costs as a gap
    most: NDArray[np.int64],  # splices a chain and its gaps may have cost when it resumes at q
    value: NDArray[np.int64],
    back: NDArray[np.int32],
    best: NDArray[np.int64],
) -> None:
    """Fills, for chains from `a`, the least `value` of each match before `b`, the match it came from in
    `back`, and in `best[c]` the least value of a chain that has consumed `target[a:c]`.
    """
    rows, place, source, before = matches.rows, matches.place, matches.source, matches.before
    best[a + 1] = NEVER
    for match in range(rows[a], rows[a + 1]):
        value[match] = start[source[match]] - keep
        back[match] = 0
        best[a + 1] = min(best[a + 1], value[match])
    for q in range(a + 1, b):
        best[q + 1] = NEVER
        if rows[q] == rows[q + 1]:
            continue
        for match in range(rows[q], rows[q + 1]):
            left = before[match]
            value[match] = value[left] - keep if left else NEVER
            back[match] = left
        for c in range(q - 1, a, -1):
            gap = gaps[c, q]
            if best[c] + gap >= (most[q] + 1) * ONE_SPLICE:
                continue
            # Both rows are sorted by place: one pass finds the best earlier match of the same source.
            earlier, stop = rows[c - 1], rows[c]
            chosen = 0
            for match in range(rows[q], rows[q + 1]):
                n = source[match]
                if chosen and source[chosen] != n:
                    chosen = 0
                while earlier < stop and place[earlier] < place[match]:
                    # `<=`: of equal ones the last, which leaves the shorter gap.
                    if source[earlier] == n and (not chosen or value[earlier] <= value[chosen]):
                        chosen = earlier
                    earlier += 1
                if chosen and value[chosen] + gap - keep < value[match]:
                    value[match] = value[chosen] + gap - keep
                    back[match] = chosen
        for match in range(rows[q], rows[q + 1]):
            best[q + 1] = min(best[q + 1], value[match])


@njit(cache=True, nogil=True)
def fill_gap(
    a: int,
    b: int,
    matches: Matches,
    S: NDArray[np.int32],
    start: NDArray[np.int64],
    gaps: NDArray[np.int64],
    most: NDArray[np.int64],
    value: NDArray[np.int64],
    back: NDArray[np.int32],
    best: NDArray[np.int64],
) -> None:
    """Fills `gaps[c, q]` for every stretch of `target[a:b]`."""
    for c in range(b - 1, a - 1, -1):
        most[c : b + 1] = S[c, c : b + 1] + 1
        run_chains(c, b, matches, start, 0, gaps, most, value, back, best)
        if best[c + 1] == NEVER:
            best[c + 1] = ONE_SPLICE
        for q in range(c + 1, b + 1):
            least = best[q]
            for middle in range(c + 1, q):
                least = min(least, best[middle] + gaps[middle, q])
            gaps[c, q] = least


@njit(cache=True, nogil=True)
def choose(
    target: NDArray[np.int32],
    matches: Matches,
    sources: Sources,
    S: NDArray[np.int32],
    vocabulary: int,
    splices: NDArray[np.int32],
) -> int:
    """Writes the chosen derivation to `splices`; returns its length, which is `S[0][len(target)]`."""
    rows, position, place, source = matches.rows, matches.position, matches.place, matches.source
    length, count = len(target), len(sources.starts)
    value = np.empty(rows[length], np.int64)
    back = np.zeros(rows[length], np.int32)
    best = np.empty(length + 1, np.int64)
    most = np.empty(length + 1, np.int64)
    gaps = np.empty((length + 1, length + 1), np.int64)
    start = np.empty(count, np.int64)
    used = np.zeros(count, np.bool_)
    tasks = np.empty((2 * length + 2, 3), np.int32)  # a, b and how much of the canvas is replaced
    root_gaps = np.empty((length + 1, 3), np.int32)
    written = 0

    for a in range(length + 1):
        for b in range(a, length + 1):
            gaps[a, b] = S[a, b] * ONE_SPLICE
        most[a] = S[0, length] - S[a, length] + 1
    for n in range(count):
        start[n] = ONE_SPLICE + length * DROPPED_TOKEN + min(sources.numbers[n], LAST_RANK)
    run_chains(0, length, matches, start, DROPPED_TOKEN, gaps, most, value, back, best)
    write_task(root_gaps[0], 0, length, 0)
    root_gap_count = 1
    if best[length] < (S[0, length] + 1) * ONE_SPLICE:
        match = rows[length - 1]
        while value[match] != best[length]:
            match += 1
        written, root_gap_count = lay(
            0, match, 0, position, place, source, back, sources, used, splices, written, root_gaps, 0
        )

    for root_gap in range(root_gap_count - 1, -1, -1):
        for n in range(count):
            number = min(sources.numbers[n], LAST_RANK)
            start[n] = ONE_SPLICE + number
            if number > 0:
                start[n] += NEIGHBOR if used[n] else NEIGHBOR + NEW_NEIGHBOR
        first, last = root_gaps[root_gap, 0], root_gaps[root_gap, 1]
        fill_gap(first, last, matches, S, start, gaps, most, value, back, best)
        tasks[0] = root_gaps[root_gap]
        pending = 1
        while pending:
            pending -= 1
            a, b, replaced = tasks[pending, 0], tasks[pending, 1], tasks[pending, 2]
            for q in range(a, b + 1):
                most[q] = S[a, b] - S[q, b] + 1
            run_chains(a, b, matches, start, 0, gaps, most, value, back, best)
            if best[a + 1] == NEVER:
                write(splices[written], a, a + replaced, vocabulary + target[a], 0, 1)
                written += 1
                if a + 1 < b:
                    write_task(tasks[pending], a + 1, b, 0)
                    pending += 1
                continue
            end = b
            while best[end] + (gaps[end, b] if end < b else 0) != gaps[a, b]:
                end -= 1
            if end < b:
                write_task(tasks[pending], end, b, 0)
                pending += 1
            match = rows[end - 1]
            while value[match] != best[end]:
                match += 1
            written, pending = lay(
                a, match, replaced, position, place, source, back, sources, used, splices, written,
                tasks, pending,
            )  # fmt: skip
    return written


@njit(cache=True, nogil=True)
def lay(
    a: int,
    match: int,
    replaced: int,
    position: NDArray[np.int32],
    place: NDArray[np.int32],
    source: NDArray[np.int32],
    back: NDArray[np.int32],
    sources: Sources,
    used: NDArray[np.bool_],
    splices: NDArray[np.int32],
    written: int,
    tasks: NDArray[np.int32],
    pending: int,
) -> tuple[int, int]:
    """Writes the splice of the chain that ends in `match`, and adds its gaps to `tasks`, rightmost first.

    All of the text left of `a` is finished by then, so `a` is also the splice's place on the canvas.
    """
    n = source[match]
    used[n] = True
    end = place[match] + 1
    while back[match]:
        left = back[match]
        if position[match] - position[left] > 1:
            replaces = place[match] - place[left] - 1
            write_task(tasks[pending], position[left] + 1, position[match], replaces)
            pending += 1
        match = left
    shift = sources.bases[n] - sources.starts[n]
    begin = place[match]
    write(splices[written], a, a + replaced, sources.numbers[n], begin + shift, end + shift)
    return written + 1, pending
