"""The mark beside each value of a table: whether the text says it, as far as the view knows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from textsplice.report.document import Cell, Document
from textsplice.slots.check import ERRORS, Slot
from textsplice.slots.lexicon import items_of


class Mark(NamedTuple):
    """A sign, and what it means."""

    sign: str
    told: str


SAID, NOT_YET = Mark("✓", "said"), Mark("·", "not said word for word")
UNCHECKED, NOT_ASKED = Mark("?", "unchecked: no wording is known"), Mark("·", "not looked for")


def marks(document: Document) -> list[Mark]:
    """One mark a cell: what the checker found, if one was asked; else whether all words of a value stand."""
    if document.slots is not None:
        return [checked(cell, document.slots) for cell in document.cells]
    text = [token.casefold() for token in document.generation.tokens]
    table = [token.casefold() for token in document.sources.table.tokens]
    unchecked = document.generation.unchecked

    def found(cell: Cell) -> Mark:
        if (cell.field, cell.value) in unchecked:  # the "no" of a text may be about something else
            return UNCHECKED
        return SAID if _stands_in(table[cell.start : cell.stop], text) else NOT_YET

    return list(map(found, document.cells))


def checked(cell: Cell, slots: Sequence[Slot]) -> Mark:
    """What was found of a value, of the parts of one that holds a list, or of a field without one ("")."""
    parts = (cell.value, *items_of([cell.value], "list"))
    found = [slot for slot in slots if slot.field == cell.field and slot.value in parts]
    for slot in found:
        if slot.status in ERRORS:
            told = {"missing": "missing", "repeated": "said twice"}
            return Mark("✗", told.get(slot.status, f"said to be {slot.said}"))
    if any(slot.status == "unchecked" for slot in found):
        return UNCHECKED
    return SAID if found else NOT_ASKED


def _stands_in(part: list[str], whole: list[str]) -> bool:
    return any(whole[at : at + len(part)] == part for at in range(len(whole) - len(part) + 1))
