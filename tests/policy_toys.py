"""Small made-up splits for the policies' tests: random but well-formed derivations, and a policy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from textsplice.config import PolicyConfig
from textsplice.oracle.numbering import TABLE, Numbering
from textsplice.oracle.splice import Splice
from textsplice.policy.cases import Case
from textsplice.policy.checkpoint import new_policy
from textsplice.policy.full.policy import FullPolicy
from textsplice.policy.full.scores import Canvases
from textsplice.policy.shape import PolicyShape
from textsplice.ragged import Ragged
from textsplice.text.vocabulary import BEGIN_ID, END_ID, MASK_ID

EMBEDDED, IDS = 40, 48  # ids from 40 to 47 have no embedding of their own
WORDS = (BEGIN_ID, END_ID, 7, 30, 12, 9)

torch.set_num_threads(1)


@dataclass(frozen=True)
class ToySplit:
    """The part of a prepared split that policies learn from."""

    table_tokens: Ragged
    table_segments: Ragged
    table_of: NDArray[np.int32]
    targets: Ragged
    neighbors: NDArray[np.int32]
    splices: NDArray[np.int32]
    splice_offsets: NDArray[np.int64]

    def derivation(self, row: int) -> list[Splice]:
        first, last = self.splice_offsets[row : row + 2]
        return [Splice(*splice) for splice in self.splices[first:last].tolist()]

    def case(self, row: int, store: Ragged) -> Case:
        table = int(self.table_of[row])
        found = [int(n) for n in self.neighbors[row] if n >= 0]
        texts = [store[n] for n in found]
        fields = [np.where(text == MASK_ID, toy_fields(text), -1) for text in texts]
        return Case(self.table_tokens[table], self.table_segments[table], texts, fields)


def toy_fields(text: NDArray[np.int32]) -> NDArray[np.int32]:
    """The field at each place of a text if a mask were there: runs of two, one field unknown, one rare."""
    return np.array([5, -1, 6, IDS - 1], dtype=np.int32)[
        (np.arange(len(text)) + text[-2] + len(text)) // 2 % 4
    ]


def toy_split(seed: int = 0, tables: int = 3, references: int = 3) -> tuple[ToySplit, Ragged]:
    """Derivations that lay a whole masked neighbor and then edit it at random; and the store."""
    random = np.random.default_rng(seed)
    store = [_toy_text(random) for _ in range(12)]
    split: dict[str, list] = {name: [] for name in ToySplit.__dataclass_fields__}
    split["splice_offsets"].append(0)
    for table in range(tables):
        tokens, segments = _toy_table(random)
        split["table_tokens"].append(tokens)
        split["table_segments"].append(segments)
        neighbors = random.choice(len(store), 4, replace=False)
        neighbors[4 - table % 2 :] = -1
        texts = [store[n] for n in neighbors if n >= 0]
        for _ in range(references):
            splices, target = _toy_derivation(random, tokens, segments, texts)
            split["table_of"].append(table)
            split["neighbors"].append(neighbors)
            split["splices"] += splices
            split["splice_offsets"].append(len(split["splices"]))
            split["targets"].append(target)
    return (
        ToySplit(
            Ragged.from_rows(split["table_tokens"]),
            Ragged.from_rows(split["table_segments"]),
            np.array(split["table_of"], dtype=np.int32),
            Ragged.from_rows(split["targets"]),
            np.array(split["neighbors"], dtype=np.int32),
            np.array(split["splices"], dtype=np.int32),
            np.array(split["splice_offsets"], dtype=np.int64),
        ),
        Ragged.from_rows(store),
    )


def toy_shape(kind: str = "full", *, init_std: float = 0.25, **changes: object) -> PolicyShape:
    """A tiny policy whose weights are large enough for scores to differ visibly."""
    tiny: dict[str, object] = {
        "kind": kind,
        "d_model": 16,
        "encoder_layers": 2,
        "decoder_layers": 2,
        "heads": 2,
        "ffn": 24,
        "dropout": 0.0,
        "max_positions": 24,
        "max_age": 4,
    }
    words = WORDS if kind != "copy" else (END_ID, *range(5, 30))
    return PolicyShape(PolicyConfig(**(tiny | changes)), EMBEDDED, words, init_std)


def toy_policy(**changes: object) -> FullPolicy:
    """A FULL policy with Stop's key drawn at random, which is zero in a new one."""
    policy = new_policy(toy_shape(**changes), seed=3)
    assert isinstance(policy, FullPolicy)
    torch.nn.init.normal_(policy.first.stop, generator=torch.Generator().manual_seed(5))
    return policy.eval()


