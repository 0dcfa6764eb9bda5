"""Opening a folder that has weights."""

from __future__ import annotations

from pathlib import Path

from textsplice.errors import InputError
from textsplice.runs.export import Export, ExportedRun, Source, source_path
from textsplice.runs.prepared import Prepared
from textsplice.runs.recognized import is_export
from textsplice.runs.run import Run


def open_run(folder: Path | str, store: Source | Path | str | None) -> Run | ExportedRun:
    """A run, or an export with the words and texts of `store`."""
    if not is_export(folder):
        if store is not None:
            named = store if isinstance(store, (str, Path)) else source_path(store)
            raise InputError(
                f"is no export, so it takes no texts from {named}.",
                where=str(folder),
                remedy="Leave the store out.",
            )
        return Run.open(folder)
    if store is None:
        raise InputError(
            "is an export, which has no texts to splice from.",
            where=str(folder),
            remedy="Name the prepared folder of its corpus: --store PREPARED; in Python, store=PREPARED.",
        )
    if isinstance(store, (str, Path)):
        store = Run.open(store) if Run.is_run(store) or is_export(store) else Prepared.open(store)
    return Export.open(folder).over(store)
