"""The corpus that comes with textsplice: invented walks and texts that describe them."""

from __future__ import annotations

from pathlib import Path

from textsplice.corpus.jsonl import JsonlReader
from textsplice.corpus.reader import ReadOptions


def bundled_path(split: str) -> Path:
    """The JSONL file of a split of the bundled corpus."""
    return Path(__file__).with_name(f"{split}.jsonl")


class BundledReader(JsonlReader):
    """Reads a split of the bundled corpus; it has no path."""

    takes = ()

    def __init__(self, path: Path, split: str | None, options: ReadOptions) -> None:  # noqa: ARG002
        super().__init__(bundled_path(split or "train"), split, ReadOptions())
