"""The paper's oracle, literally: CKY over its grammar, as a reference for `textsplice.oracle`.

    [1] S → ν[k:l]            [0] C(n,s) → S R(n,s)
    [0] S → S S               [0] R(n,s) → ν[s:t]
    [1] S → ν[k:l] C(n,s)     [0] R(n,s) → ν[s:t] C(n,u)

`literal_chart` tries every rule at every span and split, as CKY does; it runs as plain Python and under
Numba. `cky_cost` is an optimized version in plain Python: it keeps only items that exist, visits only pieces
that match, and takes the right-hand sides of S's first and third rules from R(n,k), where they are the same.
`compiled_cky_cost` is the optimized version under Numba.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np
from numba import njit
from numpy.typing import NDArray

IMPOSSIBLE = 10_000


def literal_cky_cost(target: Sequence[int], texts: Sequence[Sequence[int]]) -> int:
    """The cost of the cheapest parse, trying every rule everywhere, in plain Python."""
    if not target:
        return 0
    size = (len(target) + 1) ** 2
    places, ends = _laid(texts)
    items = [IMPOSSIBLE] * (size * len(places))
    return literal_chart(list(target), places, ends, [IMPOSSIBLE] * size, items, items.copy())


def compiled_literal_cky_cost(target: Sequence[int], texts: Sequence[Sequence[int]]) -> int:
    """The same function, compiled."""
    if not target:
        return 0
    size = (len(target) + 1) ** 2
    places, ends = (np.array(numbers, dtype=np.int64) for numbers in _laid(texts))
    S = np.full(size, IMPOSSIBLE, np.int64)
    items = np.full(size * len(places), IMPOSSIBLE, np.int64)
    return int(_compiled_literal_chart(np.array(target), places, ends, S, items, items.copy()))


def _laid(texts: Sequence[Sequence[int]]) -> tuple[list[int], list[int]]:
    """The texts end to end, and for each place the end of its text."""
    places: list[int] = []
    ends: list[int] = []
    for text in texts:
        places.extend(text)
        ends.extend([len(places)] * len(text))
    return places, ends


def literal_chart(
    target: Sequence[int],
    places: Sequence[int],
    ends: Sequence[int],
    S: list[int],
    C: list[int],
    R: list[int],
) -> int:
    """Fills the chart and returns the total cost; cell (a, b) is at `a * side + b`, its items by place.

    The terminals ν[k:l] of a cell are not stored: spans are compared with target[a:m] token by token.
    """
    length, count = len(target), len(places)
    side = length + 1
    for width in range(1, length + 1):
        for a in range(length - width + 1):
            b = a + width
            cell = a * side + b
            for m in range(a + 1, b):  # S → S S
                S[cell] = min(S[cell], S[a * side + m] + S[m * side + b])
            for m in range(a + 1, b + 1):
                right = m * side + b
                for k in range(count):
                    for stop in range(k + 1, ends[k] + 1):
                        if stop - k != m - a:
                            continue
                        same = True
                        for i in range(m - a):
                            if places[k + i] != target[a + i]:
                                same = False
                                break
                        if not same:
                            continue
                        if m == b:  # S → ν[k:l] and R(n,k) → ν[k:l]
                            S[cell] = min(S[cell], 1)
                            R[cell * count + k] = 0
                        else:
                            for s in range(stop, ends[k]):  # S → ν[k:l] C(n,s)
                                S[cell] = min(S[cell], 1 + C[right * count + s])
                            for u in range(stop, ends[k]):  # R(n,k) → ν[k:l] C(n,u)
                                rest = C[right * count + u]
                                R[cell * count + k] = min(R[cell * count + k], rest)
            for m in range(a + 1, b):
                for s in range(count):  # C(n,s) → S R(n,s)
                    cost = S[a * side + m] + R[(m * side + b) * count + s]
                    C[cell * count + s] = min(C[cell * count + s], cost)
    return S[length]


_compiled_literal_chart = njit(cache=True, nogil=True)(literal_chart)


def cky_cost(target: Sequence[Hashable], texts: Sequence[Sequence[Hashable]]) -> int:
    """The cost of the cheapest parse by the optimized version, in plain Python."""
    length = len(target)
    if not length:
        return 0
    starts = [
        [
            (n, s, run)
            for n, text in enumerate(texts)
            for s in range(len(text))
            if (run := _run(target, a, text, s))
        ]
        for a in range(length)
    ]
    S = [[IMPOSSIBLE] * (length + 1) for _ in range(length + 1)]
    C: dict[tuple[int, int], dict[int, dict[int, int]]] = {}  # span -> n -> s -> cost
    R: dict[tuple[int, int], dict[int, dict[int, int]]] = {}
    for width in range(1, length + 1):
        for a in range(length - width + 1):
            b = a + width
            R[a, b], C[a, b] = {}, {}
            best = min((S[a][m] + S[m][b] for m in range(a + 1, b)), default=IMPOSSIBLE)
            for n, s, run in starts[a]:
                cost = 0 if run >= width else IMPOSSIBLE
                for piece in range(1, min(run, width - 1) + 1):
                    for u, rest in C[a + piece, b].get(n, {}).items():
                        if u >= s + piece and rest < cost:
                            cost = rest
                if cost < IMPOSSIBLE:
                    R[a, b].setdefault(n, {})[s] = cost
                    best = min(best, 1 + cost)
            S[a][b] = best
            for m in range(a + 1, b):
                for n, items in R[m, b].items():
                    chosen = C[a, b].setdefault(n, {})
                    for s, cost in items.items():
                        if S[a][m] + cost < chosen.get(s, IMPOSSIBLE):
                            chosen[s] = S[a][m] + cost
    return S[0][length]


def _run(target: Sequence[Hashable], a: int, text: Sequence[Hashable], s: int) -> int:
    run = 0
    while a + run < len(target) and s + run < len(text) and target[a + run] == text[s + run]:
        run += 1
    return run


def compiled_cky_cost(target: Sequence[int], texts: Sequence[Sequence[int]]) -> int:
    """The same under Numba, on integer tokens."""
    if not len(target):
        return 0
    places = np.array([token for text in texts for token in text], dtype=np.int64)
    ends = np.repeat(np.cumsum([len(text) for text in texts]), [len(text) for text in texts])
    return int(_chart(np.array(target, dtype=np.int64), places, ends.astype(np.int64)))


@njit(cache=True, nogil=True)
def _chart(target: NDArray[np.int64], places: NDArray[np.int64], ends: NDArray[np.int64]) -> int:
    length, count = len(target), len(places)
    S = np.full((length + 1, length + 1), IMPOSSIBLE, np.int16)
    C = np.full((length + 1, length + 1, count), IMPOSSIBLE, np.int16)
    R = np.full((length + 1, length + 1, count), IMPOSSIBLE, np.int16)
    for width in range(1, length + 1):
        for a in range(length - width + 1):
            b = a + width
            best = IMPOSSIBLE
            for m in range(a + 1, b):
                best = min(best, S[a, m] + S[m, b])
            for s in range(count):
                cost = IMPOSSIBLE
                piece = 0
                while piece < width and s + piece < ends[s] and target[a + piece] == places[s + piece]:
                    piece += 1
                    if piece == width:
                        cost = 0
                    else:
                        for u in range(s + piece, ends[s]):
                            cost = min(cost, C[a + piece, b, u])
                R[a, b, s] = cost
                best = min(best, 1 + cost)
            S[a, b] = best
            for m in range(a + 1, b):
                for s in range(count):
                    C[a, b, s] = min(C[a, b, s], S[a, m] + R[m, b, s])
    return S[0, length]
