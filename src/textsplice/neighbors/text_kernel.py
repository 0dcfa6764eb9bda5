"""The compiled index by text: runs of tokens as hashes, and counting the runs that rows share with a text."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

Flat = tuple[NDArray[np.int32], NDArray[np.int64]]  # the values and offsets of a Ragged

LONGEST_RUN = 4
FACTOR = np.uint64(0x9E3779B97F4A7C15)
SHIFT = np.uint64(29)


@njit(cache=True, nogil=True)
def write_runs(text: NDArray[np.int32], mask_id: int, runs: NDArray[np.uint64]) -> int:
    """Writes the hashes of a text's runs, each once, in ascending order; returns how many there are."""
    words = np.empty(len(text), np.int32)
    length = 0
    for token in text:
        if token != mask_id or length == 0 or words[length - 1] != mask_id:
            words[length] = token
            length += 1
    count = 0
    for start in range(length):
        key = np.uint64(0)
        for size in range(1, min(LONGEST_RUN, length - start) + 1):
            key = (key ^ np.uint64(words[start + size - 1] + 1)) * FACTOR
            key ^= key >> SHIFT
            if size > 1:
                runs[count] = key
                count += 1
    runs[:count].sort()
    distinct = 0
    for i in range(count):
        if i == 0 or runs[i] != runs[i - 1]:
            runs[distinct] = runs[i]
            distinct += 1
    return distinct


@njit(cache=True, nogil=True)
def runs_of(texts: Flat, mask_id: int) -> tuple[NDArray[np.uint64], NDArray[np.int32]]:
    """The runs of all rows, and the row of each."""
    values, offsets = texts
    most = (LONGEST_RUN - 1) * len(values)
    runs = np.empty(most, np.uint64)
    owners = np.empty(most, np.int32)
    written = 0
    for row in range(len(offsets) - 1):
        count = write_runs(values[offsets[row] : offsets[row + 1]], mask_id, runs[written:])
        owners[written : written + count] = row
        written += count
    return runs[:written].copy(), owners[:written].copy()


@njit(cache=True, nogil=True)
def search_texts(
    keys: NDArray[np.uint64],
    offsets: NDArray[np.int64],
    rows: NDArray[np.int32],
    row_count: int,
    mask_id: int,
    texts: Flat,
    excluded: NDArray[np.int32],
    allowed: NDArray[np.bool_],  # empty if all rows are
    found: NDArray[np.int32],
    shared: NDArray[np.int32],
) -> None:
    """Fills `found` and `shared`."""
    values, starts = texts
    counts = np.zeros(row_count, np.int32)
    for i in range(len(starts) - 1):
        text = values[starts[i] : starts[i + 1]]
        runs = np.empty((LONGEST_RUN - 1) * len(text), np.uint64)
        run_count = write_runs(text, mask_id, runs)
        counts[:] = 0
        for run in runs[:run_count]:
            place = np.searchsorted(keys, run)
            if place < len(keys) and keys[place] == run:
                for j in range(offsets[place], offsets[place + 1]):
                    counts[rows[j]] += 1
        if excluded[i] >= 0:
            counts[excluded[i]] = 0
        if len(allowed):
            for row in range(row_count):
                counts[row] *= allowed[row]
        choose(counts, run_count, found[i], shared[i])


@njit(cache=True, nogil=True)
def choose(counts: NDArray[np.int32], most: int, found: NDArray[np.int32], shared: NDArray[np.int32]) -> None:
    """The rows of the highest counts, of equal ones the lower rows."""
    rows_with = np.zeros(most + 2, np.int64)
    for count in counts:
        rows_with[count] += 1
    rows_with[0] = 0
    above, least = 0, most
    while least > 1 and above + rows_with[least] < len(found):
        above += rows_with[least]
        least -= 1
    # The places of rows with this count begin behind those of all higher counts.
    place = np.zeros(most + 2, np.int64)
    for count in range(most - 1, 0, -1):
        place[count] = place[count + 1] + rows_with[count + 1]
    for row in range(len(counts)):
        count = counts[row]
        if count and count >= least and place[count] < len(found):
            found[place[count]] = row
            shared[place[count]] = count
            place[count] += 1
