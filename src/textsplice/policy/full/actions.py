"""The actions of a batch of derivations: what each splice does, and the canvas it is done to."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from textsplice.errors import InputError
from textsplice.policy.cases import or_one
from textsplice.policy.examples import Grouped, TrainingSplit
from textsplice.policy.kernels import draw_canvases
from textsplice.policy.layout import Layout, gather_rows, lay_out
from textsplice.ragged import Ragged
from textsplice.text.vocabulary import PAD_ID


@dataclass(frozen=True)
class Sources:
    """The texts of a batch, each once: all distinct neighbors, then the table of each case.

    Source `s` of case `c` is row `rows[first[c] + s]` of `texts`; from `counts[c]` on, sources are words.
    """

    texts: Ragged
    neighbors: int
    rows: NDArray[np.int64]
    first: NDArray[np.int64]
    counts: NDArray[np.int64]

    @classmethod
    def of(cls, split: TrainingSplit, store_tokens: Ragged, grouped: Grouped) -> Sources:
        """The sources of grouped examples."""
        there = grouped.neighbors >= 0
        distinct, index = np.unique(grouped.neighbors[there], return_inverse=True)
        cases = len(grouped.tables)
        counts = 1 + there.sum(axis=1)
        first = np.cumsum(counts) - counts
        rows = np.empty(int(counts.sum()), dtype=np.int64)
        is_table = np.zeros(len(rows), dtype=np.bool_)
        is_table[first] = True
        rows[is_table] = len(distinct) + np.arange(cases)
        rows[~is_table] = index
        neighbor_values, neighbor_lengths = gather_rows(store_tokens, distinct)
        tables = Ragged.from_rows(
            or_one(split.table_tokens[table], PAD_ID) for table in grouped.tables.tolist()
        )
        offsets = np.zeros(len(distinct) + cases + 1, dtype=np.int64)
        np.cumsum(np.concatenate([neighbor_lengths, tables.lengths]), out=offsets[1:])
        texts = Ragged(np.concatenate([neighbor_values, tables.values]), offsets)
        return cls(texts, len(distinct), rows, first, counts)

    def of_case(self, case: int) -> NDArray[np.int64]:
        """The rows of a case's texts: its table, then its neighbors."""
        return self.rows[self.first[case] : self.first[case] + self.counts[case]]

    def tables(self) -> Ragged:
        """The table of each case."""
        return Ragged(self.texts.values, self.texts.offsets[self.neighbors :])


@dataclass(frozen=True)
class Actions:
    """Splices and Stops, one row each. `start` is 0 and `source` -1 for Stop.

    `length` is the span's, `word` the id of a word of the vocabulary (else -1), `canvas` the canvas's
    length before the action.
    """

    case: NDArray[np.int64]
    canvas: NDArray[np.int64]
    start: NDArray[np.int64]
    stop: NDArray[np.int64]
    source: NDArray[np.int64]
    begin: NDArray[np.int64]
    length: NDArray[np.int64]
    word: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.case)

    def take(self, chosen: NDArray[np.int64] | slice) -> Actions:
        """Some of the actions."""
        return Actions(*(getattr(self, field.name)[chosen] for field in fields(self)))


@dataclass(frozen=True)
class Drawn:
    """Canvases in a flat layout grouped by case, padded with one PAD either side; actions in row order.

    `copied[a, :S]` says which tokens of the table stand on the canvas of action `a`.
    """

    actions: Actions
    layout: Layout
    starts: NDArray[np.int64]
    ids: NDArray[np.int64]
    ages: NDArray[np.int64]
    copied: NDArray[np.bool_]
    skipped: int


def draw(
    split: TrainingSplit,
    grouped: Grouped,
    sources: Sources,
    words: NDArray[np.int64],
    max_age: int,
) -> Drawn:
    """Replays the derivations of grouped examples; actions that `words` can't express are skipped."""
    counts = split.splice_offsets[grouped.rows + 1] - split.splice_offsets[grouped.rows]
    offsets = np.zeros(len(counts) + 1, dtype=np.int64)
    np.cumsum(counts, out=offsets[1:])
    shift = split.splice_offsets[grouped.rows] - offsets[:-1]
    splices = split.splices[np.repeat(shift, counts) + np.arange(offsets[-1])]

    every = _every_action(splices, offsets, grouped.case_of, sources)
    kept = np.flatnonzero((every.word < 0) | np.isin(every.word, words))
    actions = every.take(kept)
    layout = lay_out(actions.canvas + 2, actions.case)
    place = np.full(len(every), -1, dtype=np.int64)
    place[kept] = layout.start
    ids = np.full(layout.size, PAD_ID, dtype=np.int64)
    ages = np.zeros(layout.size, dtype=np.int64)
    copied = np.zeros((len(kept), int(sources.tables().lengths.max(initial=0))), dtype=np.bool_)
    draw_canvases(
        splices,
        offsets,
        sources.texts.values,
        sources.texts.offsets,
        sources.first[grouped.case_of],
        sources.rows,
        sources.counts[grouped.case_of],
        place,
        int(every.canvas.max(initial=0)),
        max_age,
        ids,
        ages,
        copied,
    )
    order = layout.order
    skipped = len(every) - len(kept)
    return Drawn(actions.take(order), layout, layout.start[order], ids, ages, copied[order], skipped)


def _every_action(
    splices: NDArray[np.int32],
    offsets: NDArray[np.int64],
    case_of: NDArray[np.int64],
    sources: Sources,
) -> Actions:
    """The splices of each example and its Stop, checked against the canvases and the texts."""
    examples = len(offsets) - 1
    total = len(splices) + examples
    is_stop = np.zeros(total, dtype=np.bool_)
    is_stop[offsets[1:] + np.arange(examples)] = True
    columns = np.zeros((5, total), dtype=np.int64)
    columns[2, is_stop] = -1
    columns[:, ~is_stop] = splices.T
    start, stop, source, begin, end = columns
    case = np.repeat(case_of, np.diff(offsets) + 1)

    growth = (end - begin) - (stop - start)
    after = np.cumsum(growth)
    first = offsets[:-1] + np.arange(examples)
    canvas = after - growth
    canvas -= np.repeat(canvas[first], np.diff(offsets) + 1)

    text = np.where((source >= 0) & (source < sources.counts[case]), source, 0)
    text_length = sources.texts.lengths[sources.rows[sources.first[case] + text]]
    word = np.where(source >= sources.counts[case], source - sources.counts[case], -1)
    text_length = np.where(word >= 0, 1, text_length)
    fits = (start >= 0) & (start <= stop) & (stop <= canvas)
    fits &= is_stop | ((begin >= 0) & (begin < end) & (end <= text_length))
    if not fits.all():
        wrong = int(np.flatnonzero(~fits)[0])
        raise InputError(
            f"splice {tuple(columns[:, wrong].tolist())} does not fit its canvas of "
            f"{int(canvas[wrong])} tokens or its source of {int(text_length[wrong])}.",
            remedy="Prepare the corpus again.",
        )
    return Actions(case, canvas, start, stop, source, begin, end - begin, word)
