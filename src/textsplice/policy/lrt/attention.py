"""Attention of texts to rows of one tensor, by the rows' numbers: on a CPU, nothing is copied or masked.

Shapes in comments: H texts, R rows, T rows that a text attends to, h heads, d model width.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import torch
from numba import njit
from numpy.typing import NDArray
from torch import Tensor

from textsplice.policy.transformer import attend

# Sums in any order, so that several products are added at once; nothing else of what fast math allows.
ANY_ORDER = {"reassoc", "contract", "nsz"}


class Places(NamedTuple):
    """The rows that each text attends to: the first `counts[h]` of `rows[h]`."""

    rows: NDArray[np.int64]  # [H, T]
    counts: NDArray[np.int64]  # [H]


def attend_to(query: Tensor, read: Tensor, places: Places, heads: int) -> Tensor:
    """Multi-head attention of `[H, d]` to rows of keys and values, `[R, 2d]`."""
    if query.device.type != "cpu":
        return attend_gathered(query, read, places, heads)
    asked = np.asarray(query.unflatten(1, (heads, -1)).contiguous())
    mixed = np.empty_like(asked)
    mix(asked, np.asarray(read.view(len(read), 2, heads, -1)), *places, mixed)
    return torch.from_numpy(mixed).flatten(1)


def attend_gathered(query: Tensor, read: Tensor, places: Places, heads: int) -> Tensor:
    """The same on any device: each text's rows are copied side by side."""
    rows, counts = (torch.from_numpy(part).to(query.device) for part in places)
    key, value = read[rows].chunk(2, dim=-1)  # [H, T, d]
    seen = torch.arange(rows.shape[1], device=query.device) < counts[:, None]
    return attend(query[:, None], key, value, heads, seen[:, None, None])[:, 0]


@njit(cache=True, nogil=True, fastmath=ANY_ORDER)
def mix(
    query: NDArray[np.float32],  # [H, h, d / h]
    read: NDArray[np.float32],  # [R, 2, h, d / h]
    rows: NDArray[np.int64],
    counts: NDArray[np.int64],
    mixed: NDArray[np.float32],  # [H, h, d / h]
) -> None:
    """Writes to `mixed` the values of each text's rows, weighted by how well their keys fit its query."""
    texts, heads, size = query.shape
    scale = np.float32(1 / np.sqrt(size))
    weights = np.empty(rows.shape[1], np.float32)
    for text in range(texts):
        count = counts[text]
        for head in range(heads):
            asked, answer = query[text, head], mixed[text, head]
            highest = np.float32(-np.inf)
            for t in range(count):
                key = read[rows[text, t], 0, head]
                fit = np.float32(0)
                for i in range(size):
                    fit += asked[i] * key[i]
                weights[t] = fit * scale
                highest = max(highest, weights[t])
            total = np.float32(0)
            for t in range(count):
                weights[t] = np.exp(weights[t] - highest)
                total += weights[t]
            answer[:] = 0
            for t in range(count):
                value = read[rows[text, t], 1, head]
                share = weights[t] / total
                for i in range(size):
                    answer[i] += share * value[i]
