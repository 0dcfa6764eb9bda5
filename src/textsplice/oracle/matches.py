"""The values that the compiled kernel works on: the texts to parse with, matches, and chains through them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class ParsedTexts(NamedTuple):
    """The texts that one target is parsed with: the table's values, then the neighbors by rank.

    Their tokens are laid end to end. A *place* is an index into them; there is an empty place before each
    text and after the last. A source (`oracle.numbering`) may hold several texts: the table's values.
    """

    kind: NDArray[np.int32]  # per place: its token's number among the target's distinct tokens, or -1
    text: NDArray[np.int32]  # per place: its text
    start: NDArray[np.int32]  # per text: the place of its first token
    source: NDArray[np.int32]  # per text: its source
    offset: NDArray[np.int32]  # per text: the position of its first token in its source


class Matches(NamedTuple):
    """Pairs of a target position and a place with the same token, ordered by position, then by place.

    The matches of position `q` are `rows[q]:rows[q + 1]`. Match 0 means "no match".
    """

    rows: NDArray[np.int32]
    position: NDArray[np.int32]
    place: NDArray[np.int32]
    text: NDArray[np.int32]
    before: NDArray[np.int32]  # the match one token to the left in both target and text


class Chains(NamedTuple):
    """Chains that begin at one position: what they cost, and the matches they went through."""

    price: NDArray[np.int64]  # per text: the cost of beginning a chain
    gap: NDArray[np.int64]  # per stretch [a, b]: the cost of deriving it
    most: NDArray[np.int64]  # per position: the most splices a chain and its gaps may cost to resume there
    value: NDArray[np.int64]  # per match: the least cost of a chain up to it
    back: NDArray[np.int32]  # per match: the previous match of that chain
    best: NDArray[np.int64]  # per position: the least cost of a chain that ends there
