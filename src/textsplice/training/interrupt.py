"""Ctrl-C and SIGTERM as a request to stop, which training follows between two steps."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from types import FrameType

LAUNCHER = "TEXTSPLICE_LAUNCHER"


@contextmanager
def stop_requested() -> Generator[Callable[[], bool]]:
    """Yields a function that says whether somebody asked to stop; a second request stops at once."""
    if threading.current_thread() is not threading.main_thread():
        yield lambda: False  # only the main thread may listen to signals
        return
    asked = threading.Event()
    before = {int(s): signal.getsignal(s) for s in (signal.SIGINT, signal.SIGTERM)}

    def ask(number: int, frame: FrameType | None) -> None:
        del frame
        asked.set()
        signal.signal(number, before[number])

    for number in before:
        signal.signal(number, ask)
    try:
        yield lambda: asked.is_set() or _orphaned()
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _orphaned() -> bool:
    """Whether the launcher of this worker is gone, killed without a chance to ask."""
    launcher = os.environ.get(LAUNCHER)
    return launcher is not None and os.getppid() != int(launcher)
