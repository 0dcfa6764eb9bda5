"""Systems as experiments name them: runs, prepared folders (swap), files of generations."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from textsplice.config import SearchConfig
    from textsplice.evaluate.outputs import Item, TableKey
    from textsplice.search.generation import Generation
    from textsplice.search.rules import Rule
    from textsplice.splicer import Splicer

# What a row says of how it was made (`Splicer.made`); one system has one value of each.
MADE = ("run", "policy", "rules", "weights", "search")
# How the paper searches; what a run's own configuration says is for its best texts.
PAPER_SEARCH = (
    "search.beam=5",
    "search.choose=likelihood",
    "search.start_neighbors=1",
    "search.slots_first=false",
    "search.judge=''",
)


@dataclass(frozen=True, slots=True)
class System:
    """A system's texts, in the order of the items, the file that holds them, and what made them."""

    name: str
    file: Path
    generations: list[Generation]
    made: Mapping[str, object]

    def to_dict(self) -> dict[str, object]:
        """How the texts were made, as plain data."""
        return {"name": self.name, "rows": str(self.file), **self.made}


@dataclass(frozen=True, slots=True)
class Wanted:
    """What an experiment asks of its systems: which tables, where rows go, and how texts are searched for."""

    items: Sequence[Item]
    out: Path
    values: Sequence[str] = ()
    no_marg: bool = False
    fewer: str | None = "--limit"  # the option that asks for fewer tables, if there is one


def read_references(references: str, split: str, limit: int | None) -> list[Item]:
    """The items of a split of a prepared folder or a corpus."""
    from textsplice.errors import InputError
    from textsplice.evaluate.outputs import read_items

    items = read_items(references, split)[:limit]
    if any(item.table is None for item in items):
        raise InputError(
            "these references have ids and no tables.",
            where=references,
            remedy="Experiments need tables; `textsplice evaluate` scores texts by id.",
        )
    return items


def corpus_of(references: str) -> str:
    """The corpus that references are of: lexicons go by it."""
    if (Path(references) / "manifest.json").is_file():
        from textsplice.prepare import Prepared

        return Prepared.open(references).config.corpus.source
    return references


def named_paths(systems: Sequence[str], *, files: bool = False) -> dict[str, Path]:
    """`NAME=PATH`, or a path whose last part is the name; all of them folders or, if allowed, files."""
    from textsplice.errors import ConfigError

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
                "is a file, and new texts are needed.",
                where=str(path),
                remedy="Give the folder of the run that made it.",
            )
        if path.suffix != ".jsonl" and not any((path / n).is_file() for n in ("run.json", "manifest.json")):
            kinds = "a run's folder nor a prepared one"
            raise ConfigError(
                f"is neither {kinds}." if path.exists() else "there is no such file or folder.",
                where=str(path),
                remedy="Train a run with `textsplice train CONFIG`.",
            )
    return named


def open_system(path: Path) -> Splicer:
    """The splicer of a run's folder, or swap over a prepared one."""
    from textsplice.cli.generate import open_splicer

    return open_splicer(path, swap=False)


def check_values(values: Sequence[str]) -> list[str]:
    """`--set` of an experiment: settings of the search, and no others."""
    from textsplice.config import Config
    from textsplice.errors import ConfigError
    from textsplice.search.pipeline import check_settings

    check_settings(Config().with_values(values).search)
    for value in values:
        if not value.strip().startswith("search."):
            raise ConfigError(
                f"{value!r} is no setting of the search; a run has learned with the others.", where="--set"
            )
    return list(values)


def generated(systems: Sequence[str], wanted: Wanted) -> list[System]:
    """What each system says of each item; new texts are kept in `out`, and taken up again from there."""
    from textsplice.errors import ConfigError

    paths = named_paths(systems, files=True)
    runs = [path for path in paths.values() if path.suffix != ".jsonl"]
    if wanted.values and not runs:
        raise ConfigError("files of generations can't be searched anew.", where="--set")
    if wanted.no_marg and not any(map(_is_lrt, runs)):
        raise ConfigError("none of the systems is the folder of an LRT run.", where="--no-marg")
    if wanted.no_marg and (twice := {f"{name}-no-marg" for name in paths} & set(paths)):
        raise ConfigError(f"two systems are called {twice.pop()!r}.", remedy="Give other names: NAME=PATH.")
    files = {name: _from_file(name, path, wanted) for name, path in paths.items() if path not in runs}
    found: list[System] = []
    for name, path in paths.items():
        if name in files:
            found.append(files[name])
            continue
        splicer = open_system(path)
        search = search_of(splicer, wanted.values)
        found.append(generate_texts(name, splicer, wanted, search))
        if wanted.no_marg and splicer.kind.name == "lrt":
            unsummed = replace(search, marginalize=False)
            found.append(generate_texts(f"{name}-no-marg", splicer, wanted, unsummed))
    return found


