"""Systems as experiments name them: runs, prepared folders (swap), files of generations."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textsplice.evaluate.outputs import Item, Matched
    from textsplice.search.generation import Generation
    from textsplice.search.rules import Rule
    from textsplice.splicer import Splicer


def read_references(references: str, split: str, limit: int | None) -> list[Item]:
    """The items of a split of a prepared folder or a corpus."""
    from textsplice.evaluate.experiments import split_items
    from textsplice.evaluate.outputs import read_items

    if (Path(references) / "manifest.json").is_file():
        from textsplice.prepare import Prepared

        return split_items(Prepared.open(references).split(split), limit)
    return read_items(references, split)[:limit]


def corpus_of(references: str) -> str:
    """The corpus that references are of: lexicons go by it."""
    if (Path(references) / "manifest.json").is_file():
        from textsplice.prepare import Prepared

        return Prepared.open(references).config.corpus.source
    return references


def named_paths(systems: Sequence[str]) -> dict[str, Path]:
    """`NAME=PATH`, or a path whose last part is the name."""
    from textsplice.errors import ConfigError

    named: dict[str, Path] = {}
    for system in systems:
        given, equals, path = system.partition("=")
        name = given if equals else Path(system).stem
        if name in named:
            raise ConfigError(f"two systems are called {name!r}.", remedy="Give names: NAME=PATH.")
        named[name] = Path(path if equals else system)
    return named


def open_system(path: Path) -> Splicer:
    """The splicer of a run's folder, or swap over a prepared one."""
    from textsplice.cli.generate import open_splicer

    return open_splicer(path, swap=False)


def generations_of(
    systems: Sequence[str], items: Sequence[Item], out: Path, *, no_marg: bool = False
) -> dict[str, list[Generation]]:
    """What each system says of each item, in the items' order; new texts are kept in `out`."""
    found: dict[str, list[Generation]] = {}
    for name, path in named_paths(systems).items():
        if path.suffix == ".jsonl":
            found[name] = _from_file(path, items)
            continue
        splicer = open_system(path)
        found[name] = generate_texts(splicer, items, keep=out / f"{name}.jsonl")
        if no_marg and splicer.kind == "lrt":
            keep = out / f"{name}-no-marg.jsonl"
            found[f"{name}-no-marg"] = generate_texts(splicer, items, keep=keep, marginalize=False)
    return found


def matched_outputs(
    systems: Sequence[str], items: Sequence[Item], out: Path, *, no_marg: bool = False
) -> dict[str, Matched]:
    """The same beside their references."""
    from textsplice.evaluate.experiments import matched_generations

    generated = generations_of(systems, items, out, no_marg=no_marg)
    return {name: matched_generations(generations, items) for name, generations in generated.items()}


def _from_file(path: Path, items: Sequence[Item]) -> list[Generation]:
    from textsplice.errors import InputError
    from textsplice.evaluate.outputs import table_key
    from textsplice.search.rows import read_generations

    by_table = {table_key(generation.table): generation for _, generation in read_generations(path)}
    found = [by_table.get(table_key(item.table)) for item in items if item.table is not None]
    there = [generation for generation in found if generation is not None]
    if len(there) < len(items):
        raise InputError(
            f"has texts for {len(there):,} of {len(items):,} tables.",
            where=str(path),
            remedy="Ask for fewer with --limit, or generate the others.",
        )
    return there


def generate_texts(
    splicer: Splicer,
    items: Sequence[Item],
    *,
    rules: Sequence[Rule] = (),
    keep: Path | None = None,
    marginalize: bool | None = None,
) -> list[Generation]:
    """The texts of items, with what made them."""
    from textsplice.corpus import Example
    from textsplice.files import atomic_write_text

    search = splicer.config.search
    if marginalize is not None:
        search = replace(search, marginalize=marginalize)
    examples = [Example(item.ids[0], item.table, None) for item in items if item.table is not None]
    generations = list(splicer.generate_many(examples, rules=rules, search=search))
    if keep is not None:
        from json import dumps

        rows = (dumps(generation.to_dict(), ensure_ascii=False) + "\n" for generation in generations)
        atomic_write_text(keep, "".join(rows))
    return generations


def with_neighbors(splicer: Splicer, k: int) -> Splicer:
    """The same splicer with another number of neighbours."""
    from textsplice.splicer import Splicer

    return Splicer(
        store=splicer.store,
        vocabulary=splicer.vocabulary,
        config=replace(splicer.config, neighbors=replace(splicer.config.neighbors, k=k)),
        policy=splicer.policy,
        run=splicer.run,
        folder=splicer.folder,
    )
