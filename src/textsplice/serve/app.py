"""The HTTP API, version 1: routes from requests to the service."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping, Sequence
from contextlib import asynccontextmanager
from importlib.resources import files
from typing import Any, cast

from fastapi import APIRouter, FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import Response, StreamingResponse
from fastapi.routing import APIRoute
from starlette.exceptions import HTTPException

from textsplice import __version__
from textsplice.errors import TextspliceError
from textsplice.serve import models
from textsplice.serve.problems import PROBLEM, Problem, of_validation
from textsplice.serve.service import Service

NDJSON = "application/x-ndjson"


def create_app(service: Service) -> FastAPI:
    """The application over a service."""

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        yield
        await asyncio.to_thread(service.close)

    app = FastAPI(title="textsplice", version=__version__, docs_url=None, redoc_url=None, lifespan=lifespan)
    app.state.service = service
    app.include_router(_router(service))
    app.include_router(_pages())
    return app


def _answer(value: object, status: int = 200) -> Response:
    return Response(json.dumps(value, ensure_ascii=False).encode(), status, media_type="application/json")


def _router(service: Service) -> APIRouter:
    router = APIRouter(prefix="/v1")

    @router.get("/schema")
    async def schema() -> Response:
        return _answer(service.schema)

    @router.post("/generate")
    async def generate(asked: models.Generate) -> Response:
        tables = [asked.table] if asked.table is not None else asked.tables or []
        named = [
            (t.id, t.table) if isinstance(t, models.Named) else (str(n), t) for n, t in enumerate(tables)
        ]
        rules = service.rules([r.model_dump() for r in asked.rules], asked.start)
        with service.place():
            found = [r async for r in service.generate(service.examples(named), rules, asked.alternatives)]
        return _answer({"results": found})

    @router.post("/trace")
    async def trace(asked: models.Trace) -> Response:
        with service.place():
            return _answer(
                await service.trace(asked.text, asked.table and service.table(asked.table), exact=asked.exact)
            )

    @router.get("/sources/{name:path}")
    async def source(name: str) -> Response:
        return _answer(service.source(name))

    @router.post("/approve")
    async def approve(asked: models.Approve) -> Response:
        n = await service.approve(asked.text, service.table(asked.table), {})
        return _answer({"approved": n, "file": service.approved.path.name}, 201)

    @router.get("/approved")
    async def approved() -> Response:
        n, rows = service.approved.last()
        return _answer({"approved": n, "rows": rows})

    @router.post("/player")
    async def player(asked: models.OneRow) -> Response:
        return Response(await service.player(asked.row), media_type="text/html")

    return router


def _pages() -> APIRouter:
    router = APIRouter()
    folder = files("textsplice.serve") / "page"
    kinds = {
        "html": "text/html; charset=utf-8",
        "css": "text/css",
        "js": "text/javascript",
        "svg": "image/svg+xml",
    }

    @router.get("/")
    async def home() -> Response:
        return Response((folder / "index.html").read_bytes(), media_type=kinds["html"])

    @router.get("/page/{name}")
    async def page(name: str) -> Response:
        return Response((folder / name).read_bytes(), media_type=kinds[name.rpartition(".")[2]])

    return router
