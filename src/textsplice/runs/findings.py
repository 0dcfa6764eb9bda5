"""What kinds of fields a prepared folder has found, as it keeps them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path
from typing import cast

from textsplice.arrow import damaged
from textsplice.errors import StorageError
from textsplice.files import atomic_write_text
from textsplice.parsing import read_object
from textsplice.slots.kinds import Finding
from textsplice.slots.lexicon import KINDS

FORMAT = "textsplice.kinds/1"


def write_findings(path: Path, findings: Sequence[Finding]) -> None:
    """Writes the file."""
    about = {"format": FORMAT, "fields": [each.to_dict() for each in findings]}
    atomic_write_text(path, json.dumps(about, indent=1, ensure_ascii=False) + "\n")


def read_findings(path: Path) -> list[Finding]:
    """Reads it; `StorageError` if it is not what was written."""
    about = read_object(path, StorageError, remedy="Run `textsplice prepare` again.")
    names = {field.name for field in fields(Finding)}
    rows = cast("list[object]", about.get("fields")) if isinstance(about.get("fields"), list) else []
    if about.get("format") != FORMAT or not all(_is_finding(row, names) for row in rows):
        raise damaged(path)
    return [Finding(**row) for row in cast("list[dict[str, object]]", rows)]  # pyright: ignore[reportArgumentType]


def _is_finding(row: object, names: set[str]) -> bool:
    if not isinstance(row, dict):
        return False
    data = cast("dict[str, object]", row)
    later = {"alike"}  # which older folders do not say
    return names - later <= data.keys() <= names and data["kind"] in KINDS and isinstance(data["field"], str)
