"""All texts of a store as numbers, as they were written and with their values masked."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from textsplice.corpus.table import Example
from textsplice.errors import InputError
from textsplice.neighbors.by_text import TextIndex
from textsplice.neighbors.store import Store
from textsplice.oracle.pricing import Pricing
from textsplice.oracle.sources import OfferedNeighbor
from textsplice.oracle.writing import unmasked
from textsplice.ragged import Ragged
from textsplice.text.linearize import linearize
from textsplice.text.masking import mask
from textsplice.text.tokens import BEGIN, END, MASK, Tokenizer, tokenize

SPECIAL = (BEGIN, END, MASK)
MASK_NUMBER = SPECIAL.index(MASK)


@dataclass(frozen=True)
class Rows:
    """One way to see the texts: tokens as numbers, an index of them, and what derives from them."""

    tokens: Ragged

    @cached_property
    def index(self) -> TextIndex:
        """Finds the rows that share most with a text."""
        return TextIndex.build(self.tokens, MASK_NUMBER)

    @cached_property
    def pricing(self) -> Pricing:
        """Derives a text from all rows."""
        return Pricing(self.tokens, MASK_NUMBER)


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
    def of_store(cls, store: Store, words: Sequence[str], name: str) -> SourceTexts:
        """Those of a run or prepared folder, whose store has them masked."""
        offered = (
            OfferedNeighbor(id_, text, _spelled(words, tokens))
            for id_, text, tokens in zip(store.ids, store.texts, store.tokens, strict=True)
        )
        rows = ((each.id, each.text, _written(each, store.tokenizer), each.tokens) for each in offered)
        return cls._of(rows, store.tokenizer, name)

    @classmethod
    def of_examples(cls, examples: Iterable[Example], tokenizer: Tokenizer) -> SourceTexts:
        """Those of a corpus that was not prepared."""
        return cls._of(_read(examples, tokenizer), tokenizer, None)

    @classmethod
    def _of(
        cls,
        rows: Iterable[tuple[str, str, Sequence[str], Sequence[str]]],
        tokenizer: Tokenizer,
        name: str | None,
    ) -> SourceTexts:
        numbers: dict[str, int] = {word: number for number, word in enumerate(SPECIAL)}
        ids: list[str] = []
        texts: list[str] = []
        written: list[NDArray[np.int32]] = []
        masked: list[NDArray[np.int32]] = []
        digest = hashlib.sha256()
        for id_, text, tokens, hidden in rows:
            ids.append(id_)
            texts.append(text)
            both = [[numbers.setdefault(token, len(numbers)) for token in each] for each in (tokens, hidden)]
            written.append(np.array(both[0], dtype=np.int32))
            masked.append(np.array(both[1], dtype=np.int32))
            digest.update(f"{len(id_)}:{id_}{len(text)}:{text}".encode())
        if not ids:
            raise InputError("there is no text to trace to.", remedy="Give a store that has texts.")
        return cls(
            ids,
            texts,
            list(numbers),
            Rows(Ragged.from_rows(written)),
            Rows(Ragged.from_rows(masked)),
            tokenizer,
            name or digest.hexdigest()[:12],
        )


def _spelled(words: Sequence[str], numbers: NDArray[np.int32]) -> tuple[str, ...]:
    return tuple(words[int(number)] for number in numbers)


def _written(neighbor: OfferedNeighbor, tokenizer: Tokenizer) -> Sequence[str]:
    if MASK not in neighbor.tokens:
        return neighbor.tokens
    words = unmasked(neighbor, tokenizer)
    return (BEGIN, *(tokenize(neighbor.text, tokenizer) if words is None else words), END)


def _read(
    examples: Iterable[Example], tokenizer: Tokenizer
) -> Iterable[tuple[str, str, Sequence[str], Sequence[str]]]:
    for example in examples:
        if example.text is None:
            continue
        tokens = tokenize(example.text, tokenizer)
        values = linearize(example.table, tokenizer).value_tokens()
        yield example.id, example.text, (BEGIN, *tokens, END), (BEGIN, *mask(tokens, values), END)
