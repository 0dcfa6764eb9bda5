"""The HTTP API, version 1: routes from requests to the service."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from typing import cast

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import Response
from starlette.exceptions import HTTPException
from starlette.middleware.cors import CORSMiddleware

from textsplice import __version__
from textsplice.errors import TextspliceError
from textsplice.serve.guard import Access, Guard, json_lines
from textsplice.serve.metrics import Metrics
from textsplice.serve.openapi import exact_document
from textsplice.serve.page_files import page_router
from textsplice.serve.problems import Problem, of_validation
from textsplice.serve.routes import QUEUED, api_router
from textsplice.serve.service import Service


def create_app(
    service: Service,
    access: Access | None = None,
    *,
    log: Callable[[dict[str, object]], None] = json_lines,
) -> FastAPI:
    """The application over a service, which is closed with it."""
    access = access or Access()
    metrics = Metrics()
    metrics.watch(lambda: service.admitted)
    service.told, service.stopped = metrics.batches.observe, metrics.stopped.inc

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncGenerator[None]:
        yield
        await asyncio.to_thread(service.close)

    app = FastAPI(
        title="textsplice",
        summary="Records in, sentences out, every word traced to the text it was spliced from.",
        version=__version__,
        docs_url=None,
        redoc_url=None,
        lifespan=lifespan,
        redirect_slashes=False,
    )
    app.state.service = service
    app.include_router(api_router(service, metrics))
    app.include_router(page_router())
    app.openapi = lambda: exact_document(app, has_token=access.token is not None)
    app.add_exception_handler(TextspliceError, _ours)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, _refused)
    limits = service.limits
    app.add_middleware(
        Guard,
        access=access,
        queued=QUEUED,
        full=service.refusal,
        body_bytes=limits.body_bytes,
        seconds=limits.seconds,
        metrics=metrics,
        log=log,
    )
    if access.origins:
        app.add_middleware(
            CORSMiddleware,
            allow_origins=list(access.origins),
            allow_methods=["GET", "POST"],
            allow_headers=["Authorization", "Content-Type", "Accept"],
        )
    return app


async def _ours(_: Request, error: Exception) -> Response:
    return Problem.of(cast("TextspliceError", error)).response()


async def _invalid(_: Request, error: Exception) -> Response:
    return of_validation(cast("RequestValidationError", error).errors()).response()


async def _refused(_: Request, error: Exception) -> Response:
    if isinstance(error, Problem):
        return error.response()
    refused = cast("HTTPException", error)
    return Problem(refused.status_code, f"{refused.detail}.", headers=refused.headers).response()
