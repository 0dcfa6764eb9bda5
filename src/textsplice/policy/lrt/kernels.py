"""Compiled: the attention of texts to rows by their numbers, and the best words of each text.

All compiled functions are in this file, as in `oracle.kernel`. Shapes in comments: H texts, C tables, R rows,
h heads, d model width, W tokens of a table and its neighbors, D distinct keys of words, K texts of a table.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from textsplice.policy.vectors import ANY_ORDER, sum_of, write_exps

F32 = NDArray[np.float32]
I64 = NDArray[np.int64]

BLOCK = 64  # shares that are looked at together


@njit(cache=True, nogil=True, fastmath=ANY_ORDER)
def mix(
    query: F32,  # [H, parts, h, d / h]; the first part counts
    read: F32,  # [R, parts, h, d / h]; the last two are keys and values
    rows: I64,
    counts: I64,
    mixed: F32,  # [H, h, d / h]
) -> None:
    """Writes to `mixed` the values of each text's rows, weighted by how well their keys fit its query."""
    texts, heads, size = mixed.shape
    parts = read.shape[1]
    scale = np.float32(1 / np.sqrt(size))
    fits = np.empty((heads, rows.shape[1]), np.float32)
    weights = np.empty(rows.shape[1], np.float32)
    bits = np.empty(rows.shape[1], np.int32)
    for text in range(texts):
        count = counts[text]
        for t in range(count):
            key = read[rows[text, t], parts - 2]
            for head in range(heads):
                fit = np.float32(0)
                for i in range(size):
                    fit += query[text, 0, head, i] * key[head, i]
                fits[head, t] = fit * scale
        for head in range(heads):
            own, answer = fits[head, :count], mixed[text, head]
            write_exps(own, own.max(), weights[:count], bits[:count])
            total = sum_of(weights[:count])
            answer[:] = 0
            for t in range(count):
                value = read[rows[text, t], parts - 1, head]
                share = weights[t] / total
                for i in range(size):
                    answer[i] += share * value[i]


@njit(cache=True, nogil=True)
def find_best(
    words: F32,  # [H, D]: the scores of words; those from the last on share one
    highest_words: F32,  # [H]
    generable: int,  # how many words there are
    keys: F32,  # [slots, W]: the scores of keys
    slots: I64,  # [H]
    case: I64,  # [H]
    of_key: I64,  # [C, W]: the choice of each key
    shut: NDArray[np.bool_],  # [C, W]
    begin: int,
    end: int,
    choices: int,
    best: F32,  # [H, K + 1]
    choice: I64,  # [H, K + 1]
    key: I64,  # [H, K + 1]
    totals: F32,  # [H]
) -> None:
    """Writes the shares of the best K choices of each text, best first, and of the end.

    `totals` are the sums of all shares. `key` is the most probable key of a choice, -1 if that is the word's.
    """
    distinct = words.shape[1]
    shares = np.empty(choices, np.float32)
    copied = np.empty(keys.shape[1], np.float32)
    bits = np.empty(max(distinct, keys.shape[1]), np.int32)
    for text in range(len(words)):
        scores, own = words[text], keys[slots[text]]
        closed, choice_of = shut[case[text]], of_key[case[text]]
        highest = highest_words[text]
        for w in range(len(own)):
            if not closed[w]:
                highest = max(highest, own[w])
        write_exps(scores, highest, shares[:distinct], bits[:distinct])
        shares[distinct:generable] = shares[distinct - 1]
        shares[generable:] = 0
        write_exps(own, highest, copied, bits[: len(own)])
        for w in range(len(own)):
            if not closed[w]:
                shares[choice_of[w]] += copied[w]
        totals[text] = sum_of(shares)
        best[text, -1], choice[text, -1] = shares[end], end
        shares[begin] = 0
        shares[end] = 0
        write_highest(shares, best[text, :-1], choice[text, :-1])
        for place in range(choice.shape[1]):
            chosen = choice[text, place]
            found, bar = -1, np.float32(-np.inf)
            for w in range(len(own)):
                if choice_of[w] == chosen and not closed[w] and own[w] > bar:
                    found, bar = w, own[w]
            is_word = chosen < generable and scores[min(chosen, distinct - 1)] > bar
            key[text, place] = -1 if is_word else found


@njit(cache=True, nogil=True)
def write_highest(shares: F32, best: F32, choice: I64) -> None:
    """Writes the highest shares that are above 0, and where they are; of equal ones the first."""
    best[:] = 0
    choice[:] = 0
    bits, bars = shares.view(np.int32), best.view(np.int32)  # ordered alike, and several are compared at once
    for first in range(0, len(shares), BLOCK):
        block, highest = bits[first : first + BLOCK], np.int32(0)
        for i in range(len(block)):
            highest = max(highest, block[i])
        if highest <= bars[-1]:
            continue
        for i in range(first, first + len(block)):
            if shares[i] > best[-1]:
                place = len(best) - 1
                while place and best[place - 1] < shares[i]:
                    best[place], choice[place] = best[place - 1], choice[place - 1]
                    place -= 1
                best[place], choice[place] = shares[i], i
