"""Doing without sources: a text that was retracted, a licence that ended."""

from __future__ import annotations

import heapq
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from textsplice.errors import InputError
from textsplice.neighbors.store import Store
from textsplice.oracle.sources import Sources
from textsplice.prepare.without import prepare_without
from textsplice.ragged import Ragged
from textsplice.runs.lineage import made_from, trained_words
from textsplice.runs.prepared import Prepared
from textsplice.runs.run import Run
from textsplice.search.generation import Generation
from textsplice.search.rows import no_rows, read_generations
from textsplice.search.verify import verify
from textsplice.trace.uses import Use, uses

LONGEST_NAME = 200  # characters of an id that are compared with others


@dataclass(frozen=True, slots=True)
class Concerned:
    """A published text that uses a source, and where it stands."""

    file: Path
    where: str
    generation: Generation
    uses: list[Use]

    @property
    def order(self) -> Generation:
        """What it takes to make the text again, without the rest, which is large."""
        row = self.generation
        nothing = Sources(row.sources.table, (), {})
        return replace(
            row, tokens=(), sources=nothing, splices=(), provenance=(), alternatives=(), utf16=None
        )


def concerned(
    files: Iterable[Path], sources: Collection[str], texts: Mapping[str, str] | None = None
) -> Iterator[Concerned]:
    """The texts of files of generations that use one of these sources (ids of the store), row by row.

    With `texts`, which maps their texts to their ids, also under any other id that a row gives them.
    """
    wanted = frozenset(sources)
    for file in files:
        rows = 0
        for where, generation in read_generations(file, exact=True):
            verify(generation, where=where)  # what was changed could hide a use
            rows += 1
            if found := uses(generation, wanted, texts):
                yield Concerned(file, where, generation, found)
        if not rows:
            raise no_rows(file)


def require_known(known: Collection[str], sources: Collection[str], where: str) -> None:
    """`InputError` if one of these ids is not `known`, the ids of a store; it names the nearest."""
    if not sources:
        raise InputError("no source is named.", remedy="Give at least one id.")
    for name in sources:
        if name not in known:
            nearest = _nearest(name[:LONGEST_NAME], known)
            remedy = (
                f"Did you mean {' or '.join(map(repr, nearest))}?"
                if nearest
                else "Ids are those of its texts."
            )
            raise InputError(f"has no text with the id {name!r}.", where=where, remedy=remedy)


def require_possible(store: Store, sources: Collection[str], where: str) -> None:
    """`InputError` if a run or prepared folder can't do without these texts of its store."""
    require_known(store.rows_of, sources, where)
    if not (_kept(store, sources) & store.offered).any():
        raise InputError("no text would be left to splice from.", where=where)


def run_without(run: Run, sources: Collection[str], folder: Path) -> Run:
    """Writes the run anew into a folder, without these texts in its store. Its weights stay as they are."""
    require_possible(run.store, sources, str(run.path))
    gone = sorted(sources)
    store = run.store.only(_kept(run.store, sources))
    words = run.vocabulary
    before = made_from(run.about, run.store, words.words, gone)
    # Words that came with added texts go with them; those that the policy was trained with keep their ids.
    used = np.unique(store.tokens.values).tolist()
    words, ids = words.without_unused(trained_words(run.about, len(words)), frozenset(used))
    numbers = np.array([ids.get(number, -1) for number in range(len(run.vocabulary))], dtype=np.int32)
    store = replace(store, tokens=Ragged(numbers[store.tokens.values], store.tokens.offsets))
    return run.with_store(store, words, folder, before, gone)


def prepared_without(
    prepared: Prepared, sources: Collection[str], folder: Path, *, quiet: bool = True
) -> Prepared:
    """Writes into a folder what `prepare` would have made of the corpus without these training texts."""
    require_possible(prepared.store, sources, str(prepared.folder))
    return prepare_without(prepared, sources, folder, quiet=quiet)


def _kept(store: Store, sources: Collection[str]) -> NDArray[np.bool_]:
    gone = frozenset(sources)
    return np.array([name not in gone for name in store.ids], dtype=np.bool_)


def _nearest(name: str, known: Iterable[str]) -> list[str]:
    """The ids most like a name: compared closely are those that share most pairs of characters with it."""
    pairs = _pairs(name)
    alike = heapq.nlargest(200, known, key=lambda each: len(pairs & _pairs(each)))
    return get_close_matches(name, alike, n=3, cutoff=0.6)


def _pairs(name: str) -> set[str]:
    return {name[place : place + 2] for place in range(len(name) - 1)}
