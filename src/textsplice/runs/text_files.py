"""The texts of a run or prepared folder without all the rest: what tracing needs."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from textsplice.files import file_hash
from textsplice.neighbors.store import StoredTexts
from textsplice.runs.integrity import require_words
from textsplice.text.vocabulary import Vocabulary


@dataclass(frozen=True, slots=True)
class TextFiles:
    """Files of a store and of its vocabulary that were found to be sound."""

    store: Path
    vocabulary: Path
    remedy: str

    def hashes(self) -> list[str]:
        """The hashes of the files that hold texts and words."""
        return [file_hash(path) for path in (*StoredTexts.files(self.store), self.vocabulary)]

    def read(self) -> tuple[StoredTexts, tuple[str, ...]]:
        """The texts, and the words that their numbers mean."""
        texts, words = StoredTexts.load(self.store), Vocabulary.load(self.vocabulary).words
        require_words(texts.tokens.values, len(words), self.store, self.remedy)
        return texts, words
