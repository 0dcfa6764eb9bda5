"""What workers of an engine do for commands: each function opens something once, and then does parts of it.

A result is a line of JSON with counts, and then rows as the command writes them.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from textsplice.cli.engine import result_of
from textsplice.cli.writing import tallies

if TYPE_CHECKING:
    from textsplice.config import SearchConfig
    from textsplice.corpus import Corpus, Example
    from textsplice.search.rules import Rule
    from textsplice.splicer import Splicer
    from textsplice.trace.reading import Draft
    from textsplice.trace.tracing import Tracer
    from textsplice.work import Work

Settings = Mapping[str, Any]
Do = Callable[[list[Any]], bytes]

TABLES = 128  # of a part: a multiple of the batch size, so that batches are the same with and without parts
TEXTS = 128
A_SPLICER = 3 << 30  # bytes: torch, the store, encodings of neighbors
A_TRACER = 1 << 30


# generate


class Asked(NamedTuple):
    """What is asked of the search."""

    search: SearchConfig
    rules: Sequence[Rule]
    selectors: bool


def generate_work(splicer: Splicer, run: Path, store: Path | None, swap: bool, asked: Asked) -> Work:
    """Writing texts as `splicer` does."""
    from textsplice.work import Work

    search, rules, selectors = asked
    settings: dict[str, object] = {
        "run": str(run.absolute()),
        "store": str(store.absolute()) if store else None,
        "swap": swap,
        "search": asdict(search),
        "rules": [rule.to_dict() for rule in rules],
        "selectors": selectors,
        "made": splicer.made(search, rules),
    }
    needs = [str(path.absolute()) for path in (run, store) if path]
    return Work("textsplice.cli.bulk:generating", settings, needs=needs, memory=A_SPLICER)


def tables_a_part(search: SearchConfig) -> int:
    """How many tables a part has."""
    return search.batch_size * max(1, TABLES // search.batch_size)


def told_example(example: Example) -> object:
    """An example in JSON."""
    return [example.id, example.table.to_record()]


def generating(settings: Settings) -> Do:
    """Writes texts."""
    from textsplice.cli.systems import open_splicer
    from textsplice.config import config_from_dict
    from textsplice.corpus import Example, Table
    from textsplice.search.rows import row_text
    from textsplice.search.rules.registered import rules_from_dicts

    store = settings["store"]
    run = Path(settings["run"])
    splicer = open_splicer(run, swap=settings["swap"], store=Path(store) if store else None)
    search = config_from_dict({"search": settings["search"]}, "search").search
    rules = rules_from_dicts(settings["rules"], "rules")
    _require_same(json.loads(json.dumps(splicer.made(search, rules))), settings["made"], run)

    def do(part: list[Any]) -> bytes:
        tables = [Example(name, Table.from_record(record), None) for name, record in part]
        found = list(splicer.generate_many(tables, rules=rules, search=search, progress=False))
        rows = [row_text(each.with_selectors() if settings["selectors"] else each) for each in found]
        return result_of(Counter(told for each in found for told in tallies(each)), rows)

    return do


# trace


def trace_work(
    tracer: Tracer, store: str, split: str | None, text_column: str | None, *, fast: bool, selectors: bool
) -> Work:
    """Tracing as `tracer` does."""
    from textsplice.work import Work

    settings = _tracer_settings(tracer, store, split, text_column)
    settings |= {"exact": not fast, "selectors": selectors}
    return Work("textsplice.cli.bulk:tracing", settings, needs=_paths(store), memory=_memory(tracer))


def told_draft(draft: Draft) -> object:
    """A draft in JSON."""
    return [draft.id, draft.text, draft.table and draft.table.to_record(), draft.where]


def tracing(settings: Settings) -> Do:
    """Traces texts."""
    from textsplice.cli.tracers import tallied
    from textsplice.search.rows import row_text

    tracer = _opened_tracer(settings)

    def do(part: list[Any]) -> bytes:
        counts: Counter[str] = Counter()
        rows: list[str] = []
        for draft in map(_draft, part):
            traced = tracer.trace(draft.text, draft.table, id=draft.id, exact=settings["exact"])
            rows.append(row_text(traced.with_selectors() if settings["selectors"] else traced))
            counts.update(tallied(traced))
        return result_of(counts, rows)

    return do


# gate


def gate_work(
    tracer: Tracer, store: str, split: str | None, text_column: str | None, asked: Mapping[str, object]
) -> Work:
    """Judging as `textsplice.cli.gate` does; `asked` is what its options ask for, in JSON."""
    from textsplice.work import Work

    settings = {**_tracer_settings(tracer, store, split, text_column), **asked}
    writer = cast("str | None", asked["fall_back"])
    made_from: list[object] = [_files(store, split, text_column)]
    if writer:
        from textsplice.cli.systems import open_system

        opened = open_system(Path(writer), Path(store))
        made_from.append(opened.made(opened.config.search))
    needs = [*_paths(store), *([writer] if writer else [])]
    return Work(
        "textsplice.cli.gate:judging", settings, made_from, needs, A_SPLICER if writer else _memory(tracer)
    )


# Both


def _draft(told: list[Any]) -> Draft:
    from textsplice.corpus import Table
    from textsplice.trace.reading import Draft

    name, text, table, where = told
    return Draft(name, text, None if table is None else Table.from_record(table), where)


def _tracer_settings(
    tracer: Tracer, store: str, split: str | None, text_column: str | None
) -> dict[str, object]:
    path = str(Path(store).absolute()) if Path(store).exists() else store
    return {"store": path, "split": split, "text_column": text_column, "name": tracer.sources.name}


def _opened_tracer(settings: Settings) -> Tracer:
    from textsplice.cli.tracers import open_tracer

    store = settings["store"]
    tracer = open_tracer(store, settings["split"], settings["text_column"], quiet=True)
    _require_same(tracer.sources.name, settings["name"], Path(store))
    return tracer


def drafts_and_tracer(settings: Settings) -> tuple[Tracer, Callable[[list[Any]], Draft]]:
    """What `gate` needs of the above."""
    return _opened_tracer(settings), _draft


def _require_same(found: object, expected: object, path: Path) -> None:
    """`StorageError` if a machine has something else under the same path."""
    import platform

    from textsplice.errors import StorageError
    from textsplice.work import SHARED_DISK

    if found != expected:
        raise StorageError(
            f"the machine {platform.node()} has something else there than this one.",
            where=str(path),
            remedy=SHARED_DISK,
        )


def _memory(tracer: Tracer) -> int:
    """What a tracer takes; most of it is mapped from disk, and all workers of a machine share it."""
    return A_TRACER + 64 * len(tracer.sources)


def _paths(store: str) -> list[str]:
    return [str(Path(store).absolute())] if Path(store).exists() else []


def _files(store: str, split: str | None, text_column: str | None) -> list[str]:
    """The hashes of the files of a corpus; runs and prepared folders are known by their names."""
    from textsplice.cli.tracers import read_texts
    from textsplice.files import file_hash
    from textsplice.runs import Prepared, Run

    if Run.is_run(store) or Prepared.is_prepared(store):
        return []
    corpus: Corpus = read_texts(store, split, text_column)
    return [file_hash(path) for path in corpus.files]
