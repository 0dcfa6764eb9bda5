"""The paper's oracle taken at its word: CKY over its grammar, twice, to measure `textsplice.oracle` against.

    [1] S → ν[k:l]            [0] C(n,s) → S R(n,s)
    [0] S → S S               [0] R(n,s) → ν[s:t]
    [1] S → ν[k:l] C(n,s)     [0] R(n,s) → ν[s:t] C(n,u)

Both fill the same chart, span by span, one item for each place `(n, s)`. The right-hand sides of S's first
and third rules are those of R(n,k), so S takes them from there. `cky_cost` is plain Python that keeps only
items that exist; `compiled_cky_cost` is dense loops under Numba.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np
from numba import njit
from numpy.typing import NDArray

IMPOSSIBLE = 10_000


def cky_cost(target: Sequence[Hashable], texts: Sequence[Sequence[Hashable]]) -> int:
    """The cost of the cheapest parse, in plain Python."""
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
