"""The options that say where a command's bulk work is done, and doing it."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated, TypeVar

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


def chosen_engine(name: str | None, workers: int | None, parts: Path | None) -> Engine | None:
    """The engine that was asked for; None if the work is done here, one after the other."""
    from textsplice.engine import LOCAL, open_engine
    from textsplice.errors import ConfigError

    if name is None and workers is None:
        if parts is not None:
            raise ConfigError("there are no parts without --engine.", where="--parts", remedy="Leave it out.")
        return None
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


def write_in_parts(
    engine: Engine,
    work: Work,
    parts: Iterable[Sequence[object]],
    file: IO[str],
    out: Path | None,
    *,
    folder: Path | None,
    label: str,
    total: int,
    quiet: bool,
    write: Callable[[str], None] | None = None,
) -> Counter[str]:
    """Does the work and then writes all rows, in their order; returns what the parts counted.

    Until then nothing is written, so that after a crash the same command can be given again.
    """
    from textsplice.cli.bulk import rows_of
    from textsplice.search.rows import write_text

    counts: Counter[str] = Counter()
    with parts_beside(out, folder) as place:
        keys = engine.run(work, parts, place, label=label, total=total, quiet=quiet or out is None)
        if not quiet and place.made < len(set(keys)):
            say(f"{len(set(keys)) - place.made} of {len(set(keys))} parts were there already.", err=True)
        for result in place.results(keys):
            counted, rows = rows_of(result)
            counts.update(counted)
            if write is None:
                write_text(file, rows, out)
            else:
                for row in rows.splitlines():
                    write(row)
    return counts
