"""What bulk work is, and what a worker does of it.

Work is cut into parts. A part's *key* is a hash of all that decides its result: the part itself, the
settings, what is read, and the code. What comes back of a worker is bytes; nothing that was pickled is ever
read from a disk.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import traceback
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib import import_module
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any, Literal, NamedTuple, Protocol, cast

from textsplice.errors import StorageError, TextspliceError

MEMORY = 1 << 30  # bytes that a worker takes, unless the work says otherwise
RETRIES = 3  # how often a part is tried again whose worker ended without an answer
PASSED_ON = ("TEXTSPLICE_PLUGINS", "XDG_CACHE_HOME")  # variables that workers on other machines get too
SHARED_DISK = "Put it on a disk that all machines share, under the same path; or use --engine local."

Part = Sequence[object]  # plain JSON
Do = Callable[[Any], bytes]


class Place(Protocol):
    """Where results are kept."""

    def __contains__(self, key: object, /) -> bool:
        """Whether the result with this key is there, whole."""
        ...

    def put(self, key: str, result: bytes) -> None:
        """Keeps a result."""
        ...


@dataclass(frozen=True)
class Work:
    """What is done with each part.

    `function` is `module:name` of a function that is called with `settings` once in each process, and returns
    a function from a part to bytes. What it opens there, it opens once.
    """

    function: str
    settings: Mapping[str, object]
    made_from: Sequence[object] = ()  # what else decides the results: hashes and ids of what is read
    needs: Sequence[str] = ()  # files and folders that each machine must have
    memory: int = MEMORY  # bytes that a worker takes at most

    def key(self, part: Part) -> str:
        """The name of a part's result."""
        told = json.dumps([fingerprint(), self.function, self.settings, self.made_from, part], sort_keys=True)
        return hashlib.sha256(told.encode("utf-8", "surrogatepass")).hexdigest()

    def order(self) -> str:
        """What a worker is told, the same for all parts."""
        environment = {name: os.environ[name] for name in PASSED_ON if name in os.environ}
        settings, needs = dict(self.settings), list(self.needs)
        return json.dumps([fingerprint(), self.function, settings, needs, str(Path.cwd()), environment])


class Answer(NamedTuple):
    """What a worker sends back: a result, or what went wrong, as plain strings."""

    status: Literal["done", "refused", "memory", "failed"]
    result: bytes = b""
    told: tuple[str | None, ...] = ()


class Pool(ABC):
    """Workers that are at it."""

    @abstractmethod
    def submit(self, part: str) -> object:
        """Begins a part; what it returns stands for it."""

    @abstractmethod
    def next(self) -> list[tuple[object, Answer | None]]:
        """Waits for parts that are done, with their answers; None for one whose worker was lost."""


def answer(order: str, part: str) -> Answer:
    """Does a part: the one function that workers call."""
    try:
        return Answer("done", _opened(order)(json.loads(part)))
    except TextspliceError as error:
        return Answer("refused", told=(type(error).__name__, error.what, error.where, error.remedy))
    except MemoryError:
        return Answer("memory", told=(platform.node(),))
    except Exception as error:
        return Answer("failed", told=(type(error).__name__, str(error), traceback.format_exc()))


@lru_cache(maxsize=2)
def _opened(order: str) -> Do:
    """What does the parts of an order, in this process."""
    expected, function, settings, needs, folder, environment = json.loads(order)
    if (found := fingerprint()) != expected:
        raise StorageError(
            f"the machine {platform.node()} has textsplice {found}, this one has {expected}.",
            where="--engine",
            remedy="Install the same version on every machine of the cluster.",
        )
    for name, value in environment.items():
        os.environ.setdefault(name, value)
    with suppress(OSError):  # what is named in full is found all the same
        os.chdir(folder)
    for path in needs:
        if not Path(path).exists():
            raise StorageError(
                f"the machine {platform.node()} does not have it.",
                where=path,
                remedy=SHARED_DISK,
            )
    module, _, name = function.partition(":")
    return cast("Callable[[Any], Do]", getattr(import_module(module), name))(settings)


@cache
def fingerprint() -> str:
    """The version of the package, and a hash of its code."""
    from textsplice import __version__

    digest = hashlib.sha256()
    _add(digest.update, files("textsplice"))
    return f"{__version__} ({digest.hexdigest()[:12]})"


def _add(update: Callable[[bytes], None], folder: Traversable) -> None:
    for each in sorted(folder.iterdir(), key=lambda each: each.name):
        if each.is_dir():
            _add(update, each)
        elif each.name.endswith((".py", ".toml")):
            update(each.name.encode() + b"\0" + each.read_bytes())
