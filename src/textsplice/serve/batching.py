"""One thread that does all searching: what is asked at the same time is searched in one batch.

Searching is a matter of one processor and one policy, so requests do not run side by side. What has arrived
while a batch was searched is the next batch; nobody waits for others to come. A batch that nobody waits for
any more is not searched to its end.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Hashable, Sequence
from concurrent.futures import Future, InvalidStateError
from contextlib import suppress
from dataclasses import dataclass, field

from textsplice.stopping import StoppedError, stopping_if

Run = Callable[[Sequence[object]], Sequence[object]]
NEWEST = 0.2  # how much the last batch counts in the time that a batch is expected to take


@dataclass(eq=False)
class Job:
    """Some items, and the function that has a result for each; jobs with the same key may run as one."""

    key: Hashable
    items: Sequence[object]
    run: Run
    deadline: float = float("inf")
    future: Future[Sequence[object]] = field(default_factory=Future["Sequence[object]"])
    given_up: bool = False

    @property
    def unwanted(self) -> bool:
        """Whether nobody waits for it any more."""
        return self.given_up or self.deadline < time.monotonic()

    def stop(self) -> None:
        """Says to whoever may still look that there will be no result."""
        with suppress(InvalidStateError):  # it was cancelled
            self.future.set_exception(StoppedError())


class Batches:
    """Runs jobs one batch after another, in the order of their arrival.

    `told` is called with the size of each batch, `stopped` when one was not searched to its end.
    """

    def __init__(
        self,
        size: int,
        *,
        told: Callable[[int], object] | None = None,
        stopped: Callable[[], object] | None = None,
    ) -> None:
        self.size = size
        self.pace = 0.0  # seconds that an item has taken lately
        self._told, self._stopped = told, stopped
        self._running = 0
        self._waiting: deque[Job] = deque()
        self._changed = threading.Condition()
        self._closed = False
        self._thread = threading.Thread(target=self._work, name="textsplice-search", daemon=True)
        self._thread.start()

    def submit(self, job: Job) -> Future[Sequence[object]]:
        """Puts a job at the end of the line; once it is given up, it is taken out, or stopped."""
        with self._changed:
            if self._closed:
                raise RuntimeError("it was closed")
            self._waiting.append(job)
            self._changed.notify()
        return job.future

    def expected(self) -> float:
        """The seconds that a job would wait now, by the pace of the last batches."""
        with self._changed:
            return self.pace * (self._running + sum(len(job.items) for job in self._waiting))

    def close(self) -> None:
        """Finishes what is waiting, and ends."""
        with self._changed:
            self._closed = True
            self._changed.notify()
        self._thread.join()

    def _work(self) -> None:
        while batch := self._next():
            began = time.monotonic()
            self._run(batch)
            if self._running:
                pace = (time.monotonic() - began) / self._running
                self.pace = NEWEST * pace + (1 - NEWEST) * self.pace if self.pace else pace
            self._running = 0

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
        for job in [job for job in self._waiting if job.future.cancelled() or job.unwanted]:
            self._waiting.remove(job)
            job.stop()

    def _take(self) -> list[Job]:
        taken = [self._waiting.popleft()]
        room = self.size - len(taken[0].items)
        for job in list(self._waiting):
            if job.key == taken[0].key and len(job.items) <= room:
                room -= len(job.items)
                taken.append(job)
                self._waiting.remove(job)
        taken = [job for job in taken if job.future.set_running_or_notify_cancel()] or self._none()
        self._running = sum(len(job.items) for job in taken)
        return taken

    def _none(self) -> list[Job]:
        """All that were taken had been cancelled meanwhile."""
        return [Job(None, (), lambda _: ())]

    def _run(self, jobs: Sequence[Job]) -> None:
        items = [item for job in jobs for item in job.items]
        if items and self._told is not None:
            self._told(len(items))
        try:
            with stopping_if(lambda: all(job.unwanted for job in jobs)):
                found = list(jobs[0].run(items))
        except StoppedError:
            for job in jobs:
                job.stop()
            if self._stopped is not None:
                self._stopped()
            return
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