def canvases_of(
    cases: Sequence[Case], derivations: Sequence[Sequence[Splice]], steps: Sequence[int]
) -> Canvases:
    """The canvas of each case after some of its splices."""
    rows: list[tuple[list[int], list[int], set[int]]] = []
    for case, splices, step in zip(cases, derivations, steps, strict=True):
        texts = [case.table, *case.neighbors]
        numbering = Numbering(len(case.neighbors))
        canvas: list[tuple[int, int, int]] = []  # id, position in the table or -1, step
        for now, (start, stop, source, begin, end) in enumerate(splices[:step]):
            laid = [
                (
                    numbering.word_id(source) if numbering.is_word(source) else int(texts[source][i]),
                    i if source == TABLE else -1,
                    now,
                )
                for i in range(begin, end)
            ]
            canvas[start:stop] = laid
        ages = [step - now for _, _, now in canvas]
        rows.append(([t for t, _, _ in canvas], ages, {p for _, p, _ in canvas if p >= 0}))
    width = max(len(ids) for ids, _, _ in rows)
    sizes = [len(case.table) for case in cases]
    return Canvases(
        case_of=np.arange(len(cases)),
        ids=np.array([ids + [99] * (width - len(ids)) for ids, _, _ in rows], dtype=np.int32),
        lengths=np.array([len(ids) for ids, _, _ in rows]),
        ages=np.array([ages + [99] * (width - len(ids)) for ids, ages, _ in rows], dtype=np.int32),
        copied=np.array([[i in copied for i in range(max(sizes))] for _, _, copied in rows]),
    )


def _toy_text(random: np.random.Generator) -> list[int]:
    words = random.integers(5, IDS, random.integers(3, 9))
    words[random.random(len(words)) < 0.3] = MASK_ID
    words[-1] = 6  # a word that all texts share
    return [BEGIN_ID, *words.tolist(), END_ID]


def _toy_table(random: np.random.Generator) -> tuple[list[int], list[int]]:
    tokens: list[int] = []
    segments: list[int] = []
    for field in range(int(random.integers(2, 4))):
        values = random.integers(5, IDS, random.integers(1, 4)).tolist()
        tokens += [5 + field, *values]
        segments += [-1, *[field] * len(values)]
    return tokens, segments


def _toy_derivation(
    random: np.random.Generator, table: list[int], segments: list[int], texts: list[list[int]]
) -> tuple[list[Splice], list[int]]:
    numbering = Numbering(len(texts))
    first = int(random.integers(0, len(texts)))
    splices = [Splice(0, 0, numbering.neighbor(first), 0, len(texts[first]))]
    canvas = list(texts[first])
    for _ in range(int(random.integers(2, 6))):
        start = int(random.integers(1, len(canvas)))
        stop = min(len(canvas) - 1, start + int(random.integers(0, 3)))
        stop = max(start, stop)
        kind = random.integers(0, 3)
        if kind == 0:
            begin = int(random.choice(np.flatnonzero(np.array(segments) >= 0)))
            end = begin + 1
            while end < len(table) and segments[end] == segments[begin] and random.random() < 0.7:
                end += 1
            splice, span = Splice(start, stop, TABLE, begin, end), table[begin:end]
        elif kind == 1:
            source = int(random.integers(0, len(texts)))
            text = np.array(texts[source])
            begin = int(random.choice(np.flatnonzero(text[:-1] != MASK_ID)))
            end = begin + 1
            if text[end] != MASK_ID:
                end += 1
            splice, span = (
                Splice(start, stop, numbering.neighbor(source), begin, end),
                texts[source][begin:end],
            )
        else:
            word = int(random.choice([*WORDS, 33]))  # 33 can't be generated
            splice, span = Splice(start, stop, numbering.word(word), 0, 1), [word]
        splices.append(splice)
        canvas[start:stop] = span
    return splices, canvas
