"""Listening: one socket, one process, and an end that finishes what runs."""

from __future__ import annotations

import errno
import logging
import signal
import socket
import sys
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from ipaddress import ip_address
from pathlib import Path

import uvicorn
from fastapi import FastAPI

from textsplice.errors import ConfigError
from textsplice.parsing import read_text
from textsplice.serve.guard import json_lines

LEAST_TOKEN = 16
SWITCH = 0.0001  # seconds; Python's own is fifty times as long


def listen(host: str, port: int) -> socket.socket:
    """A socket at a port of a host; a sentence if that is not to be had."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        made = socket.socket(family, socket.SOCK_STREAM)
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.bind((host, port))
    except OSError as error:
        where = f"--port {port}" if error.errno in (errno.EADDRINUSE, errno.EACCES) else f"--host {host}"
        reasons = {
            errno.EADDRINUSE: "another program uses this port.",
            errno.EACCES: "only the system's administrator may use this port.",
            errno.EADDRNOTAVAIL: "is not an address of this machine.",
        }
        what = reasons.get(error.errno or 0, f"can't be used: {error.strerror or error}.")
        raise ConfigError(what, where=where, remedy="Name another one.") from error
    made.set_inheritable(True)
    return made


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach an address."""
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


def read_token(path: Path) -> str:
    """The token in a file: one line of at least 16 characters."""
    remedy = "Make one: python -c 'import secrets; print(secrets.token_urlsafe(32))' > FILE"
    token = read_text(path, ConfigError, remedy=remedy).strip()
    if len(token) < LEAST_TOKEN or not token.isascii() or not token.isprintable() or " " in token:
        what = f"is no token: it must be one word of at least {LEAST_TOKEN} ASCII characters."
        raise ConfigError(what, where=str(path), remedy=remedy)
    return token


class Server(uvicorn.Server):
    """Ends at a signal with what runs finished, and with exit code 0."""

    ready: Callable[[], None] | None = None

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Tells when it listens."""
        await super().startup(sockets)
        if self.ready is not None and self.started:
            self.ready()

    @contextmanager
    def capture_signals(self) -> Generator[None]:
        """A second signal ends it at once."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        numbers = (signal.SIGINT, signal.SIGTERM)
        before = {number: signal.signal(number, self.handle_exit) for number in numbers}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


def make_server(app: FastAPI, *, seconds: float) -> Server:
    """A server for an application; requests that run when it ends have `seconds` to finish."""
    config = uvicorn.Config(
        app,
        log_config=None,
        access_log=False,
        server_header=False,
        date_header=True,
        proxy_headers=False,
        ws="none",
        timeout_graceful_shutdown=int(seconds) + 1,
        timeout_keep_alive=30,
        h11_max_incomplete_event_size=64 << 10,
    )
    # What searches holds the interpreter; who is refused, or asks for health, should not wait for it.
    sys.setswitchinterval(SWITCH)
    logger = logging.getLogger("uvicorn")
    logger.handlers = [_Lines()]
    logger.setLevel(logging.WARNING)
    logger.propagate = False
    return Server(config)


class _Lines(logging.Handler):
    """What uvicorn has to say, as one JSON object a line."""

    def emit(self, record: logging.LogRecord) -> None:
        """Writes it without what it quotes."""
        json_lines({"event": "server", "level": record.levelname.lower(), "what": str(record.msg)})
