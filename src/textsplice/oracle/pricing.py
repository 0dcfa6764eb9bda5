"""The fewest splices over all rows of a corpus, proved by pricing every row.

**Words that stand nowhere.** A *foreign* token is one that neither a value of the table nor any row has. It
counts as a text of its own, of one token, like a vocabulary word. So every derivation needs one splice for
each foreign token, the fewest splices are well defined, and without those of foreign tokens they are the
fewest splices that copy. That number would be the same if a run of foreign tokens counted as one, since no
chain has a token inside such a run.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from textsplice.errors import InputError
from textsplice.oracle.numbering import Numbering
from textsplice.oracle.splice import Splice
from textsplice.oracle.stretches import NO_TABLE, Ids, Stretches, Target
from textsplice.ragged import Ragged
from textsplice.stopping import stop_if_unwanted

LONGEST = 1024  # the bounds of a text of this length take 137 MB
SOLVED_FIRST = 20  # of the promising rows; more would take longer to solve than they save in pricing
BATCH = 8  # rows that pay, after which the stretches are solved again: at least these
SLAB = 16_384  # rows after which they are solved again if one has paid: what is found late prices all again


@dataclass(frozen=True, slots=True)
class Certificate:
    """What is known about a cost: it is least over `looked_at` of the `rows` rows."""

    rows: int  # that may be spliced from
    looked_at: int  # that were priced: none of them pays
    solved: int  # that the stretches were solved with
    rounds: int  # how often the stretches were solved

    @property
    def proved(self) -> bool:
        """Whether it is least over all rows."""
        return self.looked_at == self.rows


@dataclass(frozen=True, slots=True)
class LeastDerivation:
    """A derivation of a target from the table and `rows`; `splices` number them by `Numbering(len(rows))`."""

    splices: tuple[Splice, ...]
    rows: tuple[int, ...]  # of the corpus, only those that splices use
    foreign: tuple[int, ...]  # positions of the target whose token stands nowhere
    certificate: Certificate

    @property
    def cost(self) -> int:
        """The number of splices, with one for each foreign token."""
        return len(self.splices)


@dataclass(frozen=True)
class Pricing:
    """A corpus of rows of ids. A target's word that is not in the vocabulary has any id beyond it."""

    store: Ragged
    mask_id: int

    def least(
        self,
        target: Sequence[int] | Ids,
        rows: Sequence[int] | Ids,
        *,
        table: tuple[Ids, Ids] = NO_TABLE,
        allow: NDArray[np.bool_] | None = None,
        exact: bool = True,
    ) -> LeastDerivation:
        """A least derivation of a target over all allowed rows, or, if not `exact`, over the rows given.

        `rows` are promising ones, best first; any will do. `table` is the tokens and segments of a linearized
        table.
        """
        ids = np.asarray(target, dtype=np.int32)
        given = np.asarray(rows, dtype=np.int32)
        self._check(ids, given, allow)
        count = len(self.store) if allow is None else int(np.count_nonzero(allow))
        promising = given if allow is None else given[allow[given]]
        highest = max(int(part.max(initial=0)) for part in (ids, table[0]))
        vocabulary = 1 + max(self.mask_id, self._highest, highest)
        search = _Search(self.store, Target.of(ids, vocabulary), table, self.mask_id)
        search.look_at(promising[:SOLVED_FIRST])
        if len(search.missing()):
            search.find_missing_words(self._first_rows if allow is None else self._first_allowed(allow))
        search.price(promising)
        if exact:
            search.price(self._every_row if allow is None else np.flatnonzero(allow).astype(np.int32))
        return search.derivation(count, count if exact else len({*promising.tolist(), *search.rows}))

    @cached_property
    def _every_row(self) -> Ids:
        return np.arange(len(self.store), dtype=np.int32)

    @cached_property
    def _highest(self) -> int:
        return int(self.store.values.max(initial=0))

    @cached_property
    def _first_rows(self) -> Ids:
        """The first row that has each id."""
        return self._first_of(self._every_row)

    def _first_allowed(self, allow: NDArray[np.bool_]) -> Ids:
        """The first allowed row that has each id; the last answer is kept, since texts come in batches."""
        key = hashlib.sha256(allow.tobytes()).digest()
        if key not in self._first_known:
            self._first_known.clear()
            self._first_known[key] = self._first_of(np.flatnonzero(allow).astype(np.int32))
        return self._first_known[key]

    @cached_property
    def _first_known(self) -> dict[bytes, Ids]:
        return {}

    def _first_of(self, rows: Ids) -> Ids:
        from textsplice.oracle.pricing_kernel import first_rows

        return first_rows((self.store.values, self.store.offsets), rows, self._highest + 1)

    def _check(self, ids: Ids, rows: Ids, allow: NDArray[np.bool_] | None) -> None:
        if len(ids) > LONGEST:
            raise InputError(
                f"a text of {len(ids)} tokens is too long to trace; {LONGEST} is the most.",
                remedy="Split it into paragraphs.",
            )
        if len(rows) and not 0 <= int(rows.min()) <= int(rows.max()) < len(self.store):
            raise InputError(f"a row is not one of the {len(self.store)} rows of the corpus.")
        if allow is not None and (allow.dtype != np.bool_ or allow.shape != (len(self.store),)):
            raise InputError(
                f"the allowed rows are {allow.dtype}{list(allow.shape)}, not bool[{len(self.store)}].",
                remedy="Give one truth value for each row of the corpus.",
            )


