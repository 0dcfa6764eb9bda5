"""Where bulk work runs: on this machine's cores, or on a Ray cluster. The results are the same.

Work is cut into parts. A part's *key* is a hash of all that decides its result: the part itself, the settings,
what is read, and the code. Results are kept under their keys (`Place`), so whoever does the same work again,
after a crash or on other machines, does only what is missing. What comes back of a worker is bytes; nothing
that was pickled is ever read from a disk.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import signal
import sys
import threading
import traceback
from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib import import_module
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any, Literal, NamedTuple, Protocol, cast

from textsplice import errors
from textsplice.errors import ConfigError, InputError, MissingExtraError, StorageError, TextspliceError
from textsplice.progress import bar

RETRIES = 3  # how often a part is tried again whose worker ended without an answer
A_WORKER = 2  # parts that are under way for each worker: one at work, one that waits
MEMORY = 1 << 30  # bytes that a worker takes, unless the work says otherwise
PASSED_ON = ("TEXTSPLICE_PLUGINS", "XDG_CACHE_HOME")  # variables that workers on other machines get too
LOCAL, RAY = "local", "ray"
EXAMPLES = "Examples: local, local:4, ray, ray:auto, ray:HOST:PORT."

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


class Engine(ABC):
    """Does work part by part."""

    name: str

    @property
    @abstractmethod
    def workers(self) -> int:
        """How many parts can be done at the same time."""

    @abstractmethod
    def _pool(self, work: Work) -> Any:
        """A context in which there is a `Pool` for this work."""

    def run(
        self,
        work: Work,
        parts: Iterable[Part],
        place: Place,
        *,
        label: str = "working",
        total: int | None = None,
        size: Callable[[Any], int] = len,
        quiet: bool = False,
    ) -> list[str]:
        """Does what is missing and keeps it in `place`; returns the keys of all parts, in their order.

        Only a few parts are in memory at a time, whatever their number. `size` is what a part counts for in
        the bar, whose end is `total`.
        """
        keys: list[str] = []
        with bar(total, label, quiet=quiet) as progress, _Started(lambda: self._pool(work)) as started:
            under_way: dict[object, tuple[str, str, int, int]] = {}
            expected: set[str] = set()

            def collect() -> None:
                for handle, answer in started.pool.next():
                    key, text, count, tries = under_way.pop(handle)
                    if answer is None:
                        _require_tries(tries, self.name)
                        under_way[started.pool.submit(text)] = (key, text, count, tries + 1)
                        continue
                    place.put(key, _result(answer))
                    expected.discard(key)
                    progress.advance(count)

            for part in parts:
                key = work.key(part)
                keys.append(key)
                if key in expected or key in place:
                    progress.advance(size(part))
                    continue
                while len(under_way) >= A_WORKER * self.workers:
                    collect()
                text = json.dumps(part)
                under_way[started.pool.submit(text)] = (key, text, size(part), 0)
                expected.add(key)
            while under_way:
                collect()
        return keys


class _Started:
    """A pool that is started when it is first asked for: often there is nothing left to do."""

    def __init__(self, context: Callable[[], Any]) -> None:
        self._make = context
        self._context: Any = None
        self._pool: Pool | None = None

    @property
    def pool(self) -> Pool:
        if self._pool is None:
            self._context = self._make()
            self._pool = cast(Pool, self._context.__enter__())
        return self._pool

    def __enter__(self) -> _Started:
        return self

    def __exit__(self, *what: Any) -> None:
        if self._context is not None:
            self._context.__exit__(*what)


class LocalEngine(Engine):
    """Processes on this machine."""

    name = LOCAL

    def __init__(self, workers: int | None = None) -> None:
        self._workers = workers or os.cpu_count() or 1

    @property
    def workers(self) -> int:
        return self._workers

    @contextmanager
    def _pool(self, work: Work) -> Generator[Pool]:
        pool = _Processes(work, self._workers)
        try:
            yield pool
        except BaseException:
            pool.stop()
            raise
        pool.executor.shutdown()


class _Processes(Pool):
    """Worker processes. If one is killed, all are started again: the executor can't tell whose fault it was."""

    def __init__(self, work: Work, workers: int) -> None:
        self._order, self._workers = work.order(), workers
        self._waiting: dict[Future[Answer], None] = {}
        self.executor = self._executor()

    def _executor(self) -> ProcessPoolExecutor:
        from multiprocessing import get_context

        # Not by forking: a copy of a process with threads (torch's, Numba's) may stand still.
        with _one_thread():
            made = ProcessPoolExecutor(self._workers, get_context("spawn"), _begin)
            for _ in range(self._workers):
                made.submit(os.getpid)  # processes start now, with this environment
        return made

    def submit(self, part: str) -> object:
        try:
            future = self.executor.submit(answer, self._order, part)
        except BrokenProcessPool:
            self._again()
            future = self.executor.submit(answer, self._order, part)
        self._waiting[future] = None
        return future

    def next(self) -> list[tuple[object, Answer | None]]:
        done, _ = wait(self._waiting, return_when=FIRST_COMPLETED)
        found: list[tuple[object, Answer | None]] = []
        broken = False
        for future in [each for each in self._waiting if each in done]:
            del self._waiting[future]
            try:
                found.append((future, future.result()))
            except BrokenProcessPool:
                found.append((future, None))
                broken = True
        if broken:
            self._again()
        return found

    def _again(self) -> None:
        self.executor.shutdown(wait=False)
        self.executor = self._executor()

    def stop(self) -> None:
        """Ends the workers now, in the middle of their parts."""
        workers = list((cast("dict[int, Any] | None", getattr(self.executor, "_processes", None)) or {}).values())
        self.executor.shutdown(wait=False, cancel_futures=True)
        for worker in workers:
            worker.terminate()