def search_of(splicer: Splicer, values: Sequence[str]) -> SearchConfig:
    """The run's own settings of the search, changed by `--set`."""
    return splicer.config.with_values(values).search


def generate_texts(
    name: str, splicer: Splicer, wanted: Wanted, search: SearchConfig, *, rules: Sequence[Rule] = ()
) -> System:
    """Generates what `out/NAME.jsonl` does not hold yet, row by row, so that nothing is ever made twice."""
    from textsplice.corpus import Example
    from textsplice.evaluate.outputs import table_key
    from textsplice.search.rows import open_rows, write_row

    file = wanted.out / f"{name}.jsonl"
    made = splicer.made(search, rules)
    by_table = _taken_up(file, made)
    examples = [Example(item.ids[0], item.table, None) for item in wanted.items if item.table is not None]
    missing = [example for example in examples if table_key(example.table) not in by_table]
    with open_rows(file) as rows:
        for generation in splicer.generate_many(missing, rules=rules, search=search) if missing else ():
            write_row(rows, generation, file)
            by_table[table_key(generation.table)] = generation
    return System(name, file, [by_table[table_key(example.table)] for example in examples], made)


def _taken_up(file: Path, made: Mapping[str, object]) -> dict[TableKey, Generation]:
    """The rows of an earlier attempt, if it went about it in the same way; half a row is cut off."""
    from textsplice.errors import ConfigError
    from textsplice.evaluate.outputs import table_key
    from textsplice.search.generation import Generation
    from textsplice.search.rows import already_written, made_otherwise

    written = already_written(file)
    found: dict[TableKey, Generation] = {}
    for where, row in zip(written.places, written.rows, strict=True):
        if difference := made_otherwise(row, made):
            raise ConfigError(
                f"was made otherwise: {difference}.",
                where=where,
                remedy="Name another folder with --out, or delete the file.",
            )
        generation = Generation.from_dict(row, where)
        found[table_key(generation.table)] = generation
    written.cut(file)
    return found


def _from_file(name: str, path: Path, wanted: Wanted) -> System:
    from textsplice.errors import InputError
    from textsplice.evaluate.outputs import table_key
    from textsplice.search.rows import made_otherwise, read_generations

    by_table: dict[TableKey, tuple[str, Generation]] = {}
    made: dict[str, object] = {}
    for where, generation in read_generations(path):
        first, before = by_table.setdefault(table_key(generation.table), (where, generation))
        if before.text != generation.text:
            raise InputError(
                f"another text for the same table stands at {first}.",
                where=where,
                remedy="Each table is looked at once: keep one text.",
            )
        row = generation.to_dict()
        made = made or {key: row.get(key) for key in MADE}
        if difference := made_otherwise(row, made):
            raise InputError(
                f"was made otherwise than the first row: {difference}.",
                where=where,
                remedy="A file is one system: give several files.",
            )
    there = [
        by_table[key][1]
        for item in wanted.items
        if item.table is not None and (key := table_key(item.table)) in by_table
    ]
    if len(there) < len(wanted.items):
        fewer = (
            f"Ask for fewer with {wanted.fewer}, or generate the others."
            if wanted.fewer
            else "Generate the others."
        )
        raise InputError(
            f"has texts for {len(there):,} of {len(wanted.items):,} tables.", where=str(path), remedy=fewer
        )
    return System(name, path, there, made)


def _is_lrt(path: Path) -> bool:
    from textsplice.config import load_config

    return (path / "run.json").is_file() and load_config(path / "config.toml").policy.kind == "lrt"
