"""All texts of a store as numbers, as they were written and with their values masked."""

from __future__ import annotations

import hashlib
import json
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NamedTuple, cast, get_args

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from textsplice.arrow import Texts, damaged, read_mapped, text_column, undamaged, write_mapped
from textsplice.corpus.table import Example, Table
from textsplice.errors import InputError, StorageError
from textsplice.files import atomic_write_text
from textsplice.neighbors.by_text import TextIndex, frozen
from textsplice.neighbors.persistence import are_offsets, read_index, within, write_index
from textsplice.neighbors.store import Store, StoredTexts
from textsplice.neighbors.text_shards import ROWS_A_SHARD, TextShards
from textsplice.oracle.pricing import Pricing
from textsplice.oracle.sources import OfferedNeighbor
from textsplice.oracle.writing import unmasked
from textsplice.parsing import read_object
from textsplice.ragged import Ragged
from textsplice.text.linearize import linearize
from textsplice.text.masking import mask
from textsplice.text.tokens import BEGIN, END, MASK, Tokenizer, tokenize

SPECIAL = (BEGIN, END, MASK)
MASK_NUMBER = SPECIAL.index(MASK)
AT_ONCE = 1000  # rows whose strings are Python's
REMEDY = "Delete the folder: it is made again."
ABOUT, ROWS, WORDS = "about.json", "rows.arrow", "words.arrow"

Advance = Callable[[int], None]


def _ignore(_rows: int) -> None:
    pass


@dataclass(frozen=True)
class Rows:
    """One way to see the texts: tokens as numbers, an index of them, and what derives from them."""

    tokens: Ragged
    saved: TextIndex | TextShards | None = None

    @cached_property
    def index(self) -> TextIndex | TextShards:
        """Finds the rows that share most with a text."""
        return TextIndex.build(self.tokens, MASK_NUMBER) if self.saved is None else self.saved

    @cached_property
    def pricing(self) -> Pricing:
        """Derives a text from all rows."""
        return Pricing(self.tokens, MASK_NUMBER)

    def save(self, folder: Path, advance: Advance) -> None:
        """Writes tokens and index; what is built for it is not kept in memory."""
        tokens: dict[str, NDArray[np.generic]] = {
            "values": self.tokens.values,
            "offsets": self.tokens.offsets,
        }
        write_index(folder / "tokens", tokens, [], [])
        if len(self.tokens) > ROWS_A_SHARD:
            TextShards.write(folder / "index", self.tokens, MASK_NUMBER, advance)
        else:
            TextIndex.build(self.tokens, MASK_NUMBER, advance).save(folder / "index")

    @classmethod
    def load(cls, folder: Path, rows: int, words: int) -> Rows:
        """Memory-maps them; `StorageError` if they are not those of so many rows and words."""
        saved = read_index(folder / "tokens")
        tokens = Ragged(saved.array("values", np.int32), saved.array("offsets", np.int64))
        # Compiled code follows these numbers, and checks nothing.
        saved.require("values", within(tokens.values, 0, words))
        saved.require("offsets", are_offsets(tokens.offsets, rows, len(tokens.values)))
        kind = TextShards if TextShards.is_saved(folder / "index") else TextIndex
        return cls(tokens, kind.load(folder / "index", rows))


class Reading(NamedTuple):
    """One text in tokens."""

    id: str
    text: str
    written: Sequence[str]
    masked: Sequence[str]


@dataclass(frozen=True)
class SourceTexts:
    """The texts that others are traced to. `name` is what the rows of traces call them."""

    ids: Sequence[str]
    texts: Sequence[str]
    words: Sequence[str]  # by number
    written: Rows
    masked: Rows
    tokenizer: Tokenizer
    name: str

    def __len__(self) -> int:
        return len(self.ids)

    @cached_property
    def numbers(self) -> dict[str, int]:
        """The number of each word."""
        return {word: number for number, word in enumerate(self.words)}

    def neighbor(self, row: int, rows: Rows) -> OfferedNeighbor:
        """A text as a source."""
        return OfferedNeighbor(self.ids[row], self.texts[row], _spelled(self.words, rows.tokens[row]))

    @classmethod
    def of_store(
        cls, store: Store | StoredTexts, words: Sequence[str], name: str, advance: Advance = _ignore
    ) -> SourceTexts:
        """Those of a run or prepared folder, whose store has them masked."""
        return _collected(_stored(store, words), store.tokenizer, name, advance)

    @classmethod
    def of_examples(
        cls, examples: Iterable[Example], tokenizer: Tokenizer, advance: Advance = _ignore
    ) -> SourceTexts:
        """Those of a corpus that was not prepared, which are called by a hash of them."""
        return _collected(_read(examples, tokenizer), tokenizer, None, advance)

    def save(self, folder: Path, advance: Advance = _ignore) -> None:
        """Writes all of it; `advance` is told of rows that are indexed, which is done twice."""
        write_mapped(folder / ROWS, {"id": _column(self.ids), "text": _column(self.texts)})
        write_mapped(folder / WORDS, {"word": _column(self.words)})
        self.written.save(folder / "written", advance)
        self.masked.save(folder / "masked", advance)
        about = {"name": self.name, "tokenizer": self.tokenizer}
        atomic_write_text(folder / ABOUT, json.dumps(about) + "\n")

    @classmethod
    def load(cls, folder: Path) -> SourceTexts:
        """Memory-maps what was saved; `StorageError` if it is damaged."""
        about = read_object(folder / ABOUT, StorageError, remedy=REMEDY)
        name, tokenizer = about.get("name"), about.get("tokenizer")
        if not isinstance(name, str) or tokenizer not in get_args(Tokenizer):
            raise damaged(folder / ABOUT, REMEDY)
        with undamaged(folder / ROWS, REMEDY):
            rows = read_mapped(folder / ROWS)
            ids, texts = Texts(rows["id"]), Texts(rows["text"])
        with undamaged(folder / WORDS, REMEDY):
            words = Texts(read_mapped(folder / WORDS)["word"])[:]
        if tuple(words[: len(SPECIAL)]) != SPECIAL or not len(ids) == len(texts) > 0:
            raise damaged(folder / ROWS, REMEDY)
        written = Rows.load(folder / "written", len(ids), len(words))
        masked = Rows.load(folder / "masked", len(ids), len(words))
        return cls(ids, texts, words, written, masked, cast(Tokenizer, tokenizer), name)


