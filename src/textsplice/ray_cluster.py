"""Reaching a Ray cluster, and what can go wrong with it, as sentences."""

from __future__ import annotations

import logging
import os
import socket
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

from textsplice.errors import ConfigError, MissingExtraError, StorageError, TextspliceError
from textsplice.work import RETRIES, Answer, Pool, Work, answer

AUTO, CLIENT = "auto", "ray://"
PATIENCE = 10.0  # seconds until a machine that does not answer is given up
LONG_PATIENCE = 180.0  # and a program that answers, but is no cluster
PROBE = "import sys, ray; ray.init(sys.argv[1], log_to_driver=False)"
GO_ON = "Finished parts are kept: the same command goes on."


def import_ray() -> Any:
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # nothing is sent to anybody
    try:
        return import_module("ray")
    except ImportError as error:
        raise MissingExtraError(
            "--engine ray needs Ray, which is not installed.",
            remedy="Install it with `pip install 'textsplice[ray]'`, or use --engine local.",
        ) from error


def cores(ray: Any) -> int:
    """How many cores the cluster has now; machines may join and leave."""
    return int(ray.cluster_resources().get("CPU", 0)) if ray.is_initialized() else 1


class Tasks(Pool):
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
        done, _ = self._ray.wait(list(self._waiting), num_returns=1)
        for task in done:
            del self._waiting[task]
        try:
            return [(task, Answer(*self._ray.get(task))) for task in done]
        except self._ray.exceptions.RayError as error:
            raise told(self._ray, error) from error


@contextmanager
def connected(ray: Any, address: str | None, memory: int, workers: int | None) -> Generator[None]:
    """The cluster at an address, or one that is started here and ended after."""
    if ray.is_initialized():  # by the program that uses us: it stays as it is
        _require_room(ray, memory)
        yield
        return
    where = f"--engine ray:{address}" if address else "--engine ray"
    if address:
        _require_answer(address, where)
    options: dict[str, Any] = {"address": address} if address else {"address": "local", "num_cpus": workers}
    try:
        ray.init(**options, log_to_driver=False, logging_level=logging.ERROR, include_dashboard=None)
    except ConnectionError as error:
        raise _no_cluster(where) from error
    except (RuntimeError, ValueError, OSError) as error:
        first = (str(error).strip().splitlines() or [type(error).__name__])[0]
        remedy = "Every machine needs the same versions of Ray and Python." if "ersion" in first else None
        raise ConfigError(f"Ray refuses: {first}", where=where, remedy=remedy) from error
    try:
        _require_room(ray, memory)
        yield
    finally:
        ray.shutdown()


def _require_answer(address: str, where: str) -> None:
    """`ConfigError` unless a cluster answers there: `ray.init` itself would wait for minutes."""
    if address == AUTO:
        return
    host, colon, port = address.removeprefix(CLIENT).rpartition(":")
    if not (host and colon and port.isascii() and port.isdigit() and 0 < int(port) < 65536):
        raise ConfigError(
            f"{address!r} is no address of a cluster.",
            where=where,
            remedy="Write HOST:PORT, as `ray start --head` prints it, or auto for the one on this machine.",
        )
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=PATIENCE).close()
    except (OSError, UnicodeError) as error:
        raise _no_cluster(where) from error
    # Something listens there. Whether it is a cluster, another process finds out, which can be ended.
    try:
        asked = [sys.executable, "-c", PROBE, address]
        subprocess.run(asked, timeout=LONG_PATIENCE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    except subprocess.TimeoutExpired as error:
        raise _no_cluster(where) from error


def _no_cluster(where: str) -> ConfigError:
    return ConfigError(
        "no Ray cluster answers there.",
        where=where,
        remedy="Start one with `ray start --head`, look for a mistyped address, or use --engine ray alone, "
        "which starts one here.",
    )


def _require_room(ray: Any, memory: int) -> None:
    """`ConfigError` if no machine could ever take a part: it would wait for ever."""
    alive = [node["Resources"] for node in ray.nodes() if node["Alive"]]
    if not any(each.get("CPU", 0) >= 1 for each in alive):
        raise ConfigError("no machine of the cluster offers a core.", where="--engine ray")
    most = max(each.get("memory", 0) for each in alive if each.get("CPU", 0) >= 1)
    if most < memory:
        raise ConfigError(
            f"a worker needs {memory / 1e9:.1f} GB; the largest machine offers {most / 1e9:.1f}.",
            where="--engine ray",
            remedy="Add a larger machine (`ray start --memory BYTES` says what one offers).",
        )


def told(ray: Any, error: Exception) -> TextspliceError:
    """The sentence for what Ray could not do."""
    kinds = ray.exceptions
    cause = getattr(error, "cause", None)
    for each in (error, cause):
        if isinstance(each, (kinds.ObjectStoreFullError, kinds.OutOfDiskError)):
            return StorageError(
                "the object store of a machine is full, and so is the disk that it spills to.",
                where="--engine ray",
                remedy=f"Free space in its temporary folder (`ray start --temp-dir`). {GO_ON}",
            )
        if isinstance(each, kinds.OutOfMemoryError):
            return StorageError(
                "a machine of the cluster has too little memory.",
                where="--engine ray",
                remedy=f"Use fewer --workers. {GO_ON}",
            )
        if isinstance(each, ModuleNotFoundError) or "No module named 'textsplice" in str(each):
            return StorageError(
                "a machine of the cluster does not have textsplice.",
                where="--engine ray",
                remedy="Install the same version on every machine of the cluster.",
            )
    if isinstance(error, (kinds.WorkerCrashedError, kinds.NodeDiedError, kinds.ObjectLostError)):
        return StorageError(
            "workers of the cluster end again and again without an answer.",
            where="--engine ray",
            remedy=f"They may need more memory than there is: use fewer --workers. {GO_ON}",
        )
    first = (str(error).strip().splitlines() or [type(error).__name__])[0]
    return StorageError(f"Ray refuses: {first}", where="--engine ray", remedy=GO_ON)
