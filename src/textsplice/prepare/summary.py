"""A prepared folder in numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from textsplice.corpus.table import Example
from textsplice.oracle.numbering import TABLE, neighbor_counts, neighbor_ranks, word_ids
from textsplice.prepare.stages import shapes
from textsplice.runs.prepared import Prepared, PreparedSplit
from textsplice.slots.kinds import Finding, find_kinds
from textsplice.slots.lexicon import Lexicon
from textsplice.text import Vocabulary

# From here on a number deserves a comment.
LEAKED, FOREIGN, FEW_SPLICES, GENERABLE, FEW_TEXTS = 0.05, 0.2, 8.0, 0.5, 1000


@dataclass(frozen=True, slots=True)
class Shares:
    """The shares of all splices, by source, and the share that replaces text."""

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
    costs: dict[int, int]  # number of splices → how many derivations have it
    shares: Shares
    neighbors_used: float
    whole_neighbor_first: float  # share of derivations whose first splice is a whole neighbor
    generable: float  # share of vocabulary splices whose word a policy may generate
    same_table: float  # share of neighbors that have the example's own table
    leaked: float | None  # share of texts whose delexicalized form appears in train


def summarize(prepared: Prepared, split_name: str) -> SplitSummary:
    """The numbers of one split."""
    split = prepared.split(split_name)
    offered = neighbor_counts(split.neighbors)
    example = np.repeat(np.arange(len(split)), split.costs)
    sources = split.splices[:, 2]
    ranks = neighbor_ranks(sources, offered[example])
    words = word_ids(sources, offered[example])
    count = max(1, len(sources))
    used = np.unique(np.stack([example, ranks])[:, ranks >= 0], axis=1).shape[1]
    values, frequencies = np.unique(split.costs, return_counts=True)
    return SplitSummary(
        name=split_name,
        examples=len(split),
        tables=len(split.tables),
        text_tokens=float(split.targets.lengths.mean()) - 2,
        longest_text=int(split.targets.lengths.max()) - 2,
        table_tokens=float(split.table_tokens.lengths.mean()),
        neighbors=float(offered.mean()),
        mean_cost=float(split.costs.mean()),
        longest_derivation=int(split.costs.max()),
        costs=dict(zip(values.tolist(), frequencies.tolist(), strict=True)),
        shares=Shares(
            table=float((sources == TABLE).sum()) / count,
            neighbors=float((ranks >= 0).sum()) / count,
            vocabulary=float((words >= 0).sum()) / count,
            replacements=float((split.splices[:, 1] > split.splices[:, 0]).sum()) / count,
        ),
        neighbors_used=used / max(1, len(split)),
        whole_neighbor_first=_whole_neighbor_first(prepared, split),
        generable=_generable(words[words >= 0], prepared.vocabulary),
        same_table=_same_table(prepared, split),
        leaked=leak(prepared, split_name) if split_name != "train" else None,
    )


def comments(summaries: Sequence[SplitSummary], vocabulary: Vocabulary) -> list[str]:
    """What the numbers mean for whoever goes on with this folder, as sentences."""
    said: list[str] = []
    for each in summaries:
        if each.leaked and each.leaked >= LEAKED:
            said.append(
                f"{each.leaked:.0%} of the {each.name} texts are train texts but for their values: scores on "
                f"{each.name} flatter. `corpus.decontaminate = {each.name!r}` takes those out of train."
            )
    train = next((each for each in summaries if each.name == "train"), None)
    if train is None:
        return said
    if train.shares.vocabulary >= FOREIGN:
        said.append(
            f"{train.shares.vocabulary:.0%} of the splices are single words that no neighbor has: neighbors "
            "are far from the texts. More texts, or neighbors.k, would help; `textsplice fit` learns from "
            "what S2S+copy writes instead."
        )
    elif train.mean_cost <= FEW_SPLICES:
        said.append(f"{train.mean_cost:.1f} splices make a text: the corpus is regular and easy to splice.")
    if train.generable < GENERABLE and train.shares.vocabulary:
        said.append(
            f"Only {train.generable:.0%} of those single words can be generated "
            f"({len(vocabulary.generate):,} can): vocabulary.generate_min_count is too high for so few texts."
        )
    if train.examples < FEW_TEXTS:
        said.append(
            f"{train.examples:,} texts are few to train on: compare with swap, which needs no training."
        )
    return said


def would_find(prepared: Prepared) -> list[Finding]:
    """The kinds of fields that `corpus.kinds = ["auto"]` would find in the training texts."""
    train = prepared.split("train")
    rows = zip(train.ids, train.table_of.tolist(), train.texts, strict=True)
    return find_kinds(Example(name, train.tables[table], text) for name, table, text in rows)


def how_checked(found: Finding, lexicon: Lexicon | None) -> str:
    """How the values of a field are looked for in texts."""
    known = lexicon.fields.get(found.field) if lexicon else None
    if found.kind == "unsaid":
        return "no"
    if known and known.wordings:
        return "in part, by the lexicon" if known.partial else "by the lexicon"
    if found.kind in ("yes/no", "coded", "worded"):
        return "if said word for word" if found.kind == "worded" else "unchecked"
    return "word for word"


def leak(prepared: Prepared, split_name: str) -> float:
    """The share of a split's texts that also appear in train, after values are replaced by field names."""
    known = set(shapes(prepared.files, "train"))
    asked = shapes(prepared.files, split_name)
    return sum(shape in known for shape in asked) / max(1, len(asked))


def _whole_neighbor_first(prepared: Prepared, split: PreparedSplit) -> float:
    rows = np.flatnonzero(split.costs > 0)
    first = split.splices[split.splice_offsets[rows]]
    ranks = neighbor_ranks(first[:, 2], neighbor_counts(split.neighbors[rows]))
    inside = ranks >= 0
    text = split.neighbors[rows[inside], ranks[inside]]
    lengths = prepared.store.tokens.lengths[text]
    whole = (first[inside, 3] == 0) & (first[inside, 4] == lengths)
    return float(whole.sum()) / max(1, len(rows))


def _generable(words: NDArray[np.int64], vocabulary: Vocabulary) -> float:
    return float(np.isin(words, vocabulary.generate).mean()) if len(words) else 1.0


def _same_table(prepared: Prepared, split: PreparedSplit) -> float:
    store = prepared.store
    own = np.array([store.table_rows.get(table, -1) for table in split.tables], dtype=np.int32)
    there = split.neighbors >= 0
    same = store.table_of[split.neighbors] == own[split.table_of][:, None]
    return float((same & there).sum()) / max(1, int(there.sum()))
