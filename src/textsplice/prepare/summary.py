"""What a prepared folder holds, in numbers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from textsplice.prepare.stages import shapes
from textsplice.runs.prepared import Prepared, PreparedSplit
from textsplice.text import Vocabulary


@dataclass(frozen=True, slots=True)
class Shares:
    """Where splices come from, as shares of all."""

    table: float
    neighbors: float
    vocabulary: float
    replacements: float


@dataclass(frozen=True, slots=True)
class SplitSummary:
    """One split in numbers."""

    name: str
    examples: int
    tables: int
    text_tokens: float
    longest_text: int
    table_tokens: float
    neighbors: float
    mean_cost: float
    longest_derivation: int
    costs: dict[int, int]  # how many derivations have each number of splices
    shares: Shares
    neighbors_used: float
    whole_neighbor_first: float  # share of derivations that begin by laying a neighbour from begin to end
    generable: float  # share of vocabulary splices whose word a policy may generate
    same_table: float  # share of neighbours that have the example's own table
    leaked: float | None  # share of texts that stand delexicalised in train


def summarize(prepared: Prepared, split_name: str) -> SplitSummary:
    """The numbers of one split."""
    split = prepared.split(split_name)
    sources = splice_sources(split)
    used = _neighbors_used(split, sources)
    count = max(1, len(split.splices))
    replaced = float((split.splices[:, 1] > split.splices[:, 0]).sum())
    costs = split.costs
    values, frequencies = np.unique(costs, return_counts=True)
    return SplitSummary(
        name=split_name,
        examples=len(split),
        tables=len(split.tables),
        text_tokens=float(split.targets.lengths.mean()) - 2,
        longest_text=int(split.targets.lengths.max()) - 2,
        table_tokens=float(split.table_tokens.lengths.mean()),
        neighbors=float((split.neighbors >= 0).sum(axis=1).mean()),
        mean_cost=float(costs.mean()),
        longest_derivation=int(costs.max()),
        costs=dict(zip(values.tolist(), frequencies.tolist(), strict=True)),
        shares=Shares(
            float((sources == TABLE).sum()) / count,
            float((sources == NEIGHBOR).sum()) / count,
            float((sources == VOCABULARY).sum()) / count,
            replaced / count,
        ),
        neighbors_used=used,
        whole_neighbor_first=_whole_first(prepared, split),
        generable=_generable(split, sources, prepared.vocabulary),
        same_table=_same_table(prepared, split),
        leaked=leak(prepared, split_name) if split_name != "train" else None,
    )


TABLE, NEIGHBOR, VOCABULARY = range(3)


def splice_sources(split: PreparedSplit) -> NDArray[np.int8]:
    """For each splice, whether it comes from the table, a neighbour or the vocabulary."""
    neighbors = (split.neighbors >= 0).sum(axis=1)[_example_of(split)]
    source = split.splices[:, 2]
    return np.where(source == 0, TABLE, np.where(source <= neighbors, NEIGHBOR, VOCABULARY)).astype(np.int8)


def leak(prepared: Prepared, split_name: str) -> float:
    """The share of a split's texts that stand in train once values are replaced by field names."""
    known = set(shapes(prepared.files, "train"))
    asked = shapes(prepared.files, split_name)
    return sum(shape in known for shape in asked) / max(1, len(asked))


def _example_of(split: PreparedSplit) -> NDArray[np.int64]:
    return np.repeat(np.arange(len(split)), split.costs)


def _neighbors_used(split: PreparedSplit, sources: NDArray[np.int8]) -> float:
    from_neighbor = sources == NEIGHBOR
    pairs = np.stack([_example_of(split)[from_neighbor], split.splices[from_neighbor, 2].astype(np.int64)])
    return np.unique(pairs, axis=1).shape[1] / max(1, len(split))


def _whole_first(prepared: Prepared, split: PreparedSplit) -> float:
    rows = np.flatnonzero(split.costs > 0)
    first = split.splices[split.splice_offsets[rows]]
    number = first[:, 2] - 1
    inside = (number >= 0) & (number < (split.neighbors[rows] >= 0).sum(axis=1))
    text = split.neighbors[rows[inside], number[inside]]
    lengths = prepared.store.tokens.lengths[text]
    whole = (first[inside, 3] == 0) & (first[inside, 4] == lengths)
    return float(whole.sum()) / max(1, len(rows))


def _generable(split: PreparedSplit, sources: NDArray[np.int8], vocabulary: Vocabulary) -> float:
    chosen = sources == VOCABULARY
    neighbors = (split.neighbors >= 0).sum(axis=1)[_example_of(split)]
    words = split.splices[chosen, 2] - neighbors[chosen] - 1
    return float(np.isin(words, vocabulary.generate).mean()) if len(words) else 1.0


def _same_table(prepared: Prepared, split: PreparedSplit) -> float:
    store = prepared.store
    own = np.array([store.table_rows.get(table, -1) for table in split.tables], dtype=np.int32)
    there = split.neighbors >= 0
    same = store.table_of[split.neighbors] == own[split.table_of][:, None]
    return float((same & there).sum()) / max(1, int(there.sum()))
