"""The OpenAPI document: what routes really take and give, and nothing else."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, cast

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from textsplice.serve import models
from textsplice.serve.problems import PROBLEM, TITLES
from textsplice.serve.reading import FORMATS

NDJSON = "application/x-ndjson"
Document = dict[str, Any]
_REFERENCE = "#/components/schemas/{model}"
ALWAYS = (400, 403, 405, 408, 413)
GIVEN: tuple[type[BaseModel], ...] = (
    *(models.Problem, models.Results, models.Result, models.Judged, models.Verified, models.Source),
    *(models.Approved, models.ApprovedRows, models.CommandLine, models.Read, models.Schema, models.Health),
)
# Rows that are no records are told, so an array may hold anything.
_RECORDS = {"anyOf": [{"type": "object", "minProperties": 1}, {"type": "array", "minItems": 1}]}
READ_BODY: Document = {
    "required": True,
    "content": {
        kind: {"schema": _RECORDS if kind == "application/json" else {"type": "string", "minLength": 1}}
        for kind in FORMATS
    },
}


def answers(
    good: type[BaseModel] | Document, *bad: int, status: int = 200, token: bool = True
) -> dict[int | str, Document]:
    """The responses of a route."""
    content = good if isinstance(good, dict) else {"application/json": {"schema": _of(good)}}
    refused = {
        number: {"description": TITLES[number], "content": {PROBLEM: {"schema": _of(models.Problem)}}}
        for number in sorted({*ALWAYS, *bad, *((401,) if token else ())})
    }
    return {status: {"description": "What was asked for", "content": content}, **refused}


def results_answer() -> Document:
    """All results at once, or one a line."""
    return {
        "application/json": {"schema": _of(models.Results)},
        NDJSON: {"schema": {"type": "string", "description": "One Result a line."}},
    }


def html_answer() -> Document:
    """A page."""
    return {"text/html": {"schema": {"type": "string"}}}


def metrics_answer() -> Document:
    """Prometheus's text format."""
    return {"text/plain": {"schema": {"type": "string"}}}


def exact_document(app: FastAPI, *, has_token: bool) -> Document:
    """The document of an application, made once."""
    if app.openapi_schema:
        return app.openapi_schema
    made = get_openapi(title=app.title, version=app.version, summary=app.summary, routes=app.routes)
    schemas = made.setdefault("components", {}).setdefault("schemas", {})
    for name in ("HTTPValidationError", "ValidationError"):
        schemas.pop(name, None)
    _, given = models_json_schema([(model, "serialization") for model in GIVEN], ref_template=_REFERENCE)
    schemas.update(given["$defs"])
    for path, methods in made["paths"].items():
        for route in methods.values():
            if not has_token or path == "/v1/health":
                route["responses"].pop("401", None)
            if "requestBody" not in route:  # nothing in a path is refused
                route["responses"].pop("422", None)
    if has_token:
        made["components"]["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
        for path, methods in made["paths"].items():
            for route in methods.values():
                route["security"] = [] if path == "/v1/health" else [{"token": []}]
    _simplify(made)
    app.openapi_schema = made
    return made


def _simplify(node: Document | list[object]) -> None:
    """Of forms that share no value, `anyOf` says the same as `oneOf`, and fewer tools stumble over it."""
    if isinstance(node, dict) and node.pop("discriminator", None) is not None:
        node["anyOf"] = node.pop("oneOf")
    for each in cast("Iterable[object]", node.values() if isinstance(node, dict) else node):
        if isinstance(each, (dict, list)):
            _simplify(cast("Document", each))


def _of(model: type[BaseModel]) -> Document:
    return {"$ref": _REFERENCE.format(model=model.__name__)}