class _Search:
    """The state of one target: the rows looked at, and the stretches solved with them."""

    def __init__(self, store: Ragged, target: Target, table: tuple[Ids, Ids], mask_id: int) -> None:
        self.store, self.target, self.table, self.mask_id = store, target, table, mask_id
        self.rows: list[int] = []
        self.rounds = 0
        self.stretches: Stretches | None = None

    def look_at(self, rows: Ids) -> None:
        """Adds rows, without those that are known, and solves the stretches."""
        self.rows = list(dict.fromkeys([*self.rows, *rows.tolist()]))
        looked_at = np.array(self.rows, dtype=np.int32)
        self.stretches = Stretches.solve(
            self.target, table=self.table, store=self.store, rows=looked_at, mask_id=self.mask_id
        )
        self.rounds += 1

    @property
    def solved(self) -> Stretches:
        assert self.stretches is not None
        return self.stretches

    def missing(self) -> NDArray[np.int64]:
        """The positions of the target whose token no text has that was looked at."""
        return np.flatnonzero(np.diff(self.solved.matches.rows) == 0)

    def find_missing_words(self, first_rows: Ids) -> None:
        """Looks at rows that have the words still missing: only what stands nowhere is foreign."""
        missing = np.unique(self.target.ids[self.missing()])
        known = missing[(missing < len(first_rows)) & (missing != self.mask_id)]
        rows = np.unique(first_rows[known])
        if len(found := rows[rows >= 0]):
            self.look_at(found)

    def price(self, rows: Ids) -> None:
        """Looks at those of these rows that pay until none does."""
        from textsplice.oracle.pricing_kernel import bounds_of, paying_rows, positions_of

        store = (self.store.values, self.store.offsets)
        kind_of = self.target.kinds_in_sources(self.mask_id)
        positions = positions_of(self.target.kinds)
        # Solving grows faster with the length of the target than pricing does.
        found = np.empty(max(BATCH, len(self.target.ids) // 2), dtype=np.int32)
        first, unpriced = 0, len(rows)
        bounds = bounds_of(self.solved.S)
        while unpriced:
            stop_if_unwanted()
            slab = min(SLAB, unpriced)
            count, priced = paying_rows(first, slab, rows, kind_of, store, positions, bounds, found)
            first = (first + priced) % len(rows)
            unpriced -= priced
            if count:
                self.look_at(found[:count])
                bounds = bounds_of(self.solved.S)
                unpriced = len(rows)

    def derivation(self, allowed: int, looked_at: int) -> LeastDerivation:
        """The derivation that `oracle.kernel` chooses from the rows looked at."""
        before = Numbering(len(self.rows))
        found = self.solved.derivation(before)
        used = sorted({before.rank(s.neighbor) for s in found if before.is_neighbor(s.neighbor)})
        after = Numbering(len(used))
        number = {before.neighbor(rank): after.neighbor(place) for place, rank in enumerate(used)}
        number[before.TABLE] = after.TABLE
        splices = tuple(
            s._replace(
                neighbor=after.word(before.word_id(s.neighbor))
                if before.is_word(s.neighbor)
                else number[s.neighbor]
            )
            for s in found
        )
        certificate = Certificate(allowed, looked_at, len(self.rows), self.rounds)
        return LeastDerivation(
            splices, tuple(self.rows[rank] for rank in used), tuple(self.missing().tolist()), certificate
        )
