"""Values in their own places: what a value of the table may replace on the canvas.

A mask on the canvas is the place of its field. A value is misplaced if it replaces nothing but masks of known
fields, none of which is its own: "released in <developer>" then reads "released in Nintendo". A splice that
replaces other words as well removes a clause, which is how texts lose what their table does not say.
"""

from __future__ import annotations

from collections.abc import Iterable

from textsplice.config import SearchConfig

# By `search.misplaced_values`: what a misplaced value costs, a log-probability of the second decision.
COSTS = {"free": 0.0, "discouraged": 3.0, "forbidden": float("inf")}


def misplaced_cost(search: SearchConfig) -> float:
    """What a misplaced value costs in a search."""
    return COSTS[search.misplaced_values]


def places_of_others(fields: Iterable[int], own: int) -> int:
    """How many tokens, from the first on, are masks of known fields other than `own`.

    `fields` are those of canvas tokens, -1 for what is no mask or of an unknown field. A value of `own` that
    replaces at least one and at most this many of them is misplaced.
    """
    count = 0
    for field in fields:
        if field in (-1, own):
            break
        count += 1
    return count