class _Numbers(dict[str, int]):
    """A new word gets the next number."""

    def __missing__(self, word: str) -> int:
        self[word] = number = len(self)
        return number


class _Tokens:
    """Rows of numbers that grow, in the memory they need."""

    def __init__(self) -> None:
        self.values, self.offsets = array("i"), array("q", [0])

    def add(self, numbers: Iterable[int]) -> None:
        self.values.extend(numbers)
        self.offsets.append(len(self.values))

    def rows(self) -> Rows:
        values, offsets = np.frombuffer(self.values, np.int32), np.frombuffer(self.offsets, np.int64)
        return Rows(Ragged(frozen(values), frozen(offsets)))


class _Strings:
    """Strings that grow, most of them in Arrow's memory."""

    def __init__(self) -> None:
        self.parts: list[pa.Array] = []
        self.last: list[str] = []

    def add(self, text: str) -> None:
        self.last.append(text)
        if len(self.last) == AT_ONCE:
            self._pack()

    def _pack(self) -> None:
        self.parts.append(text_column(self.last))
        self.last = []

    def texts(self) -> Texts:
        self._pack()
        return Texts(pa.chunked_array(self.parts))


def _collected(
    rows: Iterable[Reading], tokenizer: Tokenizer, name: str | None, advance: Advance
) -> SourceTexts:
    numbers = _Numbers({word: number for number, word in enumerate(SPECIAL)})
    number = numbers.__getitem__
    ids, texts = _Strings(), _Strings()
    written, masked = _Tokens(), _Tokens()
    digest = hashlib.sha256()
    count = 0
    for row in rows:
        ids.add(row.id)
        texts.add(row.text)
        written.add(map(number, row.written))
        masked.add(map(number, row.masked))
        for part in (row.id, row.text, *row.masked):  # with another table, other words are masked
            digest.update(f"{len(part)}:{part}".encode())
        count += 1
        if not count % AT_ONCE:
            advance(AT_ONCE)
    if not count:
        raise InputError("there is no text to trace to.", remedy="Give a store that has texts.")
    advance(count % AT_ONCE)
    return SourceTexts(
        ids.texts(),
        texts.texts(),
        list(numbers),
        written.rows(),
        masked.rows(),
        tokenizer,
        name or digest.hexdigest()[:12],
    )


def _column(texts: Sequence[str]) -> pa.Array:
    return texts.column if isinstance(texts, Texts) else text_column(texts)


def _spelled(words: Sequence[str], numbers: NDArray[np.int32]) -> tuple[str, ...]:
    return tuple(words[number] for number in cast("list[int]", numbers.tolist()))


def _stored(store: Store | StoredTexts, words: Sequence[str]) -> Iterator[Reading]:
    for id_, text, tokens in zip(store.ids, store.texts, store.tokens, strict=True):
        masked = OfferedNeighbor(id_, text, _spelled(words, tokens))
        yield Reading(id_, text, _written(masked, store.tokenizer), masked.tokens)


def _written(neighbor: OfferedNeighbor, tokenizer: Tokenizer) -> Sequence[str]:
    if MASK not in neighbor.tokens:
        return neighbor.tokens
    words = unmasked(neighbor, tokenizer)
    return (BEGIN, *(tokenize(neighbor.text, tokenizer) if words is None else words), END)


def _read(examples: Iterable[Example], tokenizer: Tokenizer) -> Iterator[Reading]:
    table: Table | None = None
    values: list[list[str]] = []
    for example in examples:
        if example.text is None:
            continue
        if example.table is not table:  # the texts of a table are often adjacent
            table, values = example.table, linearize(example.table, tokenizer).value_tokens()
        tokens = tokenize(example.text, tokenizer)
        yield Reading(example.id, example.text, (BEGIN, *tokens, END), (BEGIN, *mask(tokens, values), END))
