"""A real server on a free port of this machine, in a thread, and as a command in a process of its own."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import threading
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import httpx

from textsplice.serve.app import create_app
from textsplice.serve.approved import ApprovedFile
from textsplice.serve.batching import Job
from textsplice.serve.guard import Access
from textsplice.serve.limits import Limits
from textsplice.serve.server import Server, listen, make_server
from textsplice.serve.service import Named, Service
from textsplice.splicer import Splicer

Json = dict[str, object]
PATIENCE = 60  # seconds until a test gives up; no test takes so long


@dataclass
class Served:
    """A server that runs, and what it logged."""

    service: Service
    server: Server
    url: str
    log: list[Json]
    thread: threading.Thread
    client: httpx.Client = field(init=False)

    def __post_init__(self) -> None:
        self.client = httpx.Client(base_url=self.url, timeout=PATIENCE)

    @cached_property
    def document(self) -> Json:
        """What it says of itself."""
        return self.client.get("/openapi.json").json()

    def stop(self) -> None:
        """Ends it as a signal would."""
        self.server.should_exit = True
        self.thread.join(PATIENCE)
        assert not self.thread.is_alive()

    @contextmanager
    def busy(self) -> Generator[threading.Event]:
        """The thread that searches waits until the event is set, or until the end."""
        began, may_go_on = threading.Event(), threading.Event()

        def wait(_: object) -> tuple[None]:
            began.set()
            may_go_on.wait(PATIENCE)
            return (None,)

        self.service._batches.submit(Job(object(), (None,), wait))
        assert began.wait(PATIENCE)
        try:
            yield may_go_on
        finally:
            may_go_on.set()


@contextmanager
def serving(
    splicer: Splicer,
    folder: Path,
    *,
    access: Access | None = None,
    limits: Limits | None = None,
    run: str = "",
) -> Generator[Served]:
    """Serves a splicer; approved texts go into `folder`."""
    service = Service(
        splicer, Named("world", run), ApprovedFile(folder / "approved.jsonl"), limits or Limits()
    )
    log: list[Json] = []
    with listen("127.0.0.1", 0) as socket:
        server = make_server(create_app(service, access, log=log.append), seconds=PATIENCE)
        ready = threading.Event()
        server.ready = ready.set
        thread = threading.Thread(target=server.run, args=([socket],), daemon=True)
        thread.start()
        assert ready.wait(PATIENCE)
        served = Served(service, server, f"http://127.0.0.1:{socket.getsockname()[1]}", log, thread)
        try:
            yield served
        finally:
            served.client.close()
            served.stop()


def environment() -> dict[str, str]:
    """What a process of ours gets: our own code, one thread."""
    source = str(Path(__file__).resolve().parent.parent / "src")
    return {**os.environ, "PYTHONPATH": source, "OMP_NUM_THREADS": "1"}


@contextmanager
def command(*arguments: object) -> Generator[tuple[subprocess.Popen[str], str]]:
    """`textsplice serve …` on a free port, and its address."""
    process = subprocess.Popen(
        [sys.executable, "-m", "textsplice", "serve", *map(str, arguments), "--port", "0"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment(),
    )
    try:
        assert process.stdout is not None
        told = process.stdout.readline()
        found = re.match(r"(http://\S+)/ ", told)
        assert found, (told, process.stderr.read() if process.stderr else "")
        yield process, found[1]
    finally:
        process.kill()
        process.communicate()
