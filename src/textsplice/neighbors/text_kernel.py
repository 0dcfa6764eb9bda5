"""The compiled index by text: runs of tokens as hashes, and counting the runs that rows share with a text."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

Flat = tuple[NDArray[np.int32], NDArray[np.int64]]  # the values and offsets of a Ragged

LONGEST_RUN = 4
FACTOR = np.uint64(0x9E3779B97F4A7C15)
SHIFT = np.uint64(29)
ROW_BITS = np.uint64(32)
ROW = np.uint64(0xFFFFFFFF)  # of a posting


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
def bucket_of(run: np.uint64, bits: int) -> np.int64:
    """The first bits of a hash."""
    return np.int64(run >> np.uint64(64 - bits))


@njit(cache=True, nogil=True)
def count_postings(
    texts: Flat, first: int, last: int, mask_id: int, bits: int, counts: NDArray[np.int64]
) -> None:
    """Adds to each bucket how many runs of the rows from `first` to `last` belong into it."""
    values, offsets = texts
    for row in range(first, last):
        text = values[offsets[row] : offsets[row + 1]]
        runs = np.empty((LONGEST_RUN - 1) * len(text), np.uint64)
        for run in runs[: write_runs(text, mask_id, runs)]:
            counts[bucket_of(run, bits)] += 1


@njit(cache=True, nogil=True)
def write_postings(
    texts: Flat,
    first: int,
    last: int,
    mask_id: int,
    bits: int,
    places: NDArray[np.int64],
    postings: NDArray[np.uint64],
) -> None:
    """Writes the postings of these rows, each at the next place of its bucket."""
    values, offsets = texts
    for row in range(first, last):
        text = values[offsets[row] : offsets[row + 1]]
        runs = np.empty((LONGEST_RUN - 1) * len(text), np.uint64)
        for run in runs[: write_runs(text, mask_id, runs)]:
            bucket = bucket_of(run, bits)
            postings[places[bucket]] = run << ROW_BITS | np.uint64(row)
            places[bucket] += 1


@njit(cache=True, nogil=True)
def sort_buckets(buckets: NDArray[np.int64], postings: NDArray[np.uint64]) -> None:
    """Sorts the postings of each bucket in place."""
    for bucket in range(len(buckets) - 1):
        postings[buckets[bucket] : buckets[bucket + 1]].sort()


@njit(cache=True, nogil=True)
def highest_row(postings: NDArray[np.uint64]) -> int:
    """The highest row of all postings, -1 if there is none; nothing is copied for it."""
    highest = np.int64(-1)
    for posting in postings:
        highest = max(highest, np.int64(posting & ROW))
    return int(highest)


@njit(cache=True, nogil=True)
def search_texts(
    buckets: NDArray[np.int64],
    postings: NDArray[np.uint64],
    bits: int,
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
            bucket = bucket_of(run, bits)
            found_here = postings[buckets[bucket] : buckets[bucket + 1]]
            wanted = run << ROW_BITS
            for j in range(np.searchsorted(found_here, wanted), len(found_here)):
                if found_here[j] & ~ROW != wanted:
                    break
                counts[np.int64(found_here[j] & ROW)] += 1
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
