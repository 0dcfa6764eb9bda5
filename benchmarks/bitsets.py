"""The kernel's recurrence with Python integers as sets of places: fast without a compiler."""

from __future__ import annotations

from collections.abc import Hashable, Sequence


def bitset_cost(target: Sequence[Hashable], texts: Sequence[Sequence[Hashable]]) -> int:
    """The least number of splices; `textsplice.oracle.kernel` explains the recurrence."""
    if not target:
        return 0
    places: dict[Hashable, int] = dict.fromkeys(target, 0)  # token → the places that have it, as bits
    separators = 0  # one place after each text
    place = 0
    for text in texts:
        for token in text:
            if token in places:
                places[token] |= 1 << place
            place += 1
        separators |= 1 << place
        place += 1
    inside = ~separators

    length = len(target)
    S = [[0] * (length + 1) for _ in range(length + 1)]
    for a in range(length - 1, -1, -1):
        row = S[a]
        row[a + 1] = 1
        live = places[target[a]]
        after = {a + 1: _after_first(live, separators, inside)}  # by the position c where a chain may end
        for p in range(a + 1, length):
            s = row[p]
            resume = live << 1
            for c, later in after.items():
                if c < p and row[c] + S[c][p] == s:
                    resume |= later
            live = places[target[p]] & resume
            if live:
                row[p + 1] = s
                after[p + 1] = _after_first(live, separators, inside)
            else:
                goes_on = any(c < p and row[c] + S[c][p + 1] == s for c in after)
                row[p + 1] = s if goes_on else s + 1
    return S[0][length]


def _after_first(live: int, separators: int, inside: int) -> int:
    """In each text, the places after its first live one: `x | -x` per text, shifted by one."""
    return ((live | (separators - live)) & inside) << 1
