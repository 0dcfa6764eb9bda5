"""Where bulk work runs: on this machine's cores, or on a Ray cluster. The results are the same.

They are kept under the keys of their parts (`Place`), so whoever does the same work again, after a crash or
on other machines, does only what is missing.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import AbstractContextManager, contextmanager
from typing import Any, cast

from textsplice import errors
from textsplice.errors import ConfigError, InputError, StorageError, TextspliceError
from textsplice.progress import bar
from textsplice.ray_cluster import Tasks, connected, cores, import_ray
from textsplice.visible import visible_lines
from textsplice.work import RETRIES, Answer, Part, Place, Pool, Work, answer

A_WORKER = 2  # parts that are under way for each worker: one at work, one that waits
LOCAL, RAY = "local", "ray"
EXAMPLES = "Examples: local, local:4, ray, ray:auto, ray:HOST:PORT."


class Engine(ABC):
    """Does work part by part."""

    name: str

    @property
    @abstractmethod
    def workers(self) -> int:
        """How many parts can be done at the same time."""

    @abstractmethod
    def _pool(self, work: Work) -> AbstractContextManager[Pool]:
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

    def __init__(self, make: Callable[[], AbstractContextManager[Pool]]) -> None:
        self._make = make
        self._context: AbstractContextManager[Pool] | None = None
        self._pool: Pool | None = None

    @property
    def pool(self) -> Pool:
        if self._pool is None:
            self._context = self._make()
            self._pool = self._context.__enter__()
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
    """Worker processes. If one is killed, all are started again: the executor can't tell which it was."""

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
        processes: dict[int, Any] = getattr(self.executor, "_processes", None) or {}
        found = list(processes.values())
        self.executor.shutdown(wait=False, cancel_futures=True)
        for worker in found:
            worker.terminate()


@contextmanager
def _one_thread() -> Generator[None]:
    """Processes that are started here calculate with one thread each: there is one for each core."""
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
        self._ray = import_ray()

    @property
    def workers(self) -> int:
        found = cores(self._ray)
        return max(1, min(found, self._most or found))

    @contextmanager
    def _pool(self, work: Work) -> Generator[Pool]:
        with connected(self._ray, self.address, work.memory, self._most):
            yield Tasks(self._ray, work)


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


def _result(found: Answer) -> bytes:
    """The result; or the error, as if it had happened here."""
    if found.status == "done":
        return found.result
    if found.status == "memory":
        raise MemoryError
    if found.status == "refused":
        name, what, where, remedy = found.told
        kind = cast("type[TextspliceError]", getattr(errors, name or "", InputError))
        raise kind(what or "", where=where, remedy=remedy)
    name, what, trace = found.told
    print(visible_lines(trace or ""), file=sys.stderr, end="")
    raise RuntimeError(f"{name} in a worker: {what}")


def _require_tries(tries: int, engine: str) -> None:
    if tries < RETRIES:
        return
    raise StorageError(
        f"a part's worker ended {RETRIES + 1} times without an answer: too little memory?",
        where=f"--engine {engine}",
        remedy="Use fewer --workers. Finished parts are kept: the same command goes on.",
    )
