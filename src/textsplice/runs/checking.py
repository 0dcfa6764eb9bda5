"""What a run or a prepared folder checks texts with."""

from __future__ import annotations

from collections.abc import Mapping

from textsplice.runs.fitted import default_system
from textsplice.runs.prepared import Prepared
from textsplice.runs.run import LEXICON, Run
from textsplice.slots.wordings import FieldKind


def checker_of(folder: str) -> tuple[str | None, Mapping[str, FieldKind]]:
    """The file of its lexicon, if it has one, and the kinds of its fields; nothing of an export."""
    system = default_system(folder)
    kind = Run if Run.is_run(system) else Prepared if Prepared.is_prepared(system) else None
    if kind is None:
        return None, {}
    opened = kind.open(system)
    return (str(system / LEXICON) if opened.lexicon else None), opened.kinds
