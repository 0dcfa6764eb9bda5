"""The compiled loop over a corpus: gather each example's sources, parse, choose, write."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from textsplice.oracle.choice import choose
from textsplice.oracle.kernel import Sources, find_matches, least_costs

Flat = tuple[NDArray[np.int32], NDArray[np.int64]]  # the values and offsets of a Ragged


@njit(cache=True, nogil=True)
def gather(
    kind_of: NDArray[np.int32],  # of each id, -1 where the target does not have it
    table: NDArray[np.int32],
    segments: NDArray[np.int32],
    store: Flat,
    neighbors: NDArray[np.int32],
) -> Sources:
    """The sources of one example: the table's values, each its own, then the neighbours."""
    tokens, offsets = store
    places, count = 1, 0
    for i in range(len(table)):
        if segments[i] >= 0 and (i == 0 or segments[i] != segments[i - 1]):
            count += 1
    places += len(table) + count
    for row in neighbors:
        places += offsets[row + 1] - offsets[row] + 1
    count += len(neighbors)

    kind = np.full(places, -1, np.int32)
    source = np.zeros(places, np.int32)
    starts = np.empty(count, np.int32)
    numbers = np.empty(count, np.int32)
    bases = np.empty(count, np.int32)
    place, n = 0, -1
    for i in range(len(table)):
        if segments[i] < 0:
            continue
        if i == 0 or segments[i] != segments[i - 1]:
            n += 1
            place += 1
            starts[n], numbers[n], bases[n] = place, 0, i
        kind[place] = kind_of[table[i]]
        source[place] = n
        place += 1
    for rank, row in enumerate(neighbors):
        n += 1
        place += 1
        starts[n], numbers[n], bases[n] = place, 1 + rank, 0
        for i in range(offsets[row], offsets[row + 1]):
            kind[place] = kind_of[tokens[i]]
            source[place] = n
            place += 1
    return Sources(kind[: place + 1], source[: place + 1], starts, numbers, bases)


@njit(cache=True, nogil=True)
def derive_rows(
    first: int,
    last: int,
    ids: int,
    mask_id: int,
    targets: Flat,
    tables: Flat,
    segments: NDArray[np.int32],
    table_of: NDArray[np.int32],
    store: Flat,
    neighbors: NDArray[np.int32],
) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """The splices of examples `first` to `last`, one after the other, and how many each has."""
    kind_of = np.full(ids, -1, np.int32)
    splices = np.empty((targets[1][last] - targets[1][first], 5), np.int32)
    costs = np.zeros(last - first, np.int64)
    written = 0
    for example in range(first, last):
        target = targets[0][targets[1][example] : targets[1][example + 1]]
        if len(target) == 0:
            continue
        kinds = np.empty(len(target), np.int32)
        count = 0
        for q, token in enumerate(target):
            if kind_of[token] < 0:
                kind_of[token] = count
                count += 1
            kinds[q] = kind_of[token]
        if mask_id >= 0:
            kind_of[mask_id] = -1
        begin, end = tables[1][table_of[example]], tables[1][table_of[example] + 1]
        rows = neighbors[example]
        rows = rows[rows >= 0]
        sources = gather(kind_of, tables[0][begin:end], segments[begin:end], store, rows)
        for token in target:
            kind_of[token] = -1

        matches = find_matches(kinds, sources)
        S = least_costs(matches, len(sources.starts))
        cost = choose(target, matches, sources, S, 1 + len(rows), splices[written:])
        costs[example - first] = cost
        written += cost
    return splices[:written].copy(), costs