@contextmanager
def _one_thread() -> Generator[None]:
    """Processes that are started here calculate with one thread each: there are as many as there are cores."""
    before = os.environ.get("OMP_NUM_THREADS")
    os.environ["OMP_NUM_THREADS"] = "1"
    try:
        yield
    finally:
        if before is None:
            del os.environ["OMP_NUM_THREADS"]
        else:
            os.environ["OMP_NUM_THREADS"] = before


def _begin() -> None:
    """In a new worker: it ends with the process that started it, and an interruption is that one's affair."""
    from multiprocessing import parent_process

    signal.signal(signal.SIGINT, signal.SIG_IGN)

    def watch() -> None:
        if (parent := parent_process()) is not None:
            parent.join()
            os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


class RayEngine(Engine):
    """A Ray cluster, or one that is started here for as long as the work takes.

    Every machine of it has this version of the package, and what is read under the same path.
    """

    name = RAY

    def __init__(self, address: str | None = None, workers: int | None = None) -> None:
        self.address = address
        self._most = workers
        self._ray: Any = _import_ray()

    @property
    def workers(self) -> int:
        cores = int(self._ray.cluster_resources().get("CPU", 0)) if self._ray.is_initialized() else 1
        return max(1, min(cores, self._most or cores))

    @contextmanager
    def _pool(self, work: Work) -> Generator[Pool]:
        from textsplice.ray_cluster import connected

        with connected(self._ray, self.address, work.memory, self._most):
            yield _Tasks(self._ray, work)


class _Tasks(Pool):
    """Ray's tasks. Ray itself tries again those whose worker or machine is lost, on others."""

    def __init__(self, ray: Any, work: Work) -> None:
        self._ray, self._order = ray, ray.put(work.order())
        self._remote = ray.remote(num_cpus=1, memory=work.memory, max_retries=RETRIES)(answer)
        self._waiting: dict[object, None] = {}

    def submit(self, part: str) -> object:
        task = self._remote.remote(self._order, part)
        self._waiting[task] = None
        return task

    def next(self) -> list[tuple[object, Answer | None]]:
        from textsplice.ray_cluster import told

        done, _ = self._ray.wait(list(self._waiting), num_returns=1)
        for task in done:
            del self._waiting[task]
        try:
            return [(task, Answer(*self._ray.get(task))) for task in done]
        except self._ray.exceptions.RayError as error:
            raise told(self._ray, error) from error


def _import_ray() -> Any:
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # nothing is sent to anybody
    try:
        return import_module("ray")
    except ImportError as error:
        raise MissingExtraError(
            "--engine ray needs Ray, which is not installed.",
            remedy="Install it with `pip install 'textsplice[ray]'`, or use --engine local.",
        ) from error


def open_engine(named: str, workers: int | None = None) -> Engine:
    """The engine of a name: `local`, `local:4`, `ray` (started here), `ray:ADDRESS`.

    `workers` is the number of processes, or the most parts that Ray does at the same time.
    """
    kind, colon, rest = named.partition(":")
    if kind == RAY and (rest or not colon):
        return RayEngine(rest or None, workers)
    if kind == LOCAL and (rest.isascii() and rest.isdigit() and 0 < int(rest) <= 4096 if colon else True):
        return LocalEngine(int(rest) if colon else workers)
    raise ConfigError(f"{named!r} is no engine.", where="--engine", remedy=EXAMPLES)


# In the worker


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
                remedy="Put it on a disk that all machines share, under the same path; or use --engine local.",
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


# In the process that asked


def _result(answer: Answer) -> bytes:
    """The result; or the error, as if it had happened here."""
    if answer.status == "done":
        return answer.result
    if answer.status == "memory":
        raise MemoryError
    if answer.status == "refused":
        name, what, where, remedy = answer.told
        kind = cast("type[TextspliceError]", getattr(errors, name or "", InputError))
        raise kind(what or "", where=where, remedy=remedy)
    name, what, trace = answer.told
    print(trace, file=sys.stderr, end="")
    raise RuntimeError(f"{name} in a worker: {what}")


def _require_tries(tries: int, engine: str) -> None:
    if tries < RETRIES:
        return
    raise StorageError(
        f"a part's worker ended {RETRIES + 1} times without an answer; it may need more memory than there is.",
        where=f"--engine {engine}",
        remedy="Use fewer --workers. Finished parts are kept: the same command goes on.",
    )
