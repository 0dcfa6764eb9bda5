"""Work for the tests of engines: what it did is written into a folder, by whoever did it."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from textsplice.errors import InputError


def doubling(settings: Mapping[str, Any]) -> Callable[[list[int]], bytes]:
    """Doubles numbers. With `seen`, leaves a file for each part it begins."""
    seen = Path(settings["seen"]) if "seen" in settings else None
    if seen is not None:
        (seen / f"opened-{os.getpid()}").touch()

    def do(part: list[int]) -> bytes:
        if seen is not None:
            (seen / f"{part[0]}-{os.getpid()}-{time.monotonic_ns()}").touch()
        match settings.get("how"):
            case "refuses":
                raise InputError("is odd.", where=f"part {part[0]}", remedy="Even it.")
            case "fails":
                raise ZeroDivisionError("of no use")
            case "dies":
                os._exit(9)
            case "dies once" if seen is not None and part[0] == 3:
                try:
                    (seen / "died").touch(exist_ok=False)
                except FileExistsError:
                    pass
                else:
                    os._exit(9)
            case "is slow":
                time.sleep(0.3)
            case "is large":
                return os.urandom(settings["bytes"])
            case _:
                pass
        return repr([2 * number for number in part]).encode()

    return do
