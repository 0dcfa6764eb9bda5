"""Texts that join a store: nothing is trained again, and what is there keeps its numbers.

Words that the vocabulary lacks are put at its end. They have no embedding of their own, so a policy reads
them as it reads every unknown word, and it can copy them. All texts that are given are approved: each wins
where the very same record is asked for, the newest first.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from textsplice.config import Config
from textsplice.corpus import Example, Table
from textsplice.errors import InputError
from textsplice.neighbors.store import Store, commonness
from textsplice.prepare.texts import Tokenized, unsaid
from textsplice.ragged import Ragged
from textsplice.slots.lexicon import Lexicon
from textsplice.text import BEGIN, END, Vocabulary, mask, tokenize
from textsplice.text.tokens import normalize
from textsplice.text.vocabulary import BEGIN_ID, END_ID, UNKNOWN_ID

FRESH = "added:"  # before the number of a text that has no id of its own
_FRESH_ID = re.compile(f"{FRESH}([0-9]{{1,18}})")


class Given(NamedTuple):
    """A text to add; `named` is whether its id is its own."""

    example: Example
    named: bool


@dataclass(frozen=True)
class Growth:
    """What is to be added to a store."""

    new: tuple[Tokenized, ...]  # under the ids that they get
    known: tuple[int, ...]  # rows of the store that are given again and were not approved, or not the newest
    approved: tuple[int, ...]  # all approvals, of the store and of these
    duplicates: int  # texts that are there already, with the same record
    left_out: int  # rows without a text

    @property
    def ids(self) -> list[str]:
        """The ids of the new texts."""
        return [item.example.id for item in self.new]


def plan_growth(
    store: Store, config: Config, given: Iterable[Given], *, taken: Collection[str] = (), where: str
) -> Growth:
    """Which of the given texts are new, and their ids; `InputError` if one can't be added.

    `taken` are ids of texts that were once there; no fresh id is one of them.
    """
    planner = _Planner(store, config, where)
    rows = [each for each in given if planner.has_text(each)]
    if not rows:
        raise InputError(
            "has no text to add.", where=where, remedy="Give rows with a record and an approved text."
        )
    planner.look_up(rows)
    fresh = _fresh_ids({*store.rows_of, *taken, *(each.example.id for each in rows if each.named)})
    for each in rows:
        planner.add(each, fresh)
    if not planner.new and not planner.known:
        raise InputError(
            "has nothing new: all its texts are in the store, and approved.",
            where=where,
            remedy="Use the store as it is.",
        )
    return planner.growth()


@dataclass
class _Planner:
    """The texts that were looked at so far."""

    store: Store
    config: Config
    where: str
    new: list[Tokenized] = field(default_factory=list[Tokenized])
    known: list[int] = field(default_factory=list[int])
    approvals: list[int] = field(default_factory=list[int])
    duplicates: int = 0
    left_out: int = 0
    rows: dict[tuple[Table, str], int] = field(default_factory=dict["tuple[Table, str]", int])
    newest: dict[Table, int] = field(default_factory=dict[Table, int])
    ids: set[str] = field(default_factory=set[str])

    def has_text(self, given: Given) -> bool:
        """Whether there is something to add; other rows are counted."""
        _require_unicode(given.example, self.where)
        if normalize(given.example.text or ""):
            return True
        self.left_out += 1
        return False

    def look_up(self, given: Sequence[Given]) -> None:
        """Finds the texts that the store has of the same records."""
        store = self.store
        tables = {each.example.table for each in given}
        numbers = {store.table_rows[table]: table for table in tables if table in store.table_rows}
        of_rows: list[int] = store.table_of.tolist()
        for row, number in enumerate(of_rows):
            if number in numbers:
                self.rows.setdefault((numbers[number], normalize(store.texts[row])), row)
        self.newest = {table: rows[0] for table in tables if (rows := store.approved_of(table))}

    def add(self, given: Given, fresh: Iterator[str]) -> None:
        """Takes one text in, if it is new; one that is there is approved."""
        example = given.example
        table, text = example.table, normalize(example.text or "")
        row = self.rows.get((table, text))
        if row is None:
            row = len(self.store) + len(self.new)
            name = self._free(example.id) if given.named else next(fresh)
            self.new.append(self._tokenized(replace(example, id=name)))
            self.rows[table, text] = row
        else:
            self.duplicates += 1
            if row < len(self.store) and self.newest.get(table) != row:
                self.known.append(row)
        if self.newest.get(table) != row:
            self.newest[table] = row
            self.approvals.append(row)

    def _free(self, name: str) -> str:
        """The id that a text brings; `InputError` if it is that of another text."""
        if name in self.ids or name in self.store.rows_of:
            whose = "another text of these" if name in self.ids else "another text of the store"
            raise InputError(
                f"the id {name!r} is that of {whose}.",
                where=self.where,
                remedy="Give it another id, or number all of these texts anew: --new-ids.",
            )
        self.ids.add(name)
        return name

    def _tokenized(self, example: Example) -> Tokenized:
        corpus, cut = self.config.corpus, self.store.tokenizer
        table, words = self.store.linearize(example.table), tokenize(example.text or "", cut)
        if not table.tokens:
            raise InputError(
                f"the text {example.id!r} has no record: all its fields are empty.",
                where=self.where,
                remedy="Give the record that the text says.",
            )
        lengths = (
            ("text", "max_tokens", len(words), corpus.max_tokens),
            ("record", "max_table_tokens", len(table.tokens), corpus.max_table_tokens),
        )
        for what, setting, length, limit in lengths:
            if length > limit:
                raise InputError(
                    f"the {what} of {example.id!r} has {length:,} tokens; corpus.{setting} of the store is "
                    f"{limit:,}.",
                    where=self.where,
                    remedy="Shorten it, or leave it out.",
                )
        return Tokenized(example, [BEGIN, *words, END], table)

    def growth(self) -> Growth:
        """What was found."""
        approved = (*self.store.approved, *self.approvals)
        return Growth(tuple(self.new), tuple(self.known), approved, self.duplicates, self.left_out)


def grow(
    store: Store, vocabulary: Vocabulary, growth: Growth, config: Config, lexicon: Lexicon | None
) -> Store:
    """The store with the new texts; the vocabulary must have their words, but for masked ones."""
    items = growth.new
    targets = Ragged.from_rows(vocabulary.encode(item.target) for item in items)
    verbatim = config.neighbors.verbatim
    return store.plus(
        ids=growth.ids,
        texts=[item.example.text or "" for item in items],
        tokens=Ragged.from_rows(vocabulary.encode(_masked(item, config)) for item in items),
        tables=[item.example.table for item in items],
        offered=np.array([not verbatim or unsaid(item, lexicon) == 0 for item in items], dtype=np.bool_),
        commonness=commonness(targets, _word_counts(store, vocabulary)),
        approved=growth.approved,
    )


def words_of(growth: Growth, config: Config) -> Iterator[str]:
    """The words of the new texts that can be spliced from: all but masked values."""
    return (word for item in growth.new for word in _masked(item, config))


def _masked(item: Tokenized, config: Config) -> list[str]:
    return mask(item.target, item.table.value_tokens()) if config.text.mask else item.target


def _word_counts(store: Store, vocabulary: Vocabulary) -> NDArray[np.int64]:
    """How often each word stands in the texts of a store, values and all."""
    counts: Counter[str] = Counter()
    lengths: list[int] = store.tokens.lengths.tolist()
    for text, length in zip(store.texts, lengths, strict=True):
        counts.update(tokenize(text, store.tokenizer)[: length - 2])  # `prepare` may have cut it
    found = np.zeros(len(vocabulary), dtype=np.int64)
    for word, times in counts.items():
        found[vocabulary.id(word)] += times
    found[[BEGIN_ID, END_ID]] = len(store)
    found[UNKNOWN_ID] = 0  # masked words of texts that were added before
    return found


def _fresh_ids(taken: Collection[str]) -> Iterator[str]:
    """`added:1`, `added:2`, … after all that were ever given."""
    numbers = [int(found[1]) for name in taken if (found := _FRESH_ID.fullmatch(name))]
    return (f"{FRESH}{number}" for number in count(max(numbers, default=0) + 1))


def _require_unicode(example: Example, where: str) -> None:
    values = (part for name, values in example.table for part in (name, *values))
    try:
        "".join((example.id, example.text or "", *values)).encode("utf-8")
    except UnicodeEncodeError as error:
        what = f"row {example.id!r} holds half of a surrogate pair, which is no text."
        raise InputError(what, where=where) from error
