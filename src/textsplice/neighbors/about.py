"""`store.json`: what a saved store says of itself."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import cast, get_args

from textsplice.arrow import damaged
from textsplice.errors import StorageError
from textsplice.parsing import read_object
from textsplice.slots.lexicon import KINDS
from textsplice.slots.wordings import FieldKind
from textsplice.text.tokens import Tokenizer

FORMAT = 1
ABOUT = "store.json"


def read_about(folder: Path) -> dict[str, object]:
    """The file, which says the format, the tokenizer and what is folded; `StorageError` if it does not."""
    remedy = "Run `textsplice prepare` again."
    about = read_object(folder / ABOUT, StorageError, remedy=remedy)
    match about:
        case {"format": int(version)} if version != FORMAT:
            raise StorageError(
                f"is a store of format {version!r}; this version reads {FORMAT}.",
                where=str(folder),
                remedy=remedy,
            )
        case {"format": int(), "tokenizer": str(tokenizer), "fold": list(fold)} if tokenizer in get_args(
            Tokenizer
        ) and all(isinstance(name, str) for name in cast("list[object]", fold)):
            kinds = about.get("kinds", {})
            if not isinstance(kinds, dict) or not set(cast("dict[str, str]", kinds).values()) <= set(KINDS):
                raise damaged(folder / ABOUT)
            return about
        case _:
            raise damaged(folder / ABOUT)


def read_approved(about: dict[str, object], folder: Path) -> tuple[int, ...]:
    """The rows of approved texts."""
    rows = about.get("approved", [])
    if not isinstance(rows, list) or not all(type(row) is int for row in cast("list[object]", rows)):
        raise damaged(folder / ABOUT)
    return tuple(cast("list[int]", rows))


def read_alike(about: dict[str, object], folder: Path) -> tuple[str, ...]:
    """The fields in which neighbors should agree."""
    fields = about.get("alike", [])
    if not isinstance(fields, list) or not all(isinstance(f, str) for f in cast("list[object]", fields)):
        raise damaged(folder / ABOUT)
    return tuple(cast("list[str]", fields))


def read_kinds(folder: Path) -> dict[str, FieldKind]:
    """The kinds of fields that a saved store knows, without the store."""
    return kinds_in(read_about(folder))


def kinds_in(about: Mapping[str, object]) -> dict[str, FieldKind]:
    """The kinds of fields."""
    return dict(cast("Mapping[str, FieldKind]", about.get("kinds", {})))
