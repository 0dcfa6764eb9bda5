"""A progress bar with an ETA on standard error; silent where nobody watches."""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass

from textsplice.visible import visible


@dataclass(frozen=True, slots=True)
class Bar:
    """What long work tells the person who waits for it."""

    advance: Callable[[int], None]
    describe: Callable[[str], None]


@contextmanager
def bar(total: int | Callable[[], int] | None, label: str, *, quiet: bool = False) -> Generator[Bar]:
    """Shows `label`, a bar, the count, elapsed time and ETA until the block ends.

    A `total` that takes a while to count is a function, which is called only if somebody watches.
    """
    if quiet or not sys.stderr.isatty():
        yield Bar(lambda _n: None, lambda _text: None)
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    with Progress(
        TextColumn("{task.description}", style="bold", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("ETA"),
        TimeRemainingColumn(),
        console=Console(stderr=True),
    ) as progress:
        task = progress.add_task(visible(label), total=total() if callable(total) else total)
        yield Bar(
            lambda n: progress.advance(task, n),
            lambda text: progress.update(task, description=visible(text)),
        )
