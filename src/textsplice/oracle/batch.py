"""Least derivations of a whole corpus of ids, by the compiled kernel."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from textsplice.errors import InputError
from textsplice.oracle.numbering import first_words, neighbor_counts
from textsplice.oracle.splice import Splice
from textsplice.ragged import Ragged


@dataclass(frozen=True, slots=True)
class Derivations:
    """The derivation of example `i` is `splices[offsets[i]:offsets[i + 1]]`, one row per splice."""

    splices: NDArray[np.int32]
    offsets: NDArray[np.int64]

    @property
    def costs(self) -> NDArray[np.int32]:
        """The number of splices of each example."""
        return np.diff(self.offsets).astype(np.int32)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, example: int) -> list[Splice]:
        rows = self.splices[self.offsets[example] : self.offsets[example + 1]]
        return [Splice(*row) for row in rows.tolist()]


def derive_corpus(
    targets: Ragged,
    *,
    table_tokens: Ragged,
    table_segments: Ragged,
    table_of: NDArray[np.int32],
    store_tokens: Ragged,
    neighbors: NDArray[np.int32],
    mask_id: int,
    threads: int = 1,
) -> Derivations:
    """A least derivation of every target from its table, its neighbors and the vocabulary.

    `neighbors[i]` are rows of the store, best first, padded with -1. Sources are numbered by
    `oracle.numbering`. A vocabulary word is used only if neither a value of the table nor a neighbor has the
    token. `mask_id` in a neighbor matches nothing. The result does not depend on `threads`.
    """
    from textsplice.oracle.kernel import LONGEST, derive_rows

    longest = int(targets.lengths.max(initial=0))
    if longest > LONGEST:
        raise InputError(
            f"a text of {longest} tokens is too long to derive; {LONGEST} is the most.",
            where=f"target {int(targets.lengths.argmax())}",
            remedy="Truncate or split it.",
        )
    # Compiled code does not check bounds.
    if not len(targets) == len(table_of) == len(neighbors):
        raise InputError(
            f"there are {len(targets)} targets, but tables for {len(table_of)} "
            f"and neighbors for {len(neighbors)}."
        )
    _require_rows("table", table_of, len(table_tokens))
    _require_rows("neighbor", neighbors[neighbors >= 0], len(store_tokens))
    if not np.array_equal(table_tokens.offsets, table_segments.offsets):
        raise InputError("the tables' tokens and segments differ in shape.")
    flats = [tokens.values for tokens in (targets, table_tokens, store_tokens)]
    if min(int(flat.min(initial=0)) for flat in flats) < 0:
        raise InputError("a token's id is negative.")
    ids = 1 + max(mask_id, *(int(flat.max(initial=0)) for flat in flats))

    word_sources = first_words(neighbor_counts(neighbors))

    def derive_block(block: tuple[int, int]) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        return derive_rows(
            *block,
            ids,
            mask_id,
            (targets.values, targets.offsets),
            (table_tokens.values, table_tokens.offsets),
            table_segments.values,
            np.ascontiguousarray(table_of, dtype=np.int32),
            (store_tokens.values, store_tokens.offsets),
            np.ascontiguousarray(neighbors, dtype=np.int32),
            word_sources,
        )

    bounds = np.linspace(0, len(targets), 1 + (4 * threads if threads > 1 else 1), dtype=np.int64)
    blocks = list(zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True))
    if threads > 1:
        with ThreadPoolExecutor(threads) as pool:
            parts = list(pool.map(derive_block, blocks))
    else:
        parts = [derive_block(block) for block in blocks]
    offsets = np.zeros(len(targets) + 1, dtype=np.int64)
    np.cumsum(np.concatenate([costs for _, costs in parts]), out=offsets[1:])
    return Derivations(np.concatenate([splices for splices, _ in parts]), offsets)


def _require_rows(name: str, rows: NDArray[np.int32], count: int) -> None:
    wrong = rows[(rows < 0) | (rows >= count)]
    if wrong.size:
        raise InputError(f"{name} {wrong[0]} does not exist: there are {count}.")
