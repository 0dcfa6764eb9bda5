"""The corpus that comes with textsplice: invented walks and texts that describe them."""

from __future__ import annotations

from pathlib import Path

from textsplice.errors import InputError

SPLITS = ("train", "dev", "test")


def bundled_path(split: str) -> Path:
    """The JSONL file of the bundled corpus' `split`."""
    if split not in SPLITS:
        raise InputError(
            f"the bundled corpus has no split {split!r}.",
            remedy="Choose train, dev or test.",
        )
    return Path(__file__).with_name(f"{split}.jsonl")
