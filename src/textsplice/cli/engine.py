"""The options that say where a command's bulk work is done, and doing it."""

from __future__ import annotations

import json
import tempfile
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated, NamedTuple, TypeVar, cast

import typer

from textsplice.cli.output import say

if TYPE_CHECKING:
    from textsplice.engine import Engine
    from textsplice.runs.parts import Parts
    from textsplice.work import Work

Item = TypeVar("Item")

EngineName = Annotated[
    str | None,
    typer.Option(
        "--engine",
        metavar="local[:N]|ray[:ADDRESS]",
        help="Do the work in parts, on this machine's cores or on a Ray cluster (docs/scale.md). After a "
        "crash, the same command does only what is missing.",
    ),
]
Workers = Annotated[
    int | None,
    typer.Option(min=1, max=4096, help="Parts at the same time; alone, it means --engine local."),
]
PartsFolder = Annotated[
    Path | None,
    typer.Option("--parts", help="Where finished parts are kept meanwhile. Default: beside --out."),
]


def chosen_engine(
    name: str | None, workers: int | None, parts: Path | None, *, prints: bool = False
) -> Engine | None:
    """The engine that was asked for; None if the work is done here, one after the other.

    `prints`: rows go to standard output, where a cluster's own notices would come between them.
    """
    from textsplice.engine import LOCAL, open_engine
    from textsplice.errors import ConfigError

    if name is None and workers is None:
        if parts is not None:
            raise ConfigError("there are no parts without --engine.", where="--parts", remedy="Leave it out.")
        return None
    if prints and name is not None and name.startswith("ray"):
        raise ConfigError(
            "Ray writes notices of its own to standard output.",
            where="--engine",
            remedy="Name a file: --out.",
        )
    return open_engine(name or LOCAL, workers)


@contextmanager
def parts_beside(out: Path | None, folder: Path | None) -> Generator[Parts]:
    """Where finished parts are kept: in a folder beside the file that they are for, or a temporary one."""
    from textsplice.runs.parts import Parts

    if folder is None and out is None:
        with (
            tempfile.TemporaryDirectory(prefix="textsplice-") as temporary,
            Parts.opened(Path(temporary, "parts")) as parts,
        ):
            yield parts
        return
    with Parts.opened(folder or Path(f"{out}.parts"), keep=folder is not None) as parts:
        yield parts


def cut(items: Iterable[Item], size: int, told: Callable[[Item], object]) -> Iterator[list[object]]:
    """Items as parts of a size."""
    remaining = iter(items)
    while part := list(islice(remaining, size)):
        yield [told(item) for item in part]


class Rows(NamedTuple):
    """Where rows go, and meanwhile the parts; `write` writes a row that is to be something else than JSON."""

    file: IO[str]
    out: Path | None
    folder: Path | None
    write: Callable[[str], None] | None = None


def write_in_parts(
    engine: Engine,
    work: Work,
    parts: Iterable[Sequence[object]],
    into: Rows,
    *,
    label: str,
    total: int,
    quiet: bool,
) -> Counter[str]:
    """Does the work and then writes all rows, in their order; returns what the parts counted.

    Until then nothing is written, so that after a crash the same command can be given again.
    """
    from textsplice.search.rows import write_text

    counts: Counter[str] = Counter()
    with parts_beside(into.out, into.folder) as place:
        keys = engine.run(work, parts, place, label=label, total=total, quiet=quiet or into.out is None)
        if not quiet and place.made < len(set(keys)):
            say(f"{len(set(keys)) - place.made} of {len(set(keys))} parts were there already.", err=True)
        for result in place.results(keys):
            counted, rows = rows_of(result)
            counts.update(counted)
            if into.write is None:
                write_text(into.file, rows, into.out)
            else:
                for row in rows.split("\n")[:-1]:
                    into.write(row)
    return counts


def result_of(counts: Mapping[str, int], rows: Sequence[str]) -> bytes:
    """The result of a part: a line of JSON with counts, and then rows as the command writes them."""
    return (json.dumps(counts) + "\n" + "".join(rows)).encode("utf-8")


def rows_of(result: bytes) -> tuple[dict[str, int], str]:
    """What a part counted, and its rows."""
    counts, _, rows = result.decode("utf-8").partition("\n")
    return cast("dict[str, int]", json.loads(counts)), rows
