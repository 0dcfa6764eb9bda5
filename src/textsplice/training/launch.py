"""Starts the processes of a training on this machine, as `torchrun` would, and waits for them."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Sequence
from typing import cast

from textsplice import errors
from textsplice.config import Config
from textsplice.errors import TextspliceError, TrainingError
from textsplice.training.interrupt import LAUNCHER, stop_requested
from textsplice.training.loop import TrainingResult

POLL_SECONDS = 0.1
GRACE_SECONDS = 10.0
LOST = "Connection closed by peer"  # gloo's message when another worker has ended

Answer = dict[str, dict[str, object]]


def launch(
    config: Config, *, resume: bool, fresh: bool, quiet: bool, command: Sequence[str]
) -> TrainingResult:
    """Runs `config.training.processes` workers; an error in one of them is raised here."""
    order = json.dumps(
        {
            "config": config.to_dict(),
            "resume": resume,
            "fresh": fresh,
            "quiet": quiet,
            "command": list(command),
        }
    )
    world = config.training.processes
    port = _free_port()
    with stop_requested() as asked:
        workers = [_start(order, rank, world, port) for rank in range(world)]
        try:
            forwarded = False
            while any(worker.poll() is None for worker in workers):
                if asked() and not forwarded:
                    # They are not in the terminal's process group: we pass the request on, once.
                    forwarded = True
                    for worker in workers:
                        worker.terminate()
                if any(worker.poll() for worker in workers):
                    break
                time.sleep(POLL_SECONDS)
        finally:
            _end(workers)
        interrupted = asked()
    answers = [_answer(worker) for worker in workers]
    for answer in answers:
        if "error" in answer:
            raise _rebuilt(answer["error"])
    if "result" not in answers[0] and interrupted:
        raise TrainingError(
            "interrupted before the first step.",
            where=config.run_folder,
            remedy="Give the same command again.",
        )
    if "result" not in answers[0]:
        codes = ", ".join(str(worker.returncode) for worker in workers)
        raise TrainingError(
            f"a training process ended without a result (exit codes {codes}).",
            where=config.run_folder,
            remedy="See its messages above. Give the same command again, `textsplice train` with --resume.",
        )
    return TrainingResult(**answers[0]["result"])  # pyright: ignore[reportArgumentType]


def _start(order: str, rank: int, world: int, port: int) -> subprocess.Popen[str]:
    environment = {
        **os.environ,
        "RANK": str(rank),
        "LOCAL_RANK": str(rank),
        "WORLD_SIZE": str(world),
        "MASTER_ADDR": "127.0.0.1",
        "MASTER_PORT": str(port),
        LAUNCHER: str(os.getpid()),
    }
    worker = subprocess.Popen(
        [sys.executable, "-c", "from textsplice.training.worker import work; exit(work())"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=environment,
        text=True,
        process_group=0,
    )
    if worker.stdin is not None:
        worker.stdin.write(order)
        worker.stdin.close()
        worker.stdin = None
    return worker


def _end(workers: Sequence[subprocess.Popen[str]]) -> None:
    """Lets running workers finish their step, then ends them."""
    for worker in workers:
        if worker.poll() is None:
            worker.terminate()
    patience_ends = time.monotonic() + GRACE_SECONDS
    for worker in workers:
        try:
            worker.wait(max(patience_ends - time.monotonic(), 0.0))
        except subprocess.TimeoutExpired:
            worker.kill()
            worker.wait()


def _answer(worker: subprocess.Popen[str]) -> Answer:
    lines = worker.stdout.read().splitlines() if worker.stdout else []
    return cast(Answer, json.loads(lines[-1])) if lines else {}


def _rebuilt(error: dict[str, object]) -> TextspliceError:
    kind = cast("type[TextspliceError]", getattr(errors, str(error.pop("class"))))
    return kind(str(error.pop("what")), **cast("dict[str, str | None]", error))


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
