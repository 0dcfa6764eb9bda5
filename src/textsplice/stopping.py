"""Work that nobody waits for any more: whoever starts it says when, and long loops ask."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from contextvars import ContextVar

_unwanted: ContextVar[Callable[[], bool] | None] = ContextVar("textsplice_unwanted", default=None)


class StoppedError(Exception):
    """Nobody waits for the result any more."""


@contextmanager
def stopping_if(unwanted: Callable[[], bool]) -> Generator[None]:
    """What runs inside ends with `StoppedError` at its next `stop_if_unwanted` once this is so."""
    before = _unwanted.set(unwanted)
    try:
        yield
    finally:
        _unwanted.reset(before)


def stop_if_unwanted() -> None:
    """Searches call this between two rounds, two tables or two texts; it costs next to nothing."""
    unwanted = _unwanted.get()
    if unwanted is not None and unwanted():
        raise StoppedError
