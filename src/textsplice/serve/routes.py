"""The routes of the API."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import aclosing
from datetime import UTC, datetime
from typing import Any, TypeVar

from fastapi import APIRouter, Path, Request
from fastapi.responses import Response, StreamingResponse
from fastapi.routing import APIRoute

from textsplice import __version__
from textsplice.serve import models, reading
from textsplice.serve.bodies import StrictRequest, as_lines, media_type, parse
from textsplice.serve.command import command_line
from textsplice.serve.guard import ClientGoneError
from textsplice.serve.metrics import TEXT, Metrics
from textsplice.serve.openapi import (
    NDJSON,
    READ_BODY,
    answers,
    html_answer,
    metrics_answer,
    results_answer,
)
from textsplice.serve.problems import Problem
from textsplice.serve.results import Written, as_json
from textsplice.serve.service import Service

T = TypeVar("T")
# What is searched, and so needs a place; who has none is refused before the body is read.
QUEUED = frozenset(f"/v1/{name}" for name in ("generate", "trace", "gate", "verify", "player"))


class JsonRoute(APIRoute):
    """A route whose body, if it has one, is JSON and says so."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Reads strictly; 415 for other content."""
        handle = super().get_route_handler()
        has_body = self.body_field is not None

        async def strictly(request: Request) -> Response:
            if has_body and media_type(request.headers.get("content-type")) != "application/json":
                raise Problem(415, "the body must be JSON.", remedy="Send Content-Type: application/json.")
            return await handle(StrictRequest(request.scope, request.receive))

        return strictly


def api_router(service: Service, metrics: Metrics) -> APIRouter:
    """All routes of version 1."""
    router = APIRouter(prefix="/v1", route_class=JsonRoute)
    _add_texts(router, service, metrics)
    _add_rows(router, service)
    _add_approved(router, service, metrics)
    _add_about(router, service, metrics)
    return router


def _add_texts(router: APIRouter, service: Service, metrics: Metrics) -> None:
    @router.post("/generate", responses=answers(results_answer(), 404, 413, 415, 422, 429, 503))
    async def generate(asked: models.Generate, request: Request) -> Response:
        """Texts for one record, or for many, in their order.

        With `Accept: application/x-ndjson`, one result a line, as they are ready.
        """
        examples = service.examples(asked.records())
        rules = service.rules([rule.model_dump() for rule in asked.rules], asked.start)
        streamed = NDJSON in request.headers.get("accept", "")
        found = service.generate(examples, rules, asked.alternatives, streamed=streamed)
        counted = _counted(found, metrics)
        place = service.place()
        if streamed:
            place.__enter__()
            return StreamingResponse(_lines(counted, request, place.__exit__), media_type=NDJSON)
        with place:
            return _sent(b'{"results":[%b]}' % await _unless_gone(request, _joined(counted)))

    @router.post("/trace", responses=answers(models.Result, 413, 415, 422, 429, 503))
    async def trace(asked: models.Trace, request: Request) -> Response:
        """The fewest splices that make any text from the record, if given, and all texts of the store."""
        service.limits.check_text(asked.text)
        table = service.table(asked.table) if asked.table else None
        with service.place():
            found = service.trace(asked.text, table, exact=asked.exact)
            return _sent(await _unless_gone(request, found))

    @router.post("/gate", responses=answers(models.Judged, 404, 413, 415, 422, 429, 503))
    async def gate(asked: models.Gate, request: Request) -> Response:
        """Whether a draft of any origin may be published, and if not, why."""
        service.limits.check_text(asked.text)
        table = service.table(asked.table) if asked.table else None
        rules = service.rules([rule.model_dump() for rule in asked.rules], None)
        with service.place():
            found = service.gate(asked.text, table, rules, asked.most_splices)
            return _sent(await _unless_gone(request, found))


def _add_rows(router: APIRouter, service: Service) -> None:
    @router.post("/verify", responses=answers(models.Verified, 413, 415, 422, 429, 503))
    async def verify(asked: models.OneRow, request: Request) -> Response:
        """Whether a row is true: its splices are replayed, and its sources are looked up."""
        with service.place():
            return _json(await _unless_gone(request, service.verify(asked.row)))

    @router.post("/player", responses=answers(html_answer(), 413, 415, 422, 429, 503))
    async def player(asked: models.OneRow, request: Request) -> Response:
        """The page that plays the derivation of a row."""
        with service.place():
            page = await _unless_gone(request, service.player(asked.row))
        return Response(page.encode("utf-8", "replace"), media_type="text/html; charset=utf-8")

    first = Path(description="Of a text of the store.", examples=service.splicer.store.ids[:1])

    @router.get("/sources/{id:path}", responses=answers(models.Source, 404))
    async def source(id: str = first) -> Response:  # noqa: A002 - the name it has in the path
        """A text of the store, with its record."""
        found = service.source(id)
        if found is None:
            raise Problem(404, "there is no text with this id in the store.", where="id")
        return _json(found)

    @router.post("/command", responses=answers(models.CommandLine, 404, 413, 415, 422))
    async def command(asked: models.Command) -> Response:
        """The command that gives the same text in a terminal."""
        service.table(asked.table)
        rules = service.rules([rule.model_dump() for rule in asked.rules], asked.start)
        return _json({"command": command_line(service.named.arguments(), rules, asked.table)})

    read_body = {"requestBody": READ_BODY}

    @router.post("/read", responses=answers(models.Read, 413, 415, 422), openapi_extra=read_body)
    async def read(request: Request) -> Response:
        """The records of a CSV, TSV or JSON file, and the rows that can't be read."""
        kind = reading.FORMATS.get(sent := media_type(request.headers.get("content-type")))
        if kind is None:
            known = ", ".join(reading.FORMATS)
            raise Problem(415, "the body must be a file of records.", remedy=f"Send one of {known}.")
        body = await request.body()
        if sent == "application/json":
            body = as_lines(parse(body, service.limits.depth))
        like, limits = service.splicer.config.corpus, service.limits
        return _json(await asyncio.to_thread(reading.read_records, body, kind, like, limits))


