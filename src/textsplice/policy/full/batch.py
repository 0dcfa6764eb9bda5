"""One training step of FULL as tensors: canvases, the keys of each case, and which of them are right.

Encoded places are numbered over `[neighbors | tables | words]`: the flat states of all distinct neighbors, of
all distinct (table, copied flags) pairs, and the generable words.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from textsplice.oracle.numbering import TABLE
from textsplice.policy.batch_texts import BatchTexts
from textsplice.policy.cases import numbers_of, or_one, segment_limits
from textsplice.policy.examples import TrainingSplit, group_cases
from textsplice.policy.full.actions import Actions, Drawn, draw
from textsplice.policy.full.kernels import list_ends, mark_spans
from textsplice.policy.packing import Block, Packing, gather_rows, pack
from textsplice.policy.shape import PolicyShape
from textsplice.policy.transformer import NEIGHBOR, Context, Sequences, sequences
from textsplice.ragged import Ragged
from textsplice.text.vocabulary import MASK_ID


@dataclass(frozen=True)
class BatchCase:
    """A case of a batch: `A` actions (canvases, by length), `K` neighbor keys, `S` table tokens.

    `marks[a]` over `[K neighbor keys | words | S table tokens | Stop]` are the keys of equal spans.
    """

    canvas_places: int
    key_places: Tensor  # [K] among encoded neighbors
    table_places: Tensor  # [A, S] among encoded tables
    table_allowed: Tensor  # [S] bool: no field names
    marks: Tensor  # [A, K + words + S + 1] bool
    blocks: list[BatchBlock]


@dataclass(frozen=True)
class BatchBlock:
    """What may be chosen at the canvases of one block of `R` rows and width `L`.

    `gaps` are the tokens left of a gap, `follows` those that may follow the span, `ends` the encoded places
    of last tokens (`end_allowed` is false on padding), `chosen` the oracle's index into `[L, E]`.
    """

    gaps: Tensor  # [R, L] bool
    follows: Tensor  # [R, L] bool
    ends: Tensor  # [R, E]
    end_allowed: Tensor  # [R, E] bool
    chosen: Tensor  # [R]


@dataclass(frozen=True)
class FullBatch:
    """One training step of FULL; rows of actions are in the order of the packed canvases."""

    encoded: Sequences
    neighbor_places: int
    canvases: Sequences
    contexts: list[Context]
    cases: list[BatchCase]
    gap_places: Tensor  # [A] canvas places of the tokens left of the gaps
    begin_places: Tensor  # [A] encoded places of the spans' first tokens
    splices: Tensor  # [A] bool: a splice, not Stop
    splice_count: int
    sequences: int
    canvas_tokens: int
    skipped: int


def collate_full(
    shape: PolicyShape, split: TrainingSplit, store_tokens: Ragged, rows: NDArray[np.int64]
) -> FullBatch:
    """The tensors of one training step of FULL over the examples `rows`."""
    words = shape.word_ids()
    grouped = group_cases(split, rows)
    texts = BatchTexts.of(split, store_tokens, grouped)
    canvases = draw(split, grouped, texts, words, shape.config.max_age)
    tables = _TableStates.of(canvases)
    packing = tables.pack(texts)
    encoded = tables.sequences(shape, texts, packing)
    neighbor_places = packing.group_size(0)

    actions = canvases.actions
    cases: list[BatchCase] = []
    contexts: list[Context] = []
    begin_places: list[NDArray[np.int64]] = []
    for case, here, blocks in _cases_of(canvases):
        segments = or_one(split.table_segments[int(grouped.tables[case])], -1)
        own = _CaseTexts.of(texts, case, segments, packing.start, len(words))
        table_starts = packing.start[texts.neighbors + tables.state_of[here]]
        spans = _Spans.of(actions.take(here), own, words, table_starts, packing.size)
        places = table_starts[:, None] - neighbor_places + np.arange(own.table_length)
        table_places = torch.from_numpy(places)
        contexts += [Context(part) for part in table_places.split([b.rows for b in blocks])]
        begin_places.append(spans.begin_places)
        cases.append(
            BatchCase(
                canvas_places=sum(block.size for block in blocks),
                key_places=torch.from_numpy(own.key_places),
                table_places=table_places,
                table_allowed=torch.from_numpy(own.table_allowed),
                marks=torch.from_numpy(spans.marks),
                blocks=list(spans.blocks(actions.take(here), blocks)),
            )
        )
    return FullBatch(
        encoded=encoded,
        neighbor_places=neighbor_places,
        canvases=sequences(shape, canvases.packing, canvases.ids, canvases.ages),
        contexts=contexts,
        cases=cases,
        gap_places=torch.from_numpy(canvases.starts + actions.start),
        begin_places=torch.from_numpy(np.concatenate(begin_places)),
        splices=torch.from_numpy(actions.source >= 0),
        splice_count=int((actions.source >= 0).sum()),
        sequences=len(rows),
        canvas_tokens=int(actions.canvas.sum()),
        skipped=canvases.skipped,
    )


def _cases_of(canvases: Drawn) -> Iterator[tuple[int, slice, list[Block]]]:
    """Each case that has canvases, with its rows and its blocks."""
    row = 0
    groups = canvases.packing.block_groups
    for case in np.unique(groups).tolist():
        blocks = [canvases.packing.blocks[b] for b in np.flatnonzero(groups == case)]
        rows = sum(block.rows for block in blocks)
        yield case, slice(row, row + rows), blocks
        row += rows


@dataclass(frozen=True)
class _TableStates:
    """The distinct (case, copied flags) pairs: a table is encoded once for each."""

    state_of: NDArray[np.int64]
    cases: NDArray[np.int64]
    copied: NDArray[np.bool_]

    @classmethod
    def of(cls, canvases: Drawn) -> _TableStates:
        what = np.column_stack([canvases.actions.case, np.packbits(canvases.copied, axis=1)])
        _, first, state_of = np.unique(what, axis=0, return_index=True, return_inverse=True)
        return cls(state_of, canvases.actions.case[first], canvases.copied[first])

    def pack(self, texts: BatchTexts) -> Packing:
        """Neighbors first, then the states of tables."""
        neighbor_lengths = texts.texts.lengths[: texts.neighbors]
        lengths = np.concatenate([neighbor_lengths, texts.tables().lengths[self.cases]])
        groups = (np.arange(len(lengths)) >= texts.neighbors).astype(np.int64)
        return pack(lengths, groups)

    def sequences(self, shape: PolicyShape, texts: BatchTexts, packing: Packing) -> Sequences:
        """What the encoder reads."""
        neighbors = np.arange(texts.neighbors)
        ids, lengths = gather_rows(texts.texts, np.concatenate([neighbors, texts.neighbors + self.cases]))
        features = np.full(len(ids), NEIGHBOR, dtype=np.int32)
        longest = np.arange(self.copied.shape[1])
        there = longest < lengths[texts.neighbors :, None]
        features[int(lengths[: texts.neighbors].sum()) :] = self.copied[there]
        return sequences(shape, packing, packing.spread(ids), packing.spread(features))


@dataclass(frozen=True)
class _CaseTexts:
    """A case's neighbors and then its table as one row of tokens.

    A span that begins at `t` must end by `limit[t]`. `column[t]` is the column of its key, -1 where no span
    may begin or end; `encoded[t]` its encoded place, for the table relative to the start of its state.
    """

    tokens: NDArray[np.int32]
    starts: NDArray[np.int64]
    limit: NDArray[np.int64]
    column: NDArray[np.int64]
    encoded: NDArray[np.int64]
    keys: int
    words: int

    @classmethod
    def of(
        cls,
        texts: BatchTexts,
        case: int,
        segments: NDArray[np.int32],
        encoded_starts: NDArray[np.int64],
        words: int,
    ) -> _CaseTexts:
        rows = np.roll(texts.of_case(case), -1)
        tokens, lengths = gather_rows(texts.texts, rows)
        ends = np.cumsum(lengths)
        starts = ends - lengths
        table = int(starts[-1])
        limit = np.repeat(ends, lengths)
        limit[table:] = table + segment_limits(segments)
        allowed = tokens != MASK_ID
        keys = int(allowed[:table].sum())
        column = np.where(allowed, np.cumsum(allowed) - 1, -1)
        column[table:] = np.where(
            allowed[table:] & (segments >= 0), keys + words + np.arange(len(segments)), -1
        )
        encoded = np.arange(len(tokens)) - np.repeat(starts, lengths)
        encoded[:table] += np.repeat(encoded_starts[rows[:-1]], lengths[:-1])
        return cls(tokens, np.roll(starts, 1), limit, column, encoded, keys, words)

    @property
    def table_allowed(self) -> NDArray[np.bool_]:
        """Which tokens of the table a span may begin or end with."""
        return self.column[int(self.starts[0]) :] >= 0

    @property
    def table_length(self) -> int:
        """Tokens of the table."""
        return len(self.tokens) - int(self.starts[0])

    @property
    def key_places(self) -> NDArray[np.int64]:
        """Encoded places of the neighbors' keys."""
        texts = slice(0, int(self.starts[0]))
        return self.encoded[texts][self.column[texts] >= 0]


