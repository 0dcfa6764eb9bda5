"""What lies where in a prepared folder."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

_NAMES = re.compile(
    r"config\.toml|words\.json|vocab\.json|lexicon\.toml|kinds\.json|manifest\.json|store(/.+)?"
    r"|(texts|encoded)/[^/]+\.parquet|(neighbors|derivations)/[^/]+-\d{4,}\.parquet"
)


TARGETS = "targets-"  # before the name of a split: the texts that are learned from in place of its own


def is_prepared_name(name: str) -> bool:
    """Whether `prepare` writes files of this name."""
    return _NAMES.fullmatch(name) is not None


@dataclass(frozen=True, slots=True)
class PreparedFiles:
    """The paths of a prepared folder."""

    folder: Path

    @property
    def config(self) -> Path:
        return self.folder / "config.toml"

    @property
    def words(self) -> Path:
        return self.folder / "words.json"

    @property
    def vocabulary(self) -> Path:
        return self.folder / "vocab.json"

    @property
    def lexicon(self) -> Path:
        return self.folder / "lexicon.toml"

    @property
    def kinds(self) -> Path:
        return self.folder / "kinds.json"

    @property
    def store(self) -> Path:
        return self.folder / "store"

    def texts(self, split: str) -> Path:
        return self.folder / "texts" / f"{split}.parquet"

    def tables(self, split: str) -> Path:
        return self.folder / "texts" / f"{split}-tables.parquet"

    def encoded_texts(self, split: str) -> Path:
        return self.folder / "encoded" / f"{split}.parquet"

    def encoded_tables(self, split: str) -> Path:
        return self.folder / "encoded" / f"{split}-tables.parquet"

    def neighbors(self, split: str, part: int) -> Path:
        return self.folder / "neighbors" / f"{split}-{part:04}.parquet"

    def derivations(self, split: str, part: int) -> Path:
        return self.folder / "derivations" / f"{split}-{part:04}.parquet"
