"""Work done ahead of time in a thread, so that the cores never wait for the next batch."""

from __future__ import annotations

import queue
import threading
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TypeVar

Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class _Failure:
    error: BaseException


class _End:
    pass


@contextmanager
def prefetch(items: Iterator[Item], depth: int = 2) -> Generator[Iterator[Item]]:
    """Yields the same items in the same order, up to `depth` of them made in advance."""
    ready: queue.Queue[Item | _Failure | _End] = queue.Queue(depth)
    closed = threading.Event()

    def put(item: Item | _Failure | _End) -> None:
        while not closed.is_set():
            try:
                ready.put(item, timeout=0.1)
                return
            except queue.Full:
                continue

    def fill() -> None:
        try:
            for item in items:
                put(item)
                if closed.is_set():
                    return
            put(_End())
        except BaseException as error:
            # Raised again where the item is asked for.
            put(_Failure(error))

    def drain() -> Iterator[Item]:
        while not isinstance(item := ready.get(), _End):
            if isinstance(item, _Failure):
                raise item.error
            yield item

    thread = threading.Thread(target=fill, name="textsplice-prefetch", daemon=True)
    thread.start()
    try:
        yield drain()
    finally:
        closed.set()
        thread.join()
