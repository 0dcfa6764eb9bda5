"""Telling an exhausted memory from any other failure."""

from __future__ import annotations

# What torch's allocators say on CPU (Linux, Windows) and on GPUs.
_SAYINGS = ("out of memory", "can't allocate memory", "not enough memory", "cannot allocate memory")


def is_out_of_memory(error: BaseException) -> bool:
    """Whether a smaller batch could have gone through."""
    if isinstance(error, MemoryError):
        return True
    return isinstance(error, RuntimeError) and any(s in str(error).lower() for s in _SAYINGS)
