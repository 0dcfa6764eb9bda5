"""Folders that `textsplice fit` makes hold several systems; `fit.json` says which of them is the default."""

from __future__ import annotations

import json
from pathlib import Path

FIT = "fit.json"
FORMAT = "textsplice.fit/1"
# The systems that `fit` compares, and their folders beside the file.
FOLDERS = {"swap": "prepared", "drafts": "drafts", "full": "full"}


def default_system(folder: Path | str) -> Path:
    """The folder of the default system of a fitted folder; any other folder is itself."""
    try:
        data = json.loads((Path(folder) / FIT).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return Path(folder)
    match data:
        case {"format": str(form), "best": str(best)} if form == FORMAT and best in FOLDERS:
            return Path(folder) / FOLDERS[best]
        case _:
            return Path(folder)


def fitted(best: str, **more: object) -> str:
    """The content of the file."""
    return json.dumps({"format": FORMAT, "best": best, **more}, indent=1) + "\n"
