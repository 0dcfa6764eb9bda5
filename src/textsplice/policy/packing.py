"""Many sequences packed into one flat tensor, with little padding.

Sequences of similar length form a *block*, padded to the longest of the block. Everything that works token by
token (projections, norms, feed-forward) runs once over the flat tensor; only attention sees blocks.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from textsplice.ragged import Ragged

# A sequence joins a block if padding it costs at most this share of the block's shortest.
SLACK = 0.05


class Block(NamedTuple):
    """`rows` sequences padded to `width`.

    `mask` is what attention adds: 0 on tokens and -inf on padding, `[rows, 1, 1, width]`.
    """

    rows: int
    width: int
    mask: Tensor | None

    @property
    def size(self) -> int:
        """How many places of the flat tensor the block takes."""
        return self.rows * self.width


@dataclass(frozen=True)
class Packing:
    """The place of each sequence in the flat tensor.

    `order[r]` is the sequence in row `r`, `start[s]` the first place of sequence `s`, `lengths[s]` its
    length without padding. Rows of one group are adjacent, and no block spans two groups.
    """

    order: NDArray[np.int64]
    start: NDArray[np.int64]
    lengths: NDArray[np.int64]
    blocks: list[Block]
    block_groups: NDArray[np.int64]

    @property
    def size(self) -> int:
        """How many places the flat tensor has."""
        return sum(block.size for block in self.blocks)

    def group_size(self, group: int) -> int:
        """How many places the blocks of one group have."""
        pairs = zip(self.blocks, self.block_groups.tolist(), strict=True)
        return sum(block.size for block, its_group in pairs if its_group == group)

    def places(self) -> NDArray[np.int64]:
        """The place of each token, sequences one after another in their original order."""
        ends = np.cumsum(self.lengths)
        shift = self.start - (ends - self.lengths)
        return np.repeat(shift, self.lengths) + np.arange(ends[-1] if len(ends) else 0)

    def spread(self, values: NDArray[np.integer], fill: int = 0) -> NDArray[np.int64]:
        """A flat array with the values of all tokens, given sequence after sequence, in their places."""
        flat = np.full(self.size, fill, dtype=np.int64)
        flat[self.places()] = values
        return flat

    def positions(self, longest: int) -> NDArray[np.int64]:
        """The position of each place in its sequence, capped below `longest`."""
        runs = [np.tile(np.arange(block.width), block.rows) for block in self.blocks]
        flat = np.concatenate(runs) if runs else np.zeros(0, dtype=np.int64)
        return np.minimum(flat, longest - 1)


def pack(lengths: NDArray[np.int64], groups: NDArray[np.int64] | None = None) -> Packing:
    """Packs sequences of these lengths; groups, if given, are kept apart and in ascending order."""
    if groups is None:
        groups = np.zeros(len(lengths), dtype=np.int64)
    order = np.lexsort((lengths, groups))
    sorted_lengths, sorted_groups = lengths[order], groups[order]
    firsts = _block_firsts(sorted_lengths, sorted_groups)
    start = np.zeros(len(lengths), dtype=np.int64)
    blocks: list[Block] = []
    place = 0
    for first, last in zip(firsts, [*firsts[1:], len(order)], strict=True):
        rows, width = last - first, int(sorted_lengths[last - 1])
        start[order[first:last]] = place + width * np.arange(rows)
        blocks.append(Block(rows, width, padding_mask(sorted_lengths[first:last], width)))
        place += rows * width
    return Packing(order, start, lengths, blocks, sorted_groups[firsts])


def padding_mask(lengths: NDArray[np.int64], width: int) -> Tensor | None:
    """What attention adds to the scores of keys: 0 on tokens, -inf on padding; None without padding."""
    if not len(lengths) or lengths.min() == width:
        return None
    padding = torch.from_numpy(np.arange(width) >= lengths[:, None])
    mask = torch.zeros(len(lengths), 1, 1, width)
    return mask.masked_fill_(padding[:, None, None, :], float("-inf"))


def gather_rows(rows: Ragged, chosen: NDArray[np.int64]) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """The values of chosen rows one after another, and their lengths."""
    lengths = rows.lengths[chosen]
    ends = np.cumsum(lengths)
    shift = rows.offsets[chosen] - (ends - lengths)
    places = np.repeat(shift, lengths) + np.arange(ends[-1] if len(ends) else 0)
    return rows.values[places], lengths


def _block_firsts(lengths: NDArray[np.int64], groups: NDArray[np.int64]) -> list[int]:
    firsts: list[int] = []
    longest, group = -1, -1
    for row, (length, its_group) in enumerate(zip(lengths.tolist(), groups.tolist(), strict=True)):
        if length > longest or its_group != group:
            firsts.append(row)
            longest, group = int(length * (1 + SLACK)) + 1, its_group
    return firsts
