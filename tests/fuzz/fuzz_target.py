"""What is fuzzed takes bytes, and either uses them or says in one printable line why not."""

from __future__ import annotations

import atexit
import shutil
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from mutations import damaged

from textsplice.errors import TextspliceError

DATA = Path(__file__).resolve().parent.parent / "data" / "version-0.1"
MEMORY = Path("/dev/shm")  # files of cases never need a disk


@dataclass(frozen=True)
class Target:
    """Something that reads bytes; `weight` is how many of 1,000 cases are its."""

    name: str
    seeds: Sequence[bytes]
    read: Callable[[bytes], object]
    weight: float


class FaultError(Exception):
    """What must not happen: neither used nor refused in one printable line."""


def try_case(target: Target, case: int) -> bool:
    """Whether the input was used; False if it was refused, and an error if it was neither."""
    content = damaged(target.seeds, case)
    try:
        target.read(content)
    except TextspliceError as error:
        sentence = error.sentence()
        if not sentence.isprintable() or len(sentence) > 5000:
            raise FaultError(f"not one printable line: {sentence[:200]!r}") from error
        return False
    return True


@cache
def folder() -> Path:
    """A place for the files of this process."""
    made = Path(tempfile.mkdtemp(prefix="textsplice-fuzz-", dir=MEMORY if MEMORY.is_dir() else None))
    atexit.register(shutil.rmtree, made, ignore_errors=True)
    return made


def written(name: str, content: bytes) -> Path:
    path = folder() / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path
