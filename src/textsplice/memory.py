"""Memory: telling its exhaustion from any other failure, and giving back what is free."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable
from functools import cache
from typing import cast

# oneDNN, which multiplies torch's matrices, keeps what it compiled for each shape. Canvases have ever new
# ones: with its own limit of 1,024 that took 50 MB for every 100 tables. It reads this when it is first used.
os.environ.setdefault("ONEDNN_PRIMITIVE_CACHE_CAPACITY", "64")

# What torch's allocators say on CPU (Linux, Windows) and on GPUs.
_SAYINGS = ("out of memory", "can't allocate memory", "not enough memory", "cannot allocate memory")


def is_out_of_memory(error: BaseException) -> bool:
    """Whether a smaller batch could have gone through."""
    if isinstance(error, MemoryError):
        return True
    return isinstance(error, RuntimeError) and any(s in str(error).lower() for s in _SAYINGS)


def release_memory() -> None:
    """Gives the free pages between what is still used back to the system.

    Tensors of ever new sizes leave gaps in glibc's heap, which it keeps: 192 tables took 1 GB that was free.
    """
    if (trim := _trim()) is not None:
        trim(0)


@cache
def _trim() -> Callable[[int], int] | None:
    try:
        return cast("Callable[[int], int]", ctypes.CDLL(None).malloc_trim)
    except (OSError, AttributeError, TypeError):
        return None
