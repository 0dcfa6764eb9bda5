"""Compiled: what stands between the products of a stack that reads texts of any lengths, on a CPU.

Texts stand one after another; text t has the rows from `starts[t]` on, `lengths[t]` of them. Shapes in
comments: N rows, T texts, d model width.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from textsplice.policy.vectors import ANY_ORDER, multiply, padded, turn, write_exps

F32 = NDArray[np.float32]
I64 = NDArray[np.int64]

NEVER = np.float32(-1e30)


@njit(cache=True, nogil=True, fastmath=ANY_ORDER)
def mix(
    query: F32,  # flat: rows of `query_step` numbers, of which the first d are queries
    query_step: int,
    starts: I64,
    lengths: I64,
    read: F32,  # flat: rows of `read_step` numbers, of which the last 2d are keys and values
    read_step: int,
    read_starts: I64,
    read_lengths: I64,
    heads: int,
    mixed: F32,  # [N, d]
) -> None:
    """Writes what each text gathers from the rows that it reads: multi-head attention."""
    d = mixed.shape[1]
    size = d // heads
    scale = np.float32(1 / np.sqrt(size))
    out = mixed.reshape(-1)
    widest = padded(read_lengths.max())
    turned = np.zeros((heads, size * widest), np.float32)
    fits = np.zeros(lengths.max() * widest, np.float32)
    wide = padded(size)
    values = np.zeros(read_lengths.max() * wide, np.float32)
    answers = np.zeros(lengths.max() * wide, np.float32)
    shut = np.zeros(widest, np.float32)
    shares = np.empty(len(fits), np.float32)
    bits = np.empty(len(fits), np.int32)
    before = -1
    for text in range(len(starts)):
        rows, first, count = lengths[text], read_starts[text], read_lengths[text]
        width = padded(count)
        keys = first * read_step + read_step - 2 * d
        if first != before:  # several texts may read the same
            before = first
            for head in range(heads):
                turn(read, keys + head * size, read_step, count, size, turned[head], width)
            for column in range(width):
                shut[column] = 0 if column < count else NEVER
        for head in range(heads):
            at = starts[text] * query_step + head * size
            multiply(query, at, query_step, rows, turned[head], 0, width, size, fits, 0, width, width)
            for row in range(rows):
                own = fits[row * width : (row + 1) * width]
                highest = NEVER
                for column in range(width):
                    own[column] = own[column] * scale + shut[column]
                    highest = max(highest, own[column])
                for column in range(width):
                    own[column] -= highest
            write_exps(fits[: rows * width], np.float32(0), shares, bits)
            for row in range(rows):
                own = shares[row * width : (row + 1) * width]
                total = np.float32(0)
                for column in range(width):
                    total += own[column]
                total = np.float32(1) / total
                for column in range(width):
                    own[column] *= total
            first_value = keys + d + head * size
            if wide == size:  # tiles fit heads, and can be written where they belong
                to = starts[text] * d + head * size
                multiply(shares, 0, width, rows, read, first_value, read_step, count, out, to, d, size)
                continue
            for key in range(count):
                at = first_value + key * read_step
                value, laid = read[at : at + size], values[key * wide : key * wide + size]
                for i in range(size):
                    laid[i] = value[i]
            multiply(shares, 0, width, rows, values, 0, wide, count, answers, 0, wide, wide)
            for row in range(rows):
                answer = answers[row * wide : row * wide + size]
                to = mixed[starts[text] + row, head * size : (head + 1) * size]
                for i in range(size):
                    to[i] = answer[i]


@njit(cache=True, nogil=True)
def embed(
    ids: NDArray[np.integer],
    features: I64,
    lengths: I64,
    tokens: F32,
    positions: F32,
    of_features: F32,
    states: F32,
) -> None:
    """Writes the sum of what is known of each token; it is not normalized yet."""
    row = 0
    last = len(positions) - 1
    for length in lengths:
        for position in range(length):
            word, place, feature = (
                tokens[ids[row]],
                positions[min(position, last)],
                of_features[features[row]],
            )
            state = states[row]
            for i in range(len(state)):
                state[i] = word[i] + place[i] + feature[i]
            row += 1


@njit(cache=True, nogil=True)
def add(states: F32, change: F32, rows: int) -> None:
    """Adds what a sublayer makes of the first rows."""
    for row in range(rows):
        state, more = states[row], change[row]
        for i in range(len(state)):
            state[i] += more[i]


@njit(cache=True, nogil=True, fastmath=ANY_ORDER)
def normalize(states: F32, weight: F32, bias: F32, epsilon: float, rows: int, out: F32) -> None:
    """Writes the norm of the first rows of states `[N, d]`, perhaps in their place."""
    d = states.shape[1]
    share = np.float32(1 / d)
    for row in range(rows):
        state, normed = states[row], out[row]
        total = np.float32(0)
        for i in range(d):
            total += state[i]
        mean = total * share
        squares = np.float32(0)
        for i in range(d):
            squares += (state[i] - mean) * (state[i] - mean)
        factor = np.float32(1 / np.sqrt(squares * share + np.float32(epsilon)))
        for i in range(d):
            normed[i] = (state[i] - mean) * factor * weight[i] + bias[i]
