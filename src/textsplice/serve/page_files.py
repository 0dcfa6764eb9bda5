"""The files of the page."""

from __future__ import annotations

from importlib.resources import files
from importlib.resources.abc import Traversable

from fastapi import APIRouter
from fastapi.responses import Response

from textsplice.serve.problems import Problem

KINDS = {
    "html": "text/html; charset=utf-8",
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "svg": "image/svg+xml",
    "json": "application/json",
    "png": "image/png",
    "ico": "image/x-icon",
}
FIRST = "index.html"


def page_router() -> APIRouter:
    """`/` and `/page/NAME`; they are no part of the API."""
    router = APIRouter(include_in_schema=False)

    @router.get("/")
    async def first() -> Response:
        return _given(FIRST)

    @router.get("/page/{name}")
    async def other(name: str) -> Response:
        return _given(name)

    return router


def _given(name: str) -> Response:
    """A file of the folder, by the name that the folder lists."""
    found = {file.name: file for file in _folder().iterdir() if file.is_file()}.get(name)
    kind = KINDS.get(name.rpartition(".")[2])
    if found is None or kind is None:
        raise Problem(404, "there is no such file.")
    return Response(found.read_bytes(), media_type=kind)


def _folder() -> Traversable:
    return files("textsplice.serve") / "page"