@dataclass(frozen=True)
class _Spans:
    """The keys that are right, and the ends that may be chosen, of each action of a case."""

    marks: NDArray[np.bool_]
    begin_places: NDArray[np.int64]
    ends: NDArray[np.int64]
    counts: NDArray[np.int64]
    chosen: NDArray[np.int64]

    @classmethod
    def of(
        cls,
        actions: Actions,
        texts: _CaseTexts,
        words: NDArray[np.int64],
        table_starts: NDArray[np.int64],
        word_places: int,
    ) -> _Spans:
        copies = (actions.source >= 0) & (actions.word < 0)
        begin = np.where(copies, texts.starts[np.where(copies, actions.source, 0)], -1)
        begin[copies] += actions.begin[copies]
        first_token = np.where(copies, texts.tokens[begin], actions.word)

        marks = np.zeros((len(actions), texts.keys + texts.words + texts.table_length + 1), np.bool_)
        mark_spans(texts.tokens, texts.limit, texts.column, first_token, begin, actions.length, marks)
        number = numbers_of(words, first_token)
        is_word = np.flatnonzero((actions.length == 1) & (number >= 0))
        marks[is_word, texts.keys + number[is_word]] = True
        marks[actions.source < 0, -1] = True

        longest = int((texts.limit[begin[copies]] - begin[copies]).max(initial=1))
        ends = np.zeros((len(actions), longest), dtype=np.int64)
        ends[:, 0] = np.where(actions.word >= 0, word_places + number, 0)
        counts = np.ones(len(actions), dtype=np.int64)
        chosen = np.zeros(len(actions), dtype=np.int64)
        shift = np.where(actions.source == TABLE, table_starts, 0)
        list_ends(
            texts.limit, texts.column, texts.encoded, begin, actions.length, shift, ends, counts, chosen
        )
        # The first token a span may end at is the one it begins with.
        return cls(marks, ends[:, 0].copy(), ends, counts, chosen)

    def blocks(self, actions: Actions, blocks: Sequence[Block]) -> Iterator[BatchBlock]:
        """The choices at each block of canvases."""
        row = 0
        for block in blocks:
            here = slice(row, row + block.rows)
            row += block.rows
            position = np.arange(block.width)
            last = actions.canvas[here, None]
            follows = (position > actions.start[here, None]) & (position <= last + 1)
            width = int(self.counts[here].max())
            yield BatchBlock(
                gaps=torch.from_numpy(position <= last),
                follows=torch.from_numpy(follows),
                ends=torch.from_numpy(self.ends[here, :width]),
                end_allowed=torch.from_numpy(np.arange(width) < self.counts[here, None]),
                chosen=torch.from_numpy((actions.stop[here] + 1) * width + self.chosen[here]),
            )
