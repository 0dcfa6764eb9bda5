"""Doing without sources: a text that was retracted, a licence that ended."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from textsplice.errors import InputError
from textsplice.neighbors.store import Store
from textsplice.runs.run import Run
from textsplice.search.generation import Generation
from textsplice.search.rows import no_rows, read_generations
from textsplice.search.verify import verify
from textsplice.trace.uses import Use, uses


@dataclass(frozen=True, slots=True)
class Concerned:
    """A published text that uses a source, and where it stands."""

    file: Path
    where: str
    generation: Generation
    uses: list[Use]


def concerned(files: Iterable[Path], sources: Collection[str]) -> Iterator[Concerned]:
    """The texts of files of generations that use one of these sources (ids of the store)."""
    wanted = frozenset(sources)
    for file in files:
        rows = 0
        for where, generation in read_generations(file, exact=True):
            verify(generation, where=where)  # what was changed could hide a use
            rows += 1
            if found := uses(generation, wanted):
                yield Concerned(file, where, generation, found)
        if not rows:
            raise no_rows(file)


def require_known(store: Store, sources: Collection[str], where: str) -> None:
    """`InputError` if a store has no text of one of these ids, with the nearest it has."""
    if not sources:
        raise InputError("no source is named.", remedy="Give at least one id.")
    for name in sources:
        if name not in store.rows_of:
            nearest = get_close_matches(name, store.rows_of, n=3, cutoff=0.6)
            remedy = (
                f"Did you mean {' or '.join(map(repr, nearest))}?"
                if nearest
                else "Ids are those of its texts."
            )
            raise InputError(f"has no text with the id {name!r}.", where=where, remedy=remedy)


def require_possible(run: Run, sources: Collection[str]) -> None:
    """`InputError` if a run can't do without these texts."""
    require_known(run.store, sources, str(run.path))
    if not (_kept(run.store, sources) & run.store.offered).any():
        raise InputError("no text would be left to splice from.", where=str(run.path))


def run_without(run: Run, sources: Collection[str], folder: Path) -> Run:
    """Writes the run anew into a folder, without these texts in its store. Its weights stay as they are."""
    require_possible(run, sources)
    store = run.store.only(_kept(run.store, sources))
    return run.with_store(store, folder, without=sorted(sources))


def _kept(store: Store, sources: Collection[str]) -> NDArray[np.bool_]:
    gone = frozenset(sources)
    return np.array([name not in gone for name in store.ids], dtype=np.bool_)
