"""One training step of a left-to-right policy as tensors: each target is read once, causally."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from textsplice.policy.actions import Sources
from textsplice.policy.cases import numbers_of, or_one
from textsplice.policy.config import PolicyConfig
from textsplice.policy.examples import TrainingSplit, group_cases
from textsplice.policy.layout import Layout, gather_rows, lay_out
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
class TokenCase:
    """A case of a batch: `T` canvas places, `K` keys among its table and neighbors."""

    table_keys: Tensor  # encoded places of the table's keys
    neighbor_keys: Tensor  # encoded places of the neighbors' keys
    marks: Tensor  # [T, K] bool: the key stands for the next token
    word: Tensor  # [T] the next token's number among the generable words, or 0
    is_word: Tensor  # [T] bool
    counts: Tensor  # [T] bool: there is a next token, and a key for it


@dataclass(frozen=True)
class TokenBatch:
    """One training step of LRT or S2S+copy."""

    encoded: Sequences
    neighbor_places: int
    canvases: Sequences
    contexts: list[Context]
    cases: list[TokenCase]
    sequences: int
    canvas_tokens: int
    skipped: int


def collate_tokens(
    config: PolicyConfig, split: TrainingSplit, store_tokens: Ragged, rows: NDArray[np.int64]
) -> TokenBatch:
    """The tensors of one training step over the targets of the examples `rows`."""
    words = np.asarray(config.words, dtype=np.int64)
    grouped = group_cases(split, rows, neighbors=config.kind != "copy")
    sources = Sources.of(split, store_tokens, grouped)
    encoded_layout, encoded, neighbor_places = _encoded(config, sources)

    tokens, lengths = gather_rows(split.targets, grouped.rows)
    layout = lay_out(lengths - 1, grouped.case_of)
    is_first = np.zeros(len(tokens), dtype=np.bool_)
    is_first[np.cumsum(lengths) - lengths] = True
    is_last = np.roll(is_first, -1)
    read = sequences(config, layout, layout.spread(tokens[~is_last]), np.zeros(layout.size, dtype=np.int64))
    following = layout.spread(tokens[~is_first], fill=NOTHING)

    cases: list[TokenCase] = []
    contexts: list[Context] = []
    place = 0
    for case in range(len(grouped.tables)):
        blocks = [layout.blocks[b] for b in np.flatnonzero(layout.block_groups == case)]
        size = sum(block.size for block in blocks)
        segments = or_one(split.table_segments[int(grouped.tables[case])], -1)
        keys = _CaseKeys.of(sources, case, segments, encoded_layout)
        cases.append(keys.choices(following[place : place + size], words, neighbor_places))
        place += size
        table = int(encoded_layout.start[sources.neighbors + case]) - neighbor_places
        at = torch.arange(table, table + len(segments))
        contexts += [Context(at.expand(block.rows, -1)) for block in blocks]
    tokens_to_say = int((lengths - 1).sum())
    return TokenBatch(
        encoded=encoded,
        neighbor_places=neighbor_places,
        canvases=read._replace(blocks=[causal(block) for block in layout.blocks]),
        contexts=contexts,
        cases=cases,
        sequences=len(rows),
        canvas_tokens=tokens_to_say,
        skipped=tokens_to_say - sum(int(case.counts.sum()) for case in cases),
    )


def _encoded(config: PolicyConfig, sources: Sources) -> tuple[Layout, Sequences, int]:
    """Neighbors, then the tables (no token of which is ever marked as copied)."""
    is_table = (np.arange(len(sources.texts)) >= sources.neighbors).astype(np.int64)
    layout = lay_out(sources.texts.lengths, is_table)
    features = np.where(is_table, NOT_COPIED, NEIGHBOR).repeat(sources.texts.lengths)
    read = sequences(config, layout, layout.spread(sources.texts.values), layout.spread(features))
    return layout, read, layout.group_size(0)


@dataclass(frozen=True)
class _CaseKeys:
    """The tokens of a case's table and neighbors that may be copied, and where they are encoded."""

    table_tokens: NDArray[np.int32]
    table_places: NDArray[np.int64]
    neighbor_tokens: NDArray[np.int32]
    neighbor_places: NDArray[np.int64]

    @classmethod
    def of(cls, sources: Sources, case: int, segments: NDArray[np.int32], layout: Layout) -> _CaseKeys:
        table, *neighbors = sources.of_case(case).tolist()
        table_tokens = sources.texts[table]
        copyable = np.flatnonzero((segments >= 0) & (table_tokens != MASK_ID))
        rows = np.asarray(neighbors, dtype=np.int64)
        tokens, lengths = gather_rows(sources.texts, rows)
        first = np.cumsum(lengths) - lengths
        places = np.repeat(layout.start[rows] - first, lengths) + np.arange(len(tokens))
        seen = tokens != MASK_ID
        return cls(table_tokens[copyable], layout.start[table] + copyable, tokens[seen], places[seen])

    def choices(
        self, following: NDArray[np.int64], words: NDArray[np.int64], neighbor_places: int
    ) -> TokenCase:
        """Which keys stand for each following token."""
        tokens = np.concatenate([self.table_tokens, self.neighbor_tokens])
        marks = following[:, None] == tokens
        number = numbers_of(words, following)
        return TokenCase(
            table_keys=torch.from_numpy(self.table_places - neighbor_places),
            neighbor_keys=torch.from_numpy(self.neighbor_places),
            marks=torch.from_numpy(marks),
            word=torch.from_numpy(np.maximum(number, 0)),
            is_word=torch.from_numpy(number >= 0),
            counts=torch.from_numpy(marks.any(axis=1) | (number >= 0)),
        )
