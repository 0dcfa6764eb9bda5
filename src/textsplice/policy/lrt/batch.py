"""One training step of LRT as tensors: each target is read once, causally."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from textsplice.policy.batch_texts import BatchTexts
from textsplice.policy.cases import numbers_of, or_one
from textsplice.policy.examples import TrainingSplit, group_cases
from textsplice.policy.packing import Packing, gather_rows, pack
from textsplice.policy.shape import PolicyShape
from textsplice.policy.transformer import (
    NEIGHBOR,
    NOT_COPIED,
    Context,
    Sequences,
    causal,
    sequences,
)
from textsplice.ragged import Ragged
from textsplice.text.vocabulary import MASK_ID

NOTHING = -1  # the next token at a padding place


@dataclass(frozen=True)
class LrtCase:
    """A case of a batch: `T` canvas places, `K` keys among its table and neighbors."""

    table_keys: Tensor  # encoded places of the table's keys
    neighbor_keys: Tensor  # encoded places of the neighbors' keys
    marks: Tensor  # [T, K] bool: the key stands for the next token
    word: Tensor  # [T] the next token's number among the generable words, or 0
    is_word: Tensor  # [T] bool
    counts: Tensor  # [T] bool: there is a next token, and a key for it


@dataclass(frozen=True)
class LrtBatch:
    """One training step."""

    encoded: Sequences
    neighbor_places: int
    canvases: Sequences
    contexts: list[Context]
    cases: list[LrtCase]
    sequences: int
    canvas_tokens: int
    skipped: int


def collate_lrt(
    shape: PolicyShape,
    split: TrainingSplit,
    store_tokens: Ragged,
    rows: NDArray[np.int64],
    *,
    neighbors: bool,
) -> LrtBatch:
    """The tensors of one training step over the targets of the examples `rows`."""
    words = shape.word_ids()
    grouped = group_cases(split, rows, neighbors=neighbors)
    texts = BatchTexts.of(split, store_tokens, grouped)
    encoded_packing, encoded, neighbor_places = _encoded(shape, texts)

    tokens, lengths = gather_rows(split.targets, grouped.rows)
    packing = pack(lengths - 1, grouped.case_of)
    is_first = np.zeros(len(tokens), dtype=np.bool_)
    is_first[np.cumsum(lengths) - lengths] = True
    is_last = np.roll(is_first, -1)
    read = sequences(shape, packing, packing.spread(tokens[~is_last]), np.zeros(packing.size, dtype=np.int64))
    following = packing.spread(tokens[~is_first], fill=NOTHING)

    cases: list[LrtCase] = []
    contexts: list[Context] = []
    place = 0
    for case in range(len(grouped.tables)):
        blocks = [packing.blocks[b] for b in np.flatnonzero(packing.block_groups == case)]
        size = sum(block.size for block in blocks)
        segments = or_one(split.table_segments[int(grouped.tables[case])], -1)
        keys = _CaseKeys.of(texts, case, segments, encoded_packing)
        cases.append(keys.choices(following[place : place + size], words, neighbor_places))
        place += size
        table = int(encoded_packing.start[texts.neighbors + case]) - neighbor_places
        at = torch.arange(table, table + len(segments))
        contexts += [Context(at.expand(block.rows, -1)) for block in blocks]
    tokens_to_say = int((lengths - 1).sum())
    return LrtBatch(
        encoded=encoded,
        neighbor_places=neighbor_places,
        canvases=read._replace(blocks=[causal(block) for block in packing.blocks]),
        contexts=contexts,
        cases=cases,
        sequences=len(rows),
        canvas_tokens=tokens_to_say,
        skipped=tokens_to_say - sum(int(case.counts.sum()) for case in cases),
    )


def _encoded(shape: PolicyShape, texts: BatchTexts) -> tuple[Packing, Sequences, int]:
    """Neighbors, then tables (no token of which is ever marked as copied)."""
    is_table = (np.arange(len(texts.texts)) >= texts.neighbors).astype(np.int64)
    packing = pack(texts.texts.lengths, is_table)
    features = np.where(is_table, NOT_COPIED, NEIGHBOR).repeat(texts.texts.lengths)
    read = sequences(shape, packing, packing.spread(texts.texts.values), packing.spread(features))
    return packing, read, packing.group_size(0)


@dataclass(frozen=True)
class _CaseKeys:
    """The tokens of a case's table and neighbors that may be copied, and where they are encoded."""

    table_tokens: NDArray[np.int32]
    table_places: NDArray[np.int64]
    neighbor_tokens: NDArray[np.int32]
    neighbor_places: NDArray[np.int64]

    @classmethod
    def of(cls, texts: BatchTexts, case: int, segments: NDArray[np.int32], packing: Packing) -> _CaseKeys:
        table, *neighbors = texts.of_case(case).tolist()
        table_tokens = texts.texts[table]
        copyable = np.flatnonzero((segments >= 0) & (table_tokens != MASK_ID))
        rows = np.asarray(neighbors, dtype=np.int64)
        tokens, lengths = gather_rows(texts.texts, rows)
        first = np.cumsum(lengths) - lengths
        places = np.repeat(packing.start[rows] - first, lengths) + np.arange(len(tokens))
        seen = tokens != MASK_ID
        return cls(table_tokens[copyable], packing.start[table] + copyable, tokens[seen], places[seen])

    def choices(
        self, following: NDArray[np.int64], words: NDArray[np.int64], neighbor_places: int
    ) -> LrtCase:
        """Which keys stand for each following token."""
        tokens = np.concatenate([self.table_tokens, self.neighbor_tokens])
        marks = following[:, None] == tokens
        number = numbers_of(words, following)
        return LrtCase(
            table_keys=torch.from_numpy(self.table_places - neighbor_places),
            neighbor_keys=torch.from_numpy(self.neighbor_places),
            marks=torch.from_numpy(marks),
            word=torch.from_numpy(np.maximum(number, 0)),
            is_word=torch.from_numpy(number >= 0),
            counts=torch.from_numpy(marks.any(axis=1) | (number >= 0)),
        )
