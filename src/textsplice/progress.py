"""A progress bar with an ETA on standard error; in a file or a pipe, a line every so often."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass

from textsplice.visible import visible

LINE_SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class Bar:
    """What long work tells the person who waits for it."""

    advance: Callable[[int], None]
    describe: Callable[[str], None]


class _Lines:
    """Says where long work is, for a file or a pipe; short work says nothing."""

    def __init__(self, total: int | Callable[[], int] | None, label: str) -> None:
        self._total, self._label, self._said_of = total, label, label
        self._done = 0
        self._begun = self._said = time.monotonic()

    def describe(self, text: str) -> None:
        self._said_of = text

    def advance(self, count: int) -> None:
        self._done += count
        now = time.monotonic()
        if now - self._said >= LINE_SECONDS:
            self._said = now
            print(visible(self._line(now - self._begun)), file=sys.stderr, flush=True)

    def _line(self, elapsed: float) -> str:
        total = self._total = self._total() if callable(self._total) else self._total
        told = self._label if self._said_of == self._label else f"{self._label}: {self._said_of}"
        if not total:
            return f"{told} · {self._done:,} in {_clock(elapsed)}"
        left = elapsed * (total - self._done) / max(self._done, 1)
        return f"{told} · {self._done:,} of {total:,} in {_clock(elapsed)}, {_clock(left)} to go"


def _clock(seconds: float) -> str:
    minutes, rest = divmod(max(0, round(seconds)), 60)
    return f"{minutes}:{rest:02}"


@contextmanager
def bar(total: int | Callable[[], int] | None, label: str, *, quiet: bool = False) -> Generator[Bar]:
    """Shows `label`, a bar, the count, elapsed time and ETA until the block ends.

    A `total` that takes a while to count is a function, which is called only if somebody watches.
    """
    if quiet:
        yield Bar(lambda _n: None, lambda _text: None)
        return
    if not sys.stderr.isatty():
        lines = _Lines(total, label)
        yield Bar(lines.advance, lines.describe)
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
