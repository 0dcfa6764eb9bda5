"""The error for a missing file: what is nearby, and what to do."""

from __future__ import annotations

from difflib import get_close_matches
from pathlib import Path

from textsplice.errors import CorpusError


def missing_file(path: Path, *, remedy: str | None = None) -> CorpusError:
    """An error that names the most similar file in the folder, or the nearest folder above that exists."""
    return CorpusError(f"there is no such file or folder; {_nearby(path)}", where=str(path), remedy=remedy)


def _nearby(path: Path) -> str:
    folder = path.parent
    if not folder.is_dir():
        above = next(parent for parent in folder.absolute().parents if parent.is_dir())
        return f"nor is there {folder}, only {above}."
    names = sorted(entry.name for entry in folder.iterdir() if not entry.name.startswith("."))
    if not names:
        return f"{folder} is empty."
    nearest = get_close_matches(path.name, names, n=3)
    if nearest:
        return f"did you mean {' or '.join(nearest)}?"
    more = f" and {len(names) - 5} more" if len(names) > 5 else ""
    return f"{folder} has {', '.join(names[:5])}{more}."
