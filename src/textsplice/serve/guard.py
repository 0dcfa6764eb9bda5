"""What stands before the application: who may ask, how much, and what is told of it.

It is outside of all routes, so nothing is parsed of a request that is refused here.
"""

from __future__ import annotations

import asyncio
import hmac
import json
import sys
import time
import traceback
from collections.abc import Awaitable, Callable, Collection, Iterable, MutableMapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast
from urllib.parse import urlsplit

from starlette.exceptions import HTTPException

from textsplice.report.page import player_hashes
from textsplice.serve.metrics import Metrics
from textsplice.serve.problems import Problem

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Message, Receive, Send], Awaitable[None]]

LOOPBACK = ("127.0.0.1", "localhost", "::1")
MOST_REQUESTS = 1000  # at once, refused ones among them
LINGER, LINGER_BODIES = 2.0, 16  # seconds, and times the largest body
OPEN = ("/", "/v1/health")  # and what begins with /page/: they hold nothing of anybody's
_NOTHING = "default-src 'none'; frame-ancestors 'none'"
_HEADERS = (
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"x-frame-options", b"DENY"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
)


def page_policy() -> str:
    """Nothing but our own files; the player's style and script, which a frame of the page shows, by hash."""
    style, script = player_hashes()
    return (
        f"default-src 'none'; script-src 'self' '{script}'; style-src 'self' '{style}'; connect-src 'self'; "
        "img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )


@dataclass(frozen=True)
class Access:
    """Who may ask: with a token, whoever has it; else only programs and pages of this machine."""

    token: str | None = None
    origins: tuple[str, ...] = ()

    def refusal(self, path: str, headers: dict[str, str]) -> Problem | None:
        """Why a request is refused; None if it is not."""
        host, origin = headers.get("host", ""), headers.get("origin")
        if self.token is None and _name(host) not in LOOPBACK:
            # A page elsewhere could give its own name the address of this machine.
            return Problem(403, f"{host!r} is not this machine.", code="host", remedy="Use 127.0.0.1.")
        if origin is not None and origin not in self.origins and _place_of(origin) != host:
            remedy = "The server must be started with --allow-origin for it."
            return Problem(403, f"pages of {origin!r} may not ask.", code="origin", remedy=remedy)
        if self.token is None or path in OPEN or path.startswith("/page/"):
            return None
        kind, _, given = headers.get("authorization", "").partition(" ")
        if kind.lower() == "bearer" and hmac.compare_digest(given.strip().encode(), self.token.encode()):
            return None
        return Problem(
            401,
            "there is no token, or it is not the right one.",
            remedy="Send the header Authorization: Bearer TOKEN.",
            headers={"WWW-Authenticate": "Bearer"},
        )


class Guard:
    """Refuses, limits, adds headers, counts and logs; whatever goes wrong inside becomes a problem."""

    def __init__(
        self,
        app: App,
        *,
        access: Access,
        queued: Collection[str],
        full: Callable[[], Problem | None],
        body_bytes: int,
        seconds: float,
        metrics: Metrics,
        log: Callable[[dict[str, object]], None],
    ) -> None:
        self.app, self.queued, self.full = app, queued, full
        self.access, self.body_bytes, self.seconds = access, body_bytes, seconds
        self.metrics, self.log = metrics, log
        self.page_policy = page_policy().encode()
        self.running = 0

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """One request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        answer = _Answer(send, self._headers(scope["path"]))
        began = time.monotonic()
        length = 0
        self.running += 1
        try:
            if self.running > MOST_REQUESTS:
                raise Problem(503, f"{MOST_REQUESTS:,} requests are under way.", remedy="Ask again later.")
            headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
            refused = self.access.refusal(scope["path"], headers) or self._full(scope)
            if refused is not None:
                await self._drain(receive)
                raise refused
            body = await self._body(headers, receive)
            length = len(body)
            await self.app(scope, _replayed(body, receive), answer.send)
        except Problem as problem:
            await answer.problem(problem, scope, receive)
        except HTTPException as error:
            await answer.problem(Problem(error.status_code, error.detail), scope, receive)
        except ClientGoneError:
            self.metrics.abandoned.inc()
            answer.status = 499  # nobody is there to read it
        except Exception as error:
            self.log({"event": "mistake", "error": type(error).__name__, "place": _place(error)})
            await answer.problem(_mistake(error), scope, receive)
        finally:
            self.running -= 1
        self._tell(scope, answer, time.monotonic() - began, length)

    def _full(self, scope: Message) -> Problem | None:
        """Why there is no place for a request that needs one: known before its body is read."""
        return self.full() if scope["method"] == "POST" and scope["path"] in self.queued else None

    async def _body(self, headers: dict[str, str], receive: Receive) -> bytes:
        """The whole body; 413 as soon as it is too long, and 408 if it does not come."""
        said = headers.get("content-length", "0")
        if said.isdigit() and int(said) > self.body_bytes:
            await self._drain(receive)
            raise self._too_long()
        parts: list[bytes] = []
        size = 0
        try:
            async with asyncio.timeout(self.seconds):
                while True:
                    message = await receive()
                    if message["type"] == "http.disconnect":
                        raise ClientGoneError
                    part = cast("bytes", message.get("body", b""))
                    size += len(part)
                    if size > self.body_bytes:
                        await self._drain(receive)
                        raise self._too_long()
                    parts.append(part)
                    if not message.get("more_body"):
                        return b"".join(parts)
        except TimeoutError:
            what = f"the body did not arrive within {self.seconds:g} seconds."
            raise Problem(408, what, code="limit") from None

    async def _drain(self, receive: Receive) -> None:
        """Throws away what is still sent, within bounds: a client that writes does not read the answer."""
        size = 0
        with suppress(TimeoutError):
            async with asyncio.timeout(LINGER):
                while size < LINGER_BODIES * self.body_bytes:
                    message = await receive()
                    size += len(cast("bytes", message.get("body", b"")))
                    if message["type"] == "http.disconnect" or not message.get("more_body"):
                        return

    def _too_long(self) -> Problem:
        what = f"the body has more than {self.body_bytes:,} bytes."
        return Problem(413, what, remedy="Send less at once.")

    def _headers(self, path: str) -> list[tuple[bytes, bytes]]:
        page = path == "/" or path.startswith("/page/")
        return [
            *_HEADERS,
            (b"content-security-policy", self.page_policy if page else _NOTHING.encode()),
            (b"cache-control", b"no-cache" if page else b"no-store"),
        ]

    def _tell(self, scope: Message, answer: _Answer, seconds: float, length: int) -> None:
        refused = scope["path"] if scope["path"] in self.queued else "other"  # and so never routed
        route = getattr(scope.get("route"), "path", "") or refused
        method = scope["method"] if scope["method"] in ("GET", "POST") else "other"
        self.metrics.requests.labels(method, route, str(answer.status)).inc()
        self.metrics.seconds.labels(route).observe(seconds)
        self.log(
            {
                "event": "request",
                "method": method,
                "route": route,
                "status": answer.status,
                "ms": round(1000 * seconds, 1),
                "bytes_in": length,
                "bytes_out": answer.bytes,
            }
        )


class ClientGoneError(Exception):
    """The client went away."""


class _Answer:
    """Adds headers to a response, and remembers what was sent."""

    def __init__(self, send: Send, headers: Iterable[tuple[bytes, bytes]]) -> None:
        self._send, self._headers = send, list(headers)
        self.status, self.bytes = 0, 0

    async def send(self, message: Message) -> None:
        """Sends a part of the response."""
        if message["type"] == "http.response.start":
            self.status = message["status"]
            own = {name for name, _ in message["headers"]}
            more = [(name, value) for name, value in self._headers if name not in own]
            message = {**message, "headers": [*message["headers"], *more]}
        else:
            self.bytes += len(message.get("body", b""))
        await self._send(message)

    async def problem(self, problem: Problem, scope: Message, receive: Receive) -> None:
        """Sends a problem, if nothing was sent yet."""
        if not self.status:
            await problem.response()(scope, receive, self.send)


def _replayed(body: bytes, receive: Receive) -> Receive:
    """Gives the body once; after that, whatever comes: that the client is gone."""
    given = False

    async def replay() -> Message:
        nonlocal given
        if given:
            return await receive()
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return replay


def _place_of(origin: str) -> str | None:
    """The name and port in an Origin header; None if it is none."""
    try:
        return urlsplit(origin).netloc
    except ValueError:
        return None


def _name(host: str) -> str:
    """The name in a Host header, without its port and the brackets of an IPv6 address."""
    try:
        return urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return ""


def _mistake(error: Exception) -> Problem:
    what = f"unexpected {type(error).__name__} at {_place(error)}."
    return Problem(500, what, remedy="This is a mistake in textsplice: please report it.")


def _place(error: Exception) -> str:
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if "textsplice" in frame.filename] or frames
    return f"{Path(own[-1].filename).name}:{own[-1].lineno}" if own else "?"


def json_lines(entry: dict[str, object]) -> None:
    """Writes one line to standard error; it says nothing of what records hold."""
    now = datetime.now(UTC).isoformat(timespec="milliseconds")
    print(json.dumps({"time": now, **entry}), file=sys.stderr, flush=True)
