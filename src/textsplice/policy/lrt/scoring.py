"""What may come next in each text: the best words, the end, and the key that each would be copied from.

The keys of a word are always summed. A *choice* is a column of `[generable words | others]`. Shapes in
comments: H texts, C tables, K texts of a table, W tokens of a table and its neighbors, V generable words,
D words with a key of their own, X other words.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from textsplice.policy.cases import Keys, numbers_of
from textsplice.policy.lrt.kernels import find_best
from textsplice.text.vocabulary import BEGIN_ID, END_ID, MASK_ID

Ids = NDArray[np.int64]
NEVER = float("-inf")


class Choices(NamedTuple):
    """What can be chosen: `ids[c, x]` is the word of choice `x` of table c, `of_key[c, w]` that of a key."""

    begin: int
    end: int
    generable: int  # V
    ids: Ids  # [C, V + X]
    of_key: Ids  # [C, W]; 0 where there is no key, which has probability 0

    @classmethod
    def of(cls, keys: Sequence[Keys], words: Ids, width: int) -> Choices:
        """The choices of these tables. Begin and end always are among them."""
        marks = [mark for mark in (BEGIN_ID, END_ID) if mark not in words]
        shared = np.concatenate([words, np.array(marks, dtype=np.int64)])
        own = [each.word[: each.offsets[-2]] for each in keys]
        every = np.unique(np.concatenate(own))
        rare = every[numbers_of(shared, every) < 0]  # in some table, but not generable
        known = np.concatenate([shared, rare])
        found = [numbers_of(known, each) for each in own]
        others = [np.unique(each[each >= len(shared)]) for each in found]
        ids = np.full((len(keys), len(shared) + max(map(len, others))), MASK_ID, dtype=np.int64)
        of_key = np.zeros((len(keys), width), dtype=np.int64)
        ids[:, : len(shared)] = shared
        numbers = np.zeros(len(known), dtype=np.int64)
        numbers[: len(shared)] = np.arange(len(shared))
        for row, (each, more) in enumerate(zip(found, others, strict=True)):
            ids[row, len(shared) : len(shared) + len(more)] = known[more]
            numbers[more] = len(shared) + np.arange(len(more))
            of_key[row, : len(each)] = numbers[each]
        begin, end = numbers_of(shared, np.array([BEGIN_ID, END_ID])).tolist()
        return cls(begin, end, len(words), ids, of_key)


class Scored(NamedTuple):
    """The scores of each text's words, `[H, D]`, of which those from the last on share one; and of keys.

    The text of row h is in a slot of `keys`, `[slots, W]`, and of a table.
    """

    words: Tensor
    keys: Tensor
    slots: Ids
    case: Ids


class Best(NamedTuple):
    """The best choices of each text, best first, and as the last column the end; log-probabilities.

    `key` is the most probable key of each, -1 if that is the word's own.
    """

    scores: NDArray[np.float64]  # [H, K + 1]
    choice: Ids  # [H, K + 1]
    key: Ids  # [H, K + 1]


def best_of(scored: Scored, choices: Choices, shut: Tensor, width: int) -> Best:
    """The best `width` choices of each text; `shut` `[C, W]` are keys that stand for nothing."""
    if scored.words.device.type != "cpu":
        return best_by_tensors(scored, choices, shut, width)
    shape = (len(scored.words), width + 1)
    shares, totals = np.empty(shape, dtype=np.float32), np.empty(shape[0], dtype=np.float32)
    choice, key = np.empty(shape, dtype=np.int64), np.empty(shape, dtype=np.int64)
    words, highest = np.asarray(scored.words), np.asarray(scored.words.amax(dim=1))
    keys = (np.asarray(scored.keys), scored.slots, scored.case, choices.of_key, np.asarray(shut))
    marks = (choices.begin, choices.end, choices.ids.shape[1])
    find_best(words, highest, choices.generable, *keys, *marks, shares, choice, key, totals)
    return Best(_logs(shares) - _logs(totals)[:, None], choice, key)


def best_by_tensors(scored: Scored, choices: Choices, shut: Tensor, width: int) -> Best:
    """The same on any device."""
    words, device = scored.words, scored.words.device
    case, slots = (torch.from_numpy(part).to(device) for part in (scored.case, scored.slots))
    keys = scored.keys.index_select(0, slots).masked_fill_(shut.index_select(0, case), NEVER)
    of_key = torch.from_numpy(choices.of_key).to(device).index_select(0, case)
    tail = choices.generable - words.shape[1]
    words = torch.cat([words, words[:, -1:].expand(-1, tail)], dim=1)
    highest = torch.cat([words, keys], dim=1).amax(dim=1, keepdim=True)
    # A policy with hardly any words may have fewer than `width`.
    others = words.new_zeros(len(words), max(choices.ids.shape[1], width) - choices.generable)
    shares = torch.cat([(words - highest).exp_(), others], dim=1)
    shares.scatter_add_(1, of_key, (keys - highest).exp_())
    totals = shares.sum(dim=1)
    end = shares[:, choices.end : choices.end + 1].clone()
    shares[:, choices.begin] = 0
    shares[:, choices.end] = 0
    top = torch.topk(shares, width, dim=1)
    choice = torch.cat([top.indices, torch.full_like(top.indices[:, :1], choices.end)], dim=1)
    same = of_key[:, None] == choice[:, :, None]  # [H, K + 1, W]
    own = torch.cat([keys.new_full((len(keys), 1), NEVER), keys], dim=1)[:, None]
    same = torch.cat([same.new_ones(*choice.shape, 1), same], dim=2)
    copied = own.masked_fill(~same, NEVER).max(dim=2)
    word = torch.cat([words, torch.full_like(others, NEVER)], dim=1).gather(1, choice)
    key = torch.where(word > copied.values, -1, copied.indices - 1)
    logs = _logs(torch.cat([top.values, end], dim=1).cpu().numpy())
    return Best(logs - _logs(totals.cpu().numpy())[:, None], choice.cpu().numpy(), key.cpu().numpy())


def _logs(shares: NDArray[np.float32]) -> NDArray[np.float64]:
    with np.errstate(divide="ignore"):
        return np.log(shares.astype(np.float64))
