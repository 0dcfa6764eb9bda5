"""Who rates which text in which order, without knowing which system wrote it.

Every rater sees every chosen example once per system, in as many rounds as there are systems. In round p,
rater r sees example i by the system at position p of row (i + r) of a Latin square. So each system appears
equally often in each round, and texts of one table are far apart.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from textsplice.corpus.table import Table
from textsplice.errors import InputError
from textsplice.evaluate.outputs import Output

CRITERIA = ("naturalness", "faithfulness", "informativeness")
LOWEST, HIGHEST = 1, 5


@dataclass(frozen=True, slots=True)
class SheetItem:
    """One text to be rated; `item` is all that a rater's file says about its origin."""

    item: str
    rater: int
    example: int
    system: str
    table: dict[str, str | list[str]]
    text: str


def make_items(
    systems: Mapping[str, Sequence[Output]], *, examples: int, raters: int, seed: int
) -> list[list[SheetItem]]:
    """For each rater, the texts in the order in which they are shown."""
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
                # A letter first: spreadsheets change 0012345678 and 123e456789, which look like numbers.
                sheet.append(SheetItem(f"t{digest}", rater, example, system, table.to_record(), text))
        sheets.append(sheet)
    return sheets


def _choose(texts: Mapping[str, Mapping[Table, str]], count: int, seed: int) -> list[Table]:
    first, *others = texts.values()
    common = [table for table in first if all(table in other for other in others)]
    if len(common) < count:
        raise InputError(
            f"only {len(common):,} tables have an output of every system; {count:,} are needed.",
            remedy="Ask for fewer with --examples.",
        )
    # In their canonical form, so that nothing depends on the order of files or fields.
    forms = sorted(table.canonical for table in common)
    return [Table(fields) for fields in random.Random(seed).sample(forms, count)]


def _by_table(system: str, outputs: Sequence[Output]) -> dict[Table, str]:
    found: dict[Table, str] = {}
    for output in outputs:
        if output.table is None:
            raise InputError(f"an output of {system!r} has no table to show to raters.", where=output.where)
        found.setdefault(output.table, output.text)
    return found
