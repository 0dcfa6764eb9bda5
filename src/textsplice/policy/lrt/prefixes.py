"""Texts that begin alike, read as one tree: what they share is read once.

The texts that a beam finds for a table share most of their beginnings: on E2E, a tree of 43 of them has a
fifth of their tokens.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from textsplice.ragged import Ragged

MOST = 1024  # tokens of a tree: what attention takes grows with their square


class PrefixTree(NamedTuple):
    """The beginnings of some texts: the last token of each and how many come before it.

    `nodes[t]` are the beginnings of text `t`, the shortest first; `seen[a, b]` is whether `b` begins `a`.
    """

    texts: list[int]
    tokens: NDArray[np.int64]
    depths: NDArray[np.int64]
    seen: NDArray[np.bool_]
    nodes: list[list[int]]

    @property
    def mask(self) -> Tensor:
        """What attention adds: each token sees itself and those that it follows."""
        return torch.zeros(self.seen.shape).masked_fill_(torch.from_numpy(~self.seen), float("-inf"))


def prefix_trees(texts: Ragged, *, most: int = MOST) -> Iterator[PrefixTree]:
    """Trees of all texts without their last tokens; a text that is longer than `most` has one of its own."""
    rows = [text.tolist() for text in texts]
    some: list[int] = []
    known: dict[tuple[int, int], int] = {}
    for number in sorted(range(len(rows)), key=rows.__getitem__):
        grown = dict(known)
        _walk(rows[number][:-1], grown)
        if some and len(grown) > most:
            yield _tree(some, [rows[each][:-1] for each in some], known)
            some, grown = [], {}
            _walk(rows[number][:-1], grown)
        some.append(number)
        known = grown
    if some:
        yield _tree(some, [rows[each][:-1] for each in some], known)


def _walk(text: Sequence[int], known: dict[tuple[int, int], int]) -> list[int]:
    """The nodes of a text, from `(node before, token)`; new ones become known."""
    at, path = -1, list[int]()
    for token in text:
        at = known.setdefault((at, token), len(known))
        path.append(at)
    return path


def _tree(texts: list[int], rows: Sequence[Sequence[int]], known: dict[tuple[int, int], int]) -> PrefixTree:
    before = np.array([node for node, _ in known], dtype=np.int64)
    tokens = np.array([token for _, token in known], dtype=np.int64)
    seen = np.eye(len(known), dtype=np.bool_)
    depths = np.zeros(len(known), dtype=np.int64)
    for node, parent in enumerate(before.tolist()):
        if parent >= 0:
            seen[node] |= seen[parent]
            depths[node] = depths[parent] + 1
    return PrefixTree(texts, tokens, depths, seen, [_walk(row, known) for row in rows])
