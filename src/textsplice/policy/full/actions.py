"""The actions of a batch of derivations: what each splice does, and to which canvas."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from textsplice.errors import InputError
from textsplice.oracle.numbering import TABLE, word_ids
from textsplice.policy.batch_texts import BatchTexts
from textsplice.policy.examples import Grouped, TrainingSplit
from textsplice.policy.full.kernels import draw_canvases
from textsplice.policy.packing import Packing, pack
from textsplice.text.vocabulary import PAD_ID


@dataclass(frozen=True)
class Actions:
    """Splices and Stops, one row each; for Stop, `start` is 0 and `source` -1.

    `length` is that of the span, `word` the id of a vocabulary word (else -1), `canvas` the length of the
    canvas before the action.
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
    """Canvases packed by case, padded with one PAD on either side; actions in row order.

    `copied[a, :S]` says which tokens of the table are on the canvas of action `a`.
    """

    actions: Actions
    packing: Packing
    starts: NDArray[np.int64]
    ids: NDArray[np.int64]
    ages: NDArray[np.int64]
    copied: NDArray[np.bool_]
    skipped: int


def draw(
    split: TrainingSplit,
    grouped: Grouped,
    texts: BatchTexts,
    words: NDArray[np.int64],
    max_age: int,
) -> Drawn:
    """Replays the derivations of grouped examples; skips actions that `words` can't express."""
    counts = split.splice_offsets[grouped.rows + 1] - split.splice_offsets[grouped.rows]
    offsets = np.zeros(len(counts) + 1, dtype=np.int64)
    np.cumsum(counts, out=offsets[1:])
    shift = split.splice_offsets[grouped.rows] - offsets[:-1]
    splices = split.splices[np.repeat(shift, counts) + np.arange(offsets[-1])]

    every = _every_action(splices, offsets, grouped.case_of, texts)
    kept = np.flatnonzero((every.word < 0) | np.isin(every.word, words))
    actions = every.take(kept)
    packing = pack(actions.canvas + 2, actions.case)
    place = np.full(len(every), -1, dtype=np.int64)
    place[kept] = packing.start
    ids = np.full(packing.size, PAD_ID, dtype=np.int64)
    ages = np.zeros(packing.size, dtype=np.int64)
    copied = np.zeros((len(kept), int(texts.tables().lengths.max(initial=0))), dtype=np.bool_)
    draw_canvases(
        splices,
        offsets,
        texts.texts.values,
        texts.texts.offsets,
        texts.first[grouped.case_of],
        texts.rows,
        texts.first_words[grouped.case_of],
        place,
        int(every.canvas.max(initial=0)),
        max_age,
        ids,
        ages,
        copied,
    )
    order = packing.order
    skipped = len(every) - len(kept)
    return Drawn(actions.take(order), packing, packing.start[order], ids, ages, copied[order], skipped)


def _every_action(
    splices: NDArray[np.int32],
    offsets: NDArray[np.int64],
    case_of: NDArray[np.int64],
    texts: BatchTexts,
) -> Actions:
    """The splices of each example and its Stop, checked against canvases and texts."""
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

    word = word_ids(source, texts.neighbor_counts[case])
    text = np.where((source >= 0) & (word < 0), source, TABLE)
    text_length = texts.texts.lengths[texts.rows[texts.first[case] + text]]
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
