"""Rating sheets: for each rater a form and a CSV file, and the key that says which system wrote what."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

from textsplice.errors import ConfigError, InputError
from textsplice.evaluate.ratings.form import form
from textsplice.evaluate.ratings.items import CRITERIA, SheetItem
from textsplice.evaluate.tables import csv_text
from textsplice.parsing import read_text
from textsplice.runs.outputs import OutputFolder

KEY_FILE = "key.json"


def write_sheets(out: Path, sheets: Sequence[Sequence[SheetItem]], *, seed: int) -> list[Path]:
    """Writes `rater-01.html` and `.csv` for each rater, and the key, which raters must not see.

    A sheet that a rater filled, and the key of other sheets, are never overwritten.
    """
    folder = OutputFolder(out)
    files: dict[str, str] = {}
    for number, sheet in enumerate(sheets, start=1):
        name = f"rater-{number:02}"
        files[f"{name}.html"] = form(name, sheet, CRITERIA)
        files[f"{name}.csv"] = _as_csv(sheet)
    key = _key(sheets, seed)
    if (out / KEY_FILE).exists() and read_text(out / KEY_FILE, InputError) != key:
        raise ConfigError(
            "is the key of other sheets, which raters may have.",
            where=str(out / KEY_FILE),
            remedy="Name another folder with --out.",
        )
    files[KEY_FILE] = key
    folder.require_free(*files)
    return [folder.write(name, content) for name, content in files.items()]


def table_lines(record: Mapping[str, str | list[str]]) -> list[str]:
    """A table for people, one line per field."""
    return [
        f"{name}: {value if isinstance(value, str) else ', '.join(value)}" for name, value in record.items()
    ]


def _key(sheets: Sequence[Sequence[SheetItem]], seed: int) -> str:
    key = {
        "format": "textsplice.ratings/1",
        "seed": seed,
        "criteria": CRITERIA,
        "items": [asdict(item) for sheet in sheets for item in sheet],
    }
    return json.dumps(key, indent=1, ensure_ascii=False) + "\n"


def _as_csv(sheet: Sequence[SheetItem]) -> str:
    rows = [
        [item.item, "; ".join(table_lines(item.table)), item.text, *("" for _ in CRITERIA)] for item in sheet
    ]
    return csv_text([["item", "table", "text", *CRITERIA], *rows])
