"""Words and their ids; which words have an embedding, and which may be generated."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from textsplice.errors import StorageError
from textsplice.files import atomic_write_text, text_hash
from textsplice.parsing import read_object
from textsplice.text.tokens import BEGIN, END, MASK

PAD_ID, UNKNOWN_ID, BEGIN_ID, END_ID, MASK_ID = range(5)
RESERVED = ("\x00", "\x15", BEGIN, END, MASK)  # pad and unknown never appear in a text
FORMAT = 1


@dataclass(frozen=True)
class Vocabulary:
    """`words[id]`; ids below `embedded` have their own embedding, the others share that of UNKNOWN."""

    words: tuple[str, ...]
    embedded: int
    generate: tuple[int, ...] = ()
    frequent: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "_ids", {word: number for number, word in enumerate(self.words)})

    @classmethod
    def build(cls, counts: Counter[str], *, embed_min_count: int, extra: Iterable[str] = ()) -> Vocabulary:
        """The words of `counts` by falling frequency, then alphabetically; then the `extra` words."""
        reserved = set(RESERVED)
        ranked = sorted(
            (word for word in counts if word not in reserved),
            key=lambda word: (-counts[word], word),
        )
        embedded = sum(counts[word] >= embed_min_count for word in ranked)
        others = sorted(set(extra) - counts.keys() - reserved)
        return cls((*RESERVED, *ranked, *others), len(RESERVED) + embedded)

    def id(self, word: str) -> int:
        """The id of a word; UNKNOWN_ID if the word is unknown."""
        return self._numbers.get(word, UNKNOWN_ID)

    def encode(self, tokens: Sequence[str]) -> list[int]:
        """The ids of tokens."""
        get = self._numbers.get
        return [get(token, UNKNOWN_ID) for token in tokens]

    def decode(self, ids: Iterable[int]) -> list[str]:
        """The tokens of ids."""
        return [self.words[number] for number in ids]

    def extended(self, words: Iterable[str]) -> Vocabulary:
        """This vocabulary with more words at the end, which can be copied but not generated."""
        new = list(dict.fromkeys(word for word in words if word not in self._numbers))
        if not new:
            return self
        return Vocabulary((*self.words, *new), self.embedded, self.generate, self.frequent)

    def without_unused(self, first: int, used: Collection[int]) -> tuple[Vocabulary, dict[int, int]]:
        """This vocabulary without words from `first` on that are not used, and the new ids of all others."""
        kept = [number for number in range(len(self.words)) if number < first or number in used]
        words = tuple(self.words[number] for number in kept)
        ids = {number: place for place, number in enumerate(kept)}
        return Vocabulary(words, self.embedded, self.generate, self.frequent), ids

    def __len__(self) -> int:
        return len(self.words)

    def words_hash(self) -> str:
        """A hash of the words in their order, and of how many are embedded: what weights depend on."""
        return text_hash(json.dumps([self.words, self.embedded]))

    def begins_with(self, words_hash: str) -> bool:
        """Whether its first words, those with an embedding among them, are the ones that have this hash."""
        parts = [json.dumps(word) for word in self.words]
        digest = hashlib.sha256(f"[[{', '.join(parts[: self.embedded])}".encode())
        for count in range(self.embedded, len(parts) + 1):
            ended = digest.copy()
            ended.update(f"], {self.embedded}]".encode())
            if ended.hexdigest() == words_hash:
                return True
            digest.update("".join(f", {part}" for part in parts[count : count + 1]).encode())
        return False

    def to_json(self) -> str:
        """What `load` reads."""
        data = {
            "format": FORMAT,
            "words": self.words,
            "embedded": self.embedded,
            "generate": self.generate,
            "frequent": self.frequent,
        }
        return json.dumps(data, ensure_ascii=False, separators=(",", ":"))

    def save(self, path: Path) -> None:
        """Writes a file that `load` reads."""
        atomic_write_text(path, self.to_json())

    @classmethod
    def load(cls, path: Path) -> Vocabulary:
        """Reads `vocab.json`."""
        remedy = "Run `textsplice prepare` again."
        data = read_object(path, StorageError, remedy=remedy)
        if data.get("format") != FORMAT:
            raise StorageError(
                f"is a vocabulary of format {data.get('format')!r}; this version reads {FORMAT}.",
                where=str(path),
                remedy=remedy,
            )
        words, embedded = data.get("words"), data.get("embedded")
        lists = [data.get("generate"), data.get("frequent")]
        if not (
            _is_list(words, str) and isinstance(embedded, int) and all(_is_list(ids, int) for ids in lists)
        ):
            raise _damaged(path)
        generate, frequent = cast("list[list[int]]", lists)
        found = cls(tuple(cast("list[str]", words)), embedded, tuple(generate), tuple(frequent))
        if not found._is_sound():
            raise _damaged(path)
        return found

    def _is_sound(self) -> bool:
        """Whether each word is there once, and every number is that of a word."""
        size = len(self.words)
        return (
            self.words[: len(RESERVED)] == RESERVED
            and len(self._numbers) == size
            and len(RESERVED) <= self.embedded <= size
            and all(0 <= number < size for number in (*self.generate, *self.frequent))
        )

    @property
    def _numbers(self) -> dict[str, int]:
        return cast("dict[str, int]", self.__dict__["_ids"])


def _is_list(values: object, kind: type) -> bool:
    if not isinstance(values, list):
        return False
    items = cast("list[object]", values)
    return all(isinstance(item, kind) and not isinstance(item, bool) for item in items)


def _damaged(path: Path) -> StorageError:
    return StorageError(
        "this file is truncated or damaged.", where=str(path), remedy="Run `textsplice prepare` again."
    )
