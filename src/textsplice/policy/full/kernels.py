"""The loops over tokens that build a batch, compiled."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from textsplice.oracle.numbering import TABLE

I32 = NDArray[np.int32]
I64 = NDArray[np.int64]


@njit(cache=True)
def draw_canvases(
    splices: I32,
    offsets: I64,
    sources: I32,
    source_offsets: I64,
    first_source: I64,
    source_rows: I64,
    words_from: I64,
    place: I64,
    longest: int,
    max_age: int,
    ids: I64,
    ages: I64,
    copied: NDArray[np.bool_],
) -> None:
    """Replays derivations and writes each canvas to its place, padded with one PAD on either side.

    Example `e` has `splices[offsets[e]:offsets[e + 1]]`; its text number `s` is row
    `source_rows[first_source[e] + s]` of `sources`, and from `words_from[e]` on, words. Actions are the
    splices and one Stop per example; `place[a]` is -1 for actions that are left out.
    """
    token = np.zeros(longest, dtype=np.int32)
    table_position = np.zeros(longest, dtype=np.int32)
    step = np.zeros(longest, dtype=np.int32)
    action = 0
    row = 0
    for example in range(len(offsets) - 1):
        length = 0
        for now in range(offsets[example + 1] - offsets[example] + 1):
            at = place[action]
            if at >= 0:
                for i in range(length):
                    ids[at + 1 + i] = token[i]
                    ages[at + 1 + i] = min(now - step[i], max_age)
                    if table_position[i] >= 0:
                        copied[row, table_position[i]] = True
                row += 1
            action += 1
            if now == offsets[example + 1] - offsets[example]:
                break
            start, stop, source, begin, end = splices[offsets[example] + now]
            grown = (end - begin) - (stop - start)
            if grown > 0:
                for i in range(length - 1, stop - 1, -1):
                    token[i + grown] = token[i]
                    table_position[i + grown] = table_position[i]
                    step[i + grown] = step[i]
            elif grown < 0:
                for i in range(stop, length):
                    token[i + grown] = token[i]
                    table_position[i + grown] = table_position[i]
                    step[i + grown] = step[i]
            length += grown
            for i in range(end - begin):
                if source >= words_from[example]:
                    token[start + i] = source - words_from[example]
                else:
                    text = source_rows[first_source[example] + source]
                    token[start + i] = sources[source_offsets[text] + begin + i]
                table_position[start + i] = begin + i if source == TABLE else -1
                step[start + i] = now


@njit(cache=True)
def mark_spans(
    tokens: I32,
    limit: I64,
    column: I64,
    first_token: I64,
    begin: I64,
    length: I64,
    marks: NDArray[np.bool_],
) -> None:
    """Marks for each action the columns of all keys whose span equals the action's.

    `tokens` are a case's texts one after another; a span that begins at `t` must end by `limit[t]`;
    `column[t]` is -1 where none may begin. A span of one token need not appear in the texts.
    """
    for action in range(len(begin)):
        for t in range(len(tokens)):
            if column[t] < 0 or tokens[t] != first_token[action]:
                continue
            if t + length[action] > limit[t]:
                continue
            equal = True
            for i in range(1, length[action]):
                if tokens[t + i] != tokens[begin[action] + i]:
                    equal = False
                    break
            if equal:
                marks[action, column[t]] = True


@njit(cache=True)
def list_ends(
    limit: I64,
    column: I64,
    encoded: I64,
    begin: I64,
    length: I64,
    shift: I64,
    places: I64,
    counts: I64,
    chosen: I64,
) -> None:
    """Lists the places of tokens at which each action's span may end, and which of them is chosen.

    `encoded[t]` is where token `t` of the case's texts was encoded; `shift[a]` is added to it for
    spans of the table, which is encoded once per set of copied flags.
    """
    for action in range(len(begin)):
        first = begin[action]
        if first < 0:
            continue
        count = 0
        for t in range(first, limit[first]):
            if column[t] < 0:
                continue
            if t == first + length[action] - 1:
                chosen[action] = count
            places[action, count] = encoded[t] + shift[action]
            count += 1
        counts[action] = count
