"""Rating sheets: who rates which text in which order, without knowing whose it is.

Every rater sees every chosen example once for each system, in as many rounds as there are systems. In round
p, rater r meets example i by the system in place p of row (i + r) of a Latin square, so each system stands
equally often in each round, and texts of one table stand far apart.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
import random
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from textsplice.corpus.table import Table
from textsplice.errors import InputError
from textsplice.evaluate.outputs import Output
from textsplice.evaluate.ratings.form import form
from textsplice.files import atomic_write_text

CRITERIA = ("naturalness", "faithfulness", "informativeness")
LOWEST, HIGHEST = 1, 5
KEY_FILE = "key.json"


@dataclass(frozen=True, slots=True)
class SheetItem:
    """One text to be rated; `item` is all that a rater's file says of where it comes from."""

    item: str
    rater: int
    example: int
    system: str
    table: dict[str, str | list[str]]
    text: str


def make_items(
    systems: Mapping[str, Sequence[Output]], *, examples: int, raters: int, seed: int
) -> list[list[SheetItem]]:
    """For each rater the texts in the order in which they are shown."""
    texts = {name: _by_table(name, outputs) for name, outputs in systems.items()}
    chosen = _choose(texts, examples, seed)
    names = list(systems)
    sheets: list[list[SheetItem]] = []
    for rater in range(raters):
        order = random.Random(f"{seed}/{rater}")
        sheet: list[SheetItem] = []
        for place in range(len(names)):
            shown = list(enumerate(chosen))
            order.shuffle(shown)
            for example, table in shown:
                system = names[(example + rater + place) % len(names)]
                digest = hashlib.sha256(f"{seed}/{rater}/{example}/{system}".encode()).hexdigest()[:10]
                text = texts[system][table]
                # A letter first: spreadsheets take 0012345678 and 123e456789 for numbers, and change them.
                sheet.append(SheetItem(f"t{digest}", rater, example, system, table.to_record(), text))
        sheets.append(sheet)
    return sheets


def write_sheets(folder: Path, sheets: Sequence[Sequence[SheetItem]], *, seed: int) -> list[Path]:
    """Writes `rater-01.html` and `.csv` for each rater, and the key, which raters must not see."""
    written: list[Path] = []
    for number, sheet in enumerate(sheets, start=1):
        name = f"rater-{number:02}"
        written += [folder / f"{name}.html", folder / f"{name}.csv"]
        atomic_write_text(folder / f"{name}.html", form(name, sheet, CRITERIA))
        atomic_write_text(folder / f"{name}.csv", _as_csv(sheet))
    key = {
        "format": "textsplice.ratings/1",
        "seed": seed,
        "criteria": CRITERIA,
        "items": [asdict(item) for sheet in sheets for item in sheet],
    }
    atomic_write_text(folder / KEY_FILE, json.dumps(key, indent=1, ensure_ascii=False) + "\n")
    return [*written, folder / KEY_FILE]


def table_lines(record: Mapping[str, str | list[str]]) -> list[str]:
    """A table for people, one line a field."""
    return [
        f"{name}: {value if isinstance(value, str) else ', '.join(value)}" for name, value in record.items()
    ]


def _choose(texts: Mapping[str, Mapping[Table, str]], count: int, seed: int) -> list[Table]:
    first, *others = texts.values()
    common = [table for table in first if all(table in other for other in others)]
    if len(common) < count:
        raise InputError(
            f"only {len(common):,} tables have an output of every system, {count:,} are wanted.",
            remedy="Ask for fewer with --examples.",
        )
    # In their canonical form, so that nothing depends on the order of files or fields.
    return [
        Table(fields) for fields in random.Random(seed).sample(sorted(t.canonical for t in common), count)
    ]


def _by_table(system: str, outputs: Sequence[Output]) -> dict[Table, str]:
    found: dict[Table, str] = {}
    for output in outputs:
        if output.table is None:
            raise InputError(f"an output of {system!r} has no table to show to raters.", where=output.where)
        found.setdefault(output.table, output.text)
    return found


def _as_csv(sheet: Sequence[SheetItem]) -> str:
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(["item", "table", "text", *CRITERIA])
    for item in sheet:
        writer.writerow([item.item, "; ".join(table_lines(item.table)), item.text, *("" for _ in CRITERIA)])
    return file.getvalue()
