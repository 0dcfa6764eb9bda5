"""The neighbors of a table that are offered for splicing: found in the store, filtered by the rules."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from textsplice.corpus.table import Table
from textsplice.neighbors.store import Store
from textsplice.oracle.sources import OfferedNeighbor
from textsplice.search.doubts import Known
from textsplice.search.rules import Rule
from textsplice.text.vocabulary import Vocabulary

MOST_RULES = 16  # sets of rules whose answers are kept


class Offers:
    """The neighbors of tables under rules; the rules are asked once about each text of the store."""

    def __init__(self, store: Store, k: int, vocabulary: Vocabulary) -> None:
        self.store = store
        self.k = k
        self.vocabulary = vocabulary
        self._mask_fields: dict[int, NDArray[np.int32]] = {}
        self._rows: dict[int, OfferedNeighbor] = {}
        self._admitted: dict[tuple[Rule, ...], NDArray[np.bool_]] = {}

    def neighbor(self, row: int) -> OfferedNeighbor:
        """A row of the store."""
        found = self._rows.get(row)
        if found is None:
            tokens = tuple(self.vocabulary.decode(self.store.tokens[row].tolist()))
            found = OfferedNeighbor(self.store.ids[row], self.store.texts[row], tokens)
            self._rows[row] = found
        return found

    def mask_fields(self, row: int) -> NDArray[np.int32]:
        """The field of each mask of a row, as the id of the field's name in a table; -1 elsewhere."""
        found = self._mask_fields.get(row)
        if found is None:
            found = self._mask_fields[row] = self.field_ids[self.store.mask_fields_of(row)]
        return found

    @cached_property
    def field_ids(self) -> NDArray[np.int32]:
        """The ids of the names of the store's fields."""
        return self.store.field_ids(self.vocabulary)

    @cached_property
    def known(self) -> Known:
        """The fields and values that the store's records have."""
        return Known.of(self.store)

    def find(self, table: Table, rules: Sequence[Rule], *, reach: int = 1) -> list[int]:
        """The rows of the `reach · k` nearest texts the rules admit, best first; equal texts once.

        Texts that a rule wants to start from come before them.
        """
        # Rows with the same masked text are one source; the nearest of them is kept.
        nearest: dict[tuple[str, ...], int] = {}
        for row in (*self.starts(rules), *self.nearest(table, rules, reach=reach)):
            nearest.setdefault(self.neighbor(row).tokens, row)
        return list(nearest.values())[: reach * self.k]

    def starts(self, rules: Sequence[Rule]) -> list[int]:
        """The rows that a text must begin with one of, of those that all rules admit; none if it need not."""
        named = [name for rule in rules for name in rule.starts()]
        if not named:
            return []
        allowed = self.allowed(tuple(rules))
        return [row for name in named for row in self.store.rows_of.get(name, ()) if allowed[row]]

    def nearest(self, table: Table, rules: Sequence[Rule], *, reach: int = 1) -> list[int]:
        """The rows of the `reach · k` nearest texts the rules admit, best first; equal texts as often.

        They agree with the table in what should be alike (the act, a condition), if some do.
        """
        if not len(self.store):
            return []
        allowed, alike = self._allowed(tuple(rules)), self.store.agreeing(table)
        if allowed is not None and alike is not None:
            alike = alike & allowed if (alike & allowed & self.store.offered).any() else allowed
        return self.store.search(
            table, reach * self.k, allow=allowed if alike is None else alike
        ).rows.tolist()

    def allowed(self, rules: tuple[Rule, ...]) -> NDArray[np.bool_]:
        """The rows that may be spliced from under these rules."""
        admitted = self._allowed(rules)
        return self.store.offered if admitted is None else self.store.offered & admitted

    def _allowed(self, rules: tuple[Rule, ...]) -> NDArray[np.bool_] | None:
        choosy = tuple(rule for rule in rules if type(rule).admits is not Rule.admits)
        if not choosy:
            return None
        if choosy not in self._admitted:
            if len(self._admitted) == MOST_RULES:
                del self._admitted[next(iter(self._admitted))]
            self._admitted[choosy] = np.array(
                [all(rule.admits(self.neighbor(row)) for rule in choosy) for row in range(len(self.store))],
                dtype=np.bool_,
            )
        return self._admitted[choosy]