def _add_approved(router: APIRouter, service: Service, metrics: Metrics) -> None:
    made = answers(models.Approved, 413, 415, 422, 503, status=201)

    @router.post("/approve", status_code=201, responses=made)
    async def approve(asked: models.Approve) -> Response:
        """Adds a text to the file of approved ones, which `textsplice add` takes."""
        service.limits.check_text(asked.text)
        about = {"record": asked.id, "row": asked.row}
        about |= {"run": service.splicer.run, "approved": datetime.now(UTC).isoformat(timespec="seconds")}
        said = {key: value for key, value in about.items() if value is not None}
        count = await service.approve(asked.text, service.table(asked.table), said)
        metrics.approved.set(count)
        return _json({"approved": count, "file": service.approved.path.name}, 201)

    @router.get("/approved", responses=answers(models.ApprovedRows, 503))
    async def approved() -> Response:
        """How many texts were approved, and the last of them."""
        count, rows, keys = await asyncio.to_thread(service.approved.last)
        return _json({"approved": count, "rows": rows, "keys": keys})

    @router.post("/unapprove", responses=answers(models.Approved, 404, 413, 415, 422, 503))
    async def unapprove(asked: models.Unapprove) -> Response:
        """Takes a text out of the file of approved ones; all others stay as they are."""
        count = await asyncio.to_thread(service.approved.remove, asked.key)
        if count is None:
            what = "there is no such text in the file of approved texts."
            raise Problem(404, what, where="key", remedy="Look at the list again.")
        metrics.approved.set(count)
        return _json({"approved": count, "file": service.approved.path.name})


def _add_about(router: APIRouter, service: Service, metrics: Metrics) -> None:
    @router.get("/schema", responses=answers(models.Schema))
    async def schema() -> Response:
        """What is served: fields, their kinds and values, an example, limits and rules."""
        return _json(service.schema)

    @router.get("/health", responses=answers(models.Health, token=False))
    async def health() -> Response:
        """That it runs."""
        return _json({"status": "ok", "version": __version__, "run": service.splicer.run})

    @router.get("/metrics", responses=answers(metrics_answer()))
    async def metrics_text() -> Response:
        """What was counted, for Prometheus."""
        return Response(metrics.text(), media_type=TEXT)


def _json(value: object, status: int = 200) -> Response:
    return _sent(as_json(value), status)


def _sent(body: bytes, status: int = 200) -> Response:
    return Response(body, status, media_type="application/json")


async def _joined(found: AsyncIterator[Written]) -> bytes:
    return b",".join([each.json async for each in found])


async def _counted(found: AsyncIterator[Written], metrics: Metrics) -> AsyncIterator[Written]:
    async for each in found:
        metrics.texts.labels(each.status).inc()
        yield each


async def _lines(
    found: AsyncIterator[Written], request: Request, leave: Callable[[None, None, None], object]
) -> AsyncIterator[bytes]:
    """One result a line; if it can't go on, the last line is a problem."""
    try:
        async with aclosing(found):  # pyright: ignore[reportArgumentType]
            async for each in found:
                if await request.is_disconnected():
                    return
                yield each.json + b"\n"
    except Problem as problem:
        yield bytes(problem.response().body) + b"\n"
    finally:
        leave(None, None, None)


async def _unless_gone(request: Request, work: Coroutine[Any, Any, T]) -> T:
    """The result; if the client goes away, the work is given up, and its place is free."""
    task, gone = asyncio.ensure_future(work), asyncio.ensure_future(_gone(request))
    try:
        await asyncio.wait({task, gone}, return_when=asyncio.FIRST_COMPLETED)
        if not task.done():
            raise ClientGoneError
        return task.result()
    finally:
        task.cancel()
        gone.cancel()
        await asyncio.wait({task, gone})  # its search is given up before its place is free


async def _gone(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
