"""The systems that an experiment compares, and their texts."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

from textsplice.config import Config, SearchConfig
from textsplice.corpus.table import Example, Table
from textsplice.errors import ConfigError, InputError
from textsplice.evaluate.outputs import Item, read_items
from textsplice.search.generation import FORMAT, Generation
from textsplice.search.rows import already_written, made_otherwise, open_rows, read_generations, write_row
from textsplice.search.rules import Rule

# What a row says about how it was made (`Splicer.made`); one system has one value of each.
MADE = ("run", "policy", "rules", "weights", "search")
NO_MARG = "-no-marg"
# How every row of ours begins (`Generation.to_dict`).
ROW_START = f'{{"format": "{FORMAT}"'.encode()


class Generates(Protocol):
    """What an experiment needs of a `Splicer`."""

    @property
    def config(self) -> Config:
        """All settings; those of the search are the defaults of `generate_many`."""
        ...

    def made(self, search: SearchConfig, rules: Sequence[Rule] = ()) -> Mapping[str, object]:
        """How texts are made with these settings; `MADE` has its keys."""
        ...

    def generate_many(
        self, tables: Iterable[Example], *, rules: Sequence[Rule] = (), search: SearchConfig | None = None
    ) -> Iterator[Generation]:
        """The texts of tables, in their order."""
        ...


# A file of generations, a splicer, or a function that opens one, so that only one is in memory at a time.
SystemSource = Path | Generates | Callable[[], Generates]


@dataclass(frozen=True, slots=True)
class System:
    """A system's texts in the order of the items, the file that holds them, and how they were made."""

    name: str
    file: Path
    generations: list[Generation]
    made: Mapping[str, object]

    def to_dict(self) -> dict[str, object]:
        """How the texts were made, as plain data."""
        return {"name": self.name, "rows": str(self.file), **self.made}


@dataclass(frozen=True, slots=True)
class Request:
    """What an experiment asks of its systems.

    `out` is the folder that keeps new texts. `values` change settings of the search (`search.beam=5`).
    `unsummed` names systems that also generate without summing over the occurrences of a word.
    """

    items: Sequence[Item]
    out: Path
    values: Sequence[str] = ()
    unsummed: Collection[str] = ()
    limit_option: str | None = "--limit"  # the option that asks for fewer tables, if there is one


def read_tables(references: str, split: str, limit: int | None = None) -> list[Item]:
    """The first items of a split of a corpus or of a prepared folder; all of them have tables."""
    items = read_items(references, split)[:limit]
    if any(item.table is None for item in items):
        raise InputError(
            "these references have ids and no tables.",
            where=references,
            remedy="Experiments need tables; `textsplice evaluate` scores texts by id.",
        )
    return items


def texts_of(systems: Mapping[str, SystemSource], request: Request) -> list[System]:
    """Each system's texts for all items. New ones are kept in `request.out` and are not generated again."""
    if twice := {f"{name}{NO_MARG}" for name in request.unsummed} & set(systems):
        raise ConfigError(f"two systems are called {twice.pop()!r}.", remedy="Give other names: NAME=PATH.")
    read = {name: _read(name, path, request) for name, path in systems.items() if isinstance(path, Path)}
    found: list[System] = []
    for name, source in systems.items():
        if isinstance(source, Path):
            found.append(read[name])
            continue
        generator = opened(source)
        search = generator.config.with_values(request.values).search
        found.append(generate_texts(name, generator, request, search))
        if name in request.unsummed:
            unsummed = replace(search, marginalize=False)
            found.append(generate_texts(f"{name}{NO_MARG}", generator, request, unsummed))
    return found


def opened(source: Generates | Callable[[], Generates]) -> Generates:
    """The splicer itself."""
    return source() if callable(source) else source


def generate_texts(
    name: str, generator: Generates, request: Request, search: SearchConfig, *, rules: Sequence[Rule] = ()
) -> System:
    """Generates what `out/NAME.jsonl` does not have yet, and adds it row by row."""
    file = request.out / f"{name}.jsonl"
    made = generator.made(search, rules)
    by_table = _rows_so_far(file, made)
    examples = [Example(item.ids[0], item.table, None) for item in request.items if item.table is not None]
    missing = [example for example in examples if example.table not in by_table]
    with open_rows(file) as rows:
        for generation in generator.generate_many(missing, rules=rules, search=search) if missing else ():
            write_row(rows, generation, file)
            by_table[generation.table] = generation
    return System(name, file, [by_table[example.table] for example in examples], made)


def _rows_so_far(file: Path, made: Mapping[str, object]) -> dict[Table, Generation]:
    """The rows of an earlier attempt, if it used the same settings; a row that was cut short is removed."""
    written = already_written(file)
    found: dict[Table, Generation] = {}
    for where, row in zip(written.places, written.rows, strict=True):
        if difference := made_otherwise(row, made):
            raise ConfigError(
                f"was made otherwise: {difference}.",
                where=where,
                remedy="Name another folder with --out, or delete the file.",
            )
        generation = Generation.from_dict(row, where)
        found[generation.table] = generation
    if not _is_ours(file, written.size):
        raise ConfigError(
            "already exists and is not a file of generations.",
            where=str(file),
            remedy="Move it away, or name another folder with --out.",
        )
    written.cut(file)
    return found


def _is_ours(file: Path, whole: int) -> bool:
    """Whether what follows the whole rows is nothing, or the beginning of a row."""
    if not file.exists():
        return True
    with file.open("rb") as stream:
        stream.seek(whole)
        rest = stream.read(len(ROW_START))
    return ROW_START.startswith(rest)


def _read(name: str, path: Path, request: Request) -> System:
    by_table: dict[Table, tuple[str, Generation]] = {}
    made: dict[str, object] = {}
    for where, generation in read_generations(path):
        first, before = by_table.setdefault(generation.table, (where, generation))
        if before.text != generation.text:
            raise InputError(
                f"there is another text for the same table at {first}.",
                where=where,
                remedy="Each table counts once: keep one text.",
            )
        row = generation.to_dict()
        made = made or {key: row.get(key) for key in MADE}
        if difference := made_otherwise(row, made):
            raise InputError(
                f"was made otherwise than the first row: {difference}.",
                where=where,
                remedy="A file is one system: give several files.",
            )
    present = [
        by_table[item.table][1] for item in request.items if item.table is not None and item.table in by_table
    ]
    if len(present) < len(request.items):
        fewer = f"Ask for fewer with {request.limit_option}, or g" if request.limit_option else "G"
        raise InputError(
            f"has texts for {len(present):,} of {len(request.items):,} tables.",
            where=str(path),
            remedy=f"{fewer}enerate the others.",
        )
    return System(name, path, present, made)
