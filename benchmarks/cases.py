"""The input of the oracle's benchmarks: encoded targets with their tables and neighbors."""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from textsplice.corpus import Table, read_corpus
from textsplice.neighbors import Index, features
from textsplice.neighbors.store import commonness
from textsplice.oracle import Derivations, derive_corpus
from textsplice.oracle.numbering import in_order
from textsplice.ragged import Ragged
from textsplice.text import BEGIN, END, MASK_ID, Vocabulary, linearize, mask, tokenize


@dataclass(frozen=True, slots=True)
class Cases:
    """The arguments of `derive_corpus`, and the size of the vocabulary."""

    targets: Ragged
    table_tokens: Ragged
    table_segments: Ragged
    table_of: NDArray[np.int32]
    store_tokens: Ragged
    neighbors: NDArray[np.int32]
    words: int

    def __len__(self) -> int:
        return len(self.targets)

    def derive(self, threads: int = 1) -> Derivations:
        """The derivations of all cases."""
        return derive_corpus(
            self.targets,
            table_tokens=self.table_tokens,
            table_segments=self.table_segments,
            table_of=self.table_of,
            store_tokens=self.store_tokens,
            neighbors=self.neighbors,
            mask_id=MASK_ID,
            threads=threads,
        )

    def head(self, count: int) -> Cases:
        """The first `count` cases."""
        return self.pick(np.arange(min(count, len(self))))

    def pick(self, examples: NDArray[np.int64]) -> Cases:
        """The cases of these examples."""
        return Cases(
            Ragged.from_rows([self.targets[i] for i in examples]),
            self.table_tokens,
            self.table_segments,
            self.table_of[examples],
            self.store_tokens,
            self.neighbors[examples],
            self.words,
        )

    def sources(self, example: int) -> list[list[int]]:
        """The sources before the vocabulary words: the linearized table and the neighbors."""
        rows = self.neighbors[example]
        table = self.table_tokens[self.table_of[example]].tolist()
        return in_order(table, (self.store_tokens[row].tolist() for row in rows[rows >= 0]), ())

    def texts(self, example: int) -> tuple[list[int], list[list[int]]]:
        """The target and the texts to parse it with: values, neighbors, and words that no other text has."""
        target = self.targets[example].tolist()
        tokens = self.table_tokens[self.table_of[example]]
        segments = self.table_segments[self.table_of[example]]
        values = [tokens[segments == segment].tolist() for segment in range(segments.max(initial=-1) + 1)]
        rows = self.neighbors[example]
        texts = values + [self.store_tokens[row].tolist() for row in rows[rows >= 0]]
        texts = [[-1 if token == MASK_ID else token for token in text] for text in texts]
        known = {token for text in texts for token in text}
        return target, texts + [[token] for token in dict.fromkeys(target) if token not in known]


def e2e_folder() -> Path | None:
    """The folder of the real E2E, `$TEXTSPLICE_DATA/e2e` or `../shared/data/e2e`; None if it is missing."""
    beside = Path(__file__).resolve().parents[2] / "shared" / "data"
    folder = Path(os.environ.get("TEXTSPLICE_DATA", beside)) / "e2e"
    return folder if folder.is_dir() else None


def corpus_cases(source: str, split: str, *, k: int = 20) -> Cases:
    """A split with the k nearest masked training texts; for train, only texts of other tables."""
    train, parsed = _read(source, "train"), _read(source, split)
    words = Counter(token for part in (train, parsed) for text in part.texts for token in text)
    words.update(
        token for part in (train, parsed) for table in part.tables for token in linearize(table).tokens
    )
    vocabulary = Vocabulary.build(words, embed_min_count=1)

    values = [linearize(table).value_tokens() for table in train.tables]
    masked = (mask(text, values[table]) for text, table in zip(train.texts, train.table_of, strict=True))
    index = Index.build(
        [features(table, tokenize=tokenize) for table in train.tables],
        train.table_of,
        commonness(Ragged.from_rows([vocabulary.encode(text) for text in train.texts])),
    )
    linearized = [linearize(table) for table in parsed.tables]
    groups = np.arange(len(parsed.tables), dtype=np.int32) if split == "train" else None
    queries = [features(table, tokenize=tokenize) for table in parsed.tables]
    rows, _ = index.search_many(queries, k, exclude_groups=groups)
    return Cases(
        targets=Ragged.from_rows([vocabulary.encode(text) for text in parsed.texts]),
        table_tokens=Ragged.from_rows([vocabulary.encode(table.tokens) for table in linearized]),
        table_segments=Ragged.from_rows([table.segment_numbers() for table in linearized]),
        table_of=parsed.table_of,
        store_tokens=Ragged.from_rows([vocabulary.encode(text) for text in masked]),
        neighbors=rows[parsed.table_of],
        words=len(vocabulary),
    )


@dataclass(frozen=True, slots=True)
class _Split:
    texts: list[list[str]]
    tables: list[Table]
    table_of: NDArray[np.int32]


def _read(source: str, split: str) -> _Split:
    number_of: dict[Table, int] = {}
    texts: list[list[str]] = []
    table_of: list[int] = []
    for example in read_corpus(source, split):
        texts.append([BEGIN, *tokenize(example.text or ""), END])
        table_of.append(number_of.setdefault(example.table, len(number_of)))
    return _Split(texts, list(number_of), np.array(table_of, dtype=np.int32))
