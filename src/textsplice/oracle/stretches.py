"""One target with the texts it is derived from, and the least cost of every stretch of it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from textsplice.errors import InputError
from textsplice.oracle.matches import Matches, ParsedTexts
from textsplice.oracle.numbering import Numbering
from textsplice.oracle.splice import Splice
from textsplice.ragged import Ragged

Ids = NDArray[np.int32]
NO_TABLE = (np.zeros(0, dtype=np.int32), np.zeros(0, dtype=np.int32))


@dataclass(frozen=True, slots=True)
class Target:
    """A target's ids, and the *kind* of each: its number among the target's distinct tokens."""

    ids: Ids
    kinds: Ids
    kind_of: Ids  # per id; -1 if the target does not have it

    @classmethod
    def of(cls, ids: Ids, vocabulary: int) -> Target:
        """A target, given how many ids there are in all; `InputError` if it is too long or has others."""
        from textsplice.oracle.kernel import LONGEST

        if len(ids) > LONGEST:
            raise InputError(
                f"a text of {len(ids)} tokens is too long to derive; {LONGEST} is the most.",
                remedy="Truncate or split it.",
            )
        if len(ids) and not 0 <= int(ids.min()) <= int(ids.max()) < vocabulary:
            raise InputError(f"a token's id is not below {vocabulary}.")
        _, first, inverse = np.unique(ids, return_index=True, return_inverse=True)
        rank = np.empty(len(first), dtype=np.int32)
        rank[np.argsort(first)] = np.arange(len(first), dtype=np.int32)
        kinds = rank[inverse.reshape(-1)]
        kind_of = np.full(vocabulary, -1, dtype=np.int32)
        kind_of[ids] = kinds
        return cls(np.ascontiguousarray(ids, dtype=np.int32), kinds, kind_of)

    def kinds_in_sources(self, mask_id: int) -> Ids:
        """`kind_of` for the tokens of sources, where a mask matches nothing."""
        if mask_id < 0 or self.kind_of[mask_id] < 0:
            return self.kind_of
        kinds = self.kind_of.copy()
        kinds[mask_id] = -1
        return kinds


@dataclass(frozen=True, slots=True)
class Stretches:
    """`S[a, b]` is the fewest splices that derive `target[a:b]`; a token in no text costs one splice."""

    target: Target
    texts: ParsedTexts
    matches: Matches
    S: NDArray[np.int32]

    @classmethod
    def solve(
        cls,
        target: Target,
        *,
        table: tuple[Ids, Ids] = NO_TABLE,
        store: Ragged,
        rows: Ids,
        mask_id: int,
    ) -> Stretches:
        """The stretches of a target from a table (tokens and segments) and these rows of a store."""
        from textsplice.oracle.kernel import find_matches, gather, least_costs

        kind_of = target.kinds_in_sources(mask_id)
        texts = gather(kind_of, *table, (store.values, store.offsets), rows)
        matches = find_matches(target.kinds, texts)
        return cls(target, texts, matches, least_costs(matches, len(texts.start)))

    def derivation(self, numbering: Numbering) -> list[Splice]:
        """The derivation of the target that `oracle.kernel` chooses; `numbering` is that of the rows."""
        from textsplice.oracle.kernel import write_derivation

        splices = np.empty((len(self.target.ids), len(Splice._fields)), dtype=np.int32)
        if not len(splices):
            return []
        written = write_derivation(
            self.target.ids, self.texts, self.matches, self.S, numbering.first_word, splices
        )
        return [Splice(*row) for row in splices[:written].tolist()]

    @property
    def cost(self) -> int:
        """The fewest splices for the whole target."""
        return int(self.S[0, -1])
