"""The values the compiled kernel works on: one target's sources, its matches, and chains through them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class Sources(NamedTuple):
    """The texts one target is parsed with, end to end, with a free place before each and after the last.

    First the table's values, each a source of its own, then the neighbours by rank.
    """

    kind: NDArray[np.int32]  # of a place's token among the target's kinds of token, -1 if it has none such
    source: NDArray[np.int32]  # of a place
    start: NDArray[np.int32]  # of a source: the place of its first token
    number: NDArray[np.int32]  # of a source: what splices call it
    base: NDArray[np.int32]  # of a source: where its first token stands in what splices call by that number


class Matches(NamedTuple):
    """Pairs of a target position and a place with the same token, by position, then by place.

    Those of position `q` are `rows[q]:rows[q + 1]`. Match 0 stands for none.
    """

    rows: NDArray[np.int32]
    position: NDArray[np.int32]
    place: NDArray[np.int32]
    source: NDArray[np.int32]
    before: NDArray[np.int32]  # the match one token to the left in both texts


class Chains(NamedTuple):
    """Chains that begin at one position, weighed: what they cost, and how they came about."""

    price: NDArray[np.int64]  # of a source: what a chain of it costs to begin with
    gap: NDArray[np.int64]  # of a stretch [a, b]: what it costs to derive
    most: NDArray[np.int64]  # of a position: splices a chain and its gaps may have cost to resume there
    value: NDArray[np.int64]  # of a match: the least cost of a chain up to it
    back: NDArray[np.int32]  # of a match: the match that chain had before
    best: NDArray[np.int64]  # of a position: the least cost of a chain that ends there
