"""Systems as the command line names them: runs, prepared folders (swap), files of generations."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from textsplice.config import CorpusConfig, SearchConfig
    from textsplice.evaluate.experiments.systems import SystemSource
    from textsplice.policy.kind import Kind
    from textsplice.splicer import Splicer


def named_paths(systems: Sequence[str], *, files: bool = False) -> dict[str, Path]:
    """Paths by name, from `NAME=PATH` or a path whose last part is the name.

    All are runs or prepared folders or, with `files`, files of generations.
    """
    from textsplice.errors import ConfigError
    from textsplice.runs import Prepared, Run
    from textsplice.runs.recognized import is_export

    named: dict[str, Path] = {}
    for system in systems:
        given, equals, path = system.partition("=")
        name = given if equals else Path(system).stem
        if name in named:
            raise ConfigError(f"two systems are called {name!r}.", remedy="Give names: NAME=PATH.")
        named[name] = Path(path if equals else system)
    for path in named.values():
        if path.suffix == ".jsonl" and not files:
            raise ConfigError(
                "is a file, but new texts are needed.",
                where=str(path),
                remedy="Give the folder of the run that made it.",
            )
        if path.suffix != ".jsonl" and not (
            Run.is_run(path) or Prepared.is_prepared(path) or is_export(path)
        ):
            raise ConfigError(
                "is neither a run nor a prepared folder." if path.exists() else "does not exist.",
                where=str(path),
                remedy="Train a run with `textsplice train CONFIG`.",
            )
    return named


def sources(
    paths: Mapping[str, Path], *, values: Sequence[str] = (), store: Path | None = None
) -> dict[str, SystemSource]:
    """What experiments take: files of generations as they are, and functions that open runs."""
    from textsplice.errors import ConfigError

    if values and all(path.suffix == ".jsonl" for path in paths.values()):
        raise ConfigError("files of generations can't be searched again.", where="--set")
    return {
        name: path if path.suffix == ".jsonl" else partial(open_system, path, store)
        for name, path in paths.items()
    }


def unsummed(paths: Mapping[str, Path], *, no_marg: bool) -> list[str]:
    """The systems that `--no-marg` adds a second version of."""
    from textsplice.errors import ConfigError

    found = [name for name, path in paths.items() if no_marg and sums_over_occurrences(path)]
    if no_marg and not found:
        raise ConfigError("none of the systems is an LRT run.", where="--no-marg")
    return found


def open_splicer(folder: Path, *, swap: bool = False, store: Path | None = None) -> Splicer:
    """The splicer of a run, or of an export with the texts of `store`; for a prepared folder, swap."""
    from textsplice.runs import Prepared
    from textsplice.splicer import Splicer

    if swap or Prepared.is_prepared(folder):
        return Splicer.untrained(folder, store=store)
    return Splicer.load(folder, store=store)


def open_system(folder: Path, store: Path | None) -> Splicer:
    """The splicer of one of several systems; those that are exports take their texts from `store`."""
    from textsplice.runs.recognized import is_export

    return open_splicer(folder, store=store if is_export(folder) else None)


def corpus_settings(folder: str) -> CorpusConfig:
    """How a run, an export or a prepared folder reads its corpus."""
    from textsplice.errors import ConfigError
    from textsplice.runs import Export, Prepared, Run
    from textsplice.runs.recognized import is_export

    for is_it, kind in ((Run.is_run, Run), (is_export, Export), (Prepared.is_prepared, Prepared)):
        if is_it(folder):
            return kind.open(folder).config.corpus
    raise ConfigError(
        "is neither a run nor a prepared folder.",
        where=folder,
        remedy="Name a folder that `textsplice prepare` or `textsplice train` made.",
    )


def check_folder(folder: Path) -> int:
    """Reads every file of a run, export or prepared folder and compares its hash; how many there are."""
    from textsplice.errors import StorageError
    from textsplice.runs import Export, Prepared, Run
    from textsplice.runs.recognized import is_export

    kind = Run if Run.is_run(folder) else Export if is_export(folder) else Prepared
    count = kind.open(folder).check()
    if not count:
        raise StorageError(
            "has no hashes: a version of textsplice made it that did not write any.", where=str(folder)
        )
    return count


def by_neighbors(paths: Mapping[str, Path], store: Path | None) -> dict[str, Callable[[int], Splicer]]:
    """The splicers of runs as functions of the number of neighbors; one run is in memory at a time."""
    last: dict[Path, Splicer] = {}

    def offered(path: Path, k: int) -> Splicer:
        if path not in last:
            last.clear()
            last[path] = open_system(path, store)
        return last[path].with_neighbors(k)

    return {name: partial(offered, path) for name, path in paths.items()}


def check_values(values: Sequence[str]) -> list[str]:
    """Checks `--set`: only settings of the search can be changed."""
    from textsplice.config import Config
    from textsplice.errors import ConfigError
    from textsplice.search.pipeline import check_settings

    check_settings(Config().with_values(values).search)
    for value in values:
        if not value.strip().startswith("search."):
            raise ConfigError(
                f"{value!r} is not a setting of the search; the others are fixed once a run is trained.",
                where="--set",
            )
    return list(values)


def search_of(splicer: Splicer, values: Sequence[str]) -> SearchConfig:
    """The run's own search settings, changed by `--set`."""
    return splicer.config.with_values(values).search


def sums_over_occurrences(path: Path) -> bool:
    """Whether a system chooses a word by all its occurrences in the table and the neighbors."""
    kind = _kind(path)
    return kind.sums_occurrences and kind.uses_neighbors


def uses_neighbors(path: Path) -> bool:
    """Whether a system's texts depend on the neighbors it is offered."""
    return _kind(path).uses_neighbors


def _kind(path: Path) -> Kind:
    from textsplice.policy.kind import policy_kind
    from textsplice.runs import Export, Run
    from textsplice.runs.recognized import is_export
    from textsplice.search.swap import SWAP

    if is_export(path):
        return policy_kind(Export.open(path).config.policy.kind)
    return policy_kind(Run.open(path).config.policy.kind) if Run.is_run(path) else SWAP
