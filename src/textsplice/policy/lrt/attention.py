"""Attention of texts to rows of one tensor, by the rows' numbers: on a CPU, nothing is copied or masked.

Shapes in comments: H texts, R rows, T rows that a text attends to, h heads, d model width.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from textsplice.policy.lrt.kernels import mix
from textsplice.policy.transformer import attend


class Places(NamedTuple):
    """The rows that each text attends to: the first `counts[h]` of `rows[h]`."""

    rows: NDArray[np.int64]  # [H, T]
    counts: NDArray[np.int64]  # [H]


def attend_to(query: Tensor, read: Tensor, places: Places, shape: tuple[int, int]) -> Tensor:
    """Multi-head attention of `[H, d]` to rows of keys and values, `[R, 2d]`; `shape` is heads and size.

    More may stand behind the queries and before the keys: the projections of self-attention are both.
    """
    if query.device.type != "cpu":
        return attend_gathered(query, read, places, shape)
    mixed = np.empty((len(query), *shape), dtype=np.float32)
    asked, known = (np.asarray(part).reshape(len(part), -1, *shape) for part in (query, read))
    mix(asked, known, *places, mixed)
    return torch.from_numpy(mixed.reshape(len(query), -1))


def attend_gathered(query: Tensor, read: Tensor, places: Places, shape: tuple[int, int]) -> Tensor:
    """The same on any device: each text's rows are copied side by side."""
    rows, counts = (torch.from_numpy(part).to(query.device) for part in places)
    width = shape[0] * shape[1]
    key, value = read[:, -2 * width :][rows].chunk(2, dim=-1)  # [H, T, d]
    seen = torch.arange(rows.shape[1], device=query.device) < counts[:, None]
    return attend(query[:, None, :width], key, value, shape[0], seen[:, None, None])[:, 0]
