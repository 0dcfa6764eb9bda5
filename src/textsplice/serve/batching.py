"""One thread that does all searching: what is asked at the same time is searched in one batch.

Searching is a matter of one processor and one policy, so requests do not run side by side. What has arrived
while a batch was searched is the next batch; nobody waits for others to come.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Hashable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field

Run = Callable[[Sequence[object]], Sequence[object]]


@dataclass(eq=False)
class Job:
    """Some items, and the function that has a result for each; jobs with the same key may run as one."""

    key: Hashable
    items: Sequence[object]
    run: Run
    deadline: float = float("inf")
    future: Future[Sequence[object]] = field(default_factory=Future["Sequence[object]"])


class Batches:
    """Runs jobs one batch after another, in the order of their arrival."""

    def __init__(self, size: int, *, told: Callable[[int], object] | None = None) -> None:
        self.size = size
        self._told = told
        self._waiting: deque[Job] = deque()
        self._changed = threading.Condition()
        self._closed = False
        self._thread = threading.Thread(target=self._work, name="textsplice-search", daemon=True)
        self._thread.start()

    def submit(self, job: Job) -> Future[Sequence[object]]:
        """Puts a job at the end of the line; to cancel its future takes it out again."""
        with self._changed:
            if self._closed:
                raise RuntimeError("it was closed")
            self._waiting.append(job)
            self._changed.notify()
        return job.future

    def close(self) -> None:
        """Finishes what is waiting, and ends."""
        with self._changed:
            self._closed = True
            self._changed.notify()
        self._thread.join()

    def _work(self) -> None:
        while batch := self._next():
            self._run(batch)

    def _next(self) -> list[Job]:
        """The first job that somebody still waits for, with all others that can run together with it."""
        with self._changed:
            while True:
                self._drop_abandoned()
                if self._waiting:
                    return self._take()
                if self._closed:
                    return []
                self._changed.wait()

    def _drop_abandoned(self) -> None:
        now = time.monotonic()
        for job in [job for job in self._waiting if job.future.cancelled() or job.deadline < now]:
            self._waiting.remove(job)
            job.future.cancel()

    def _take(self) -> list[Job]:
        taken = [self._waiting.popleft()]
        room = self.size - len(taken[0].items)
        for job in list(self._waiting):
            if job.key == taken[0].key and len(job.items) <= room:
                room -= len(job.items)
                taken.append(job)
                self._waiting.remove(job)
        return [job for job in taken if job.future.set_running_or_notify_cancel()] or self._none()

    def _none(self) -> list[Job]:
        """All that were taken had been cancelled meanwhile."""
        return [Job(None, (), lambda _: ())]

    def _run(self, jobs: Sequence[Job]) -> None:
        items = [item for job in jobs for item in job.items]
        if items and self._told is not None:
            self._told(len(items))
        try:
            found = list(jobs[0].run(items))
        except BaseException as error:
            if len(jobs) == 1:
                jobs[0].future.set_exception(error)
                return
            for job in jobs:  # what one of them did wrong is not the others' fault
                self._run([job])
            return
        for job in jobs:
            job.future.set_result(found[: len(job.items)])
            found = found[len(job.items) :]
