"""What is wrong with a request, as `application/problem+json` (RFC 9457) with our codes."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from itertools import takewhile
from typing import cast

from fastapi.responses import Response
from starlette.exceptions import HTTPException

from textsplice.errors import TextspliceError
from textsplice.visible import escaped_json, visible

PROBLEM = "application/problem+json"
TITLES = {
    400: "The request can't be read",
    401: "A token is needed",
    403: "This host is not served",
    404: "There is no such thing here",
    405: "This method is not for this path",
    408: "The request did not arrive",
    413: "The request is too large",
    415: "This form of content is not read",
    422: "The request can't be used",
    429: "Too many requests at once",
    500: "A mistake in textsplice",
    503: "The server can't answer now",
}
# The status of an error of ours; the other codes are the input's fault, too.
STATUS = {"storage": 503, "memory": 503}
CODES = {
    401: "token",
    404: "missing",
    405: "method",
    408: "limit",
    413: "limit",
    415: "content",
    429: "busy",
    500: "mistake",
    503: "busy",
}


class Problem(HTTPException):
    """A refusal: a status, a code, and a sentence that says what, where, and what to do."""

    def __init__(
        self,
        status: int,
        detail: str,
        *,
        code: str | None = None,
        where: str | None = None,
        remedy: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(status, detail, headers=dict(headers) if headers else None)
        self.code = code or CODES.get(status, "input")
        self.where, self.remedy = where, remedy

    @classmethod
    def of(cls, error: TextspliceError) -> Problem:
        """The problem of an error of ours."""
        status = STATUS.get(error.code, 422)
        return cls(status, error.what, code=error.code, where=error.where, remedy=error.remedy)

    def response(self) -> Response:
        """As it is sent."""
        value: dict[str, object] = {
            "type": f"urn:textsplice:problem:{self.code}",
            "title": TITLES.get(self.status_code, "The request was refused"),
            "status": self.status_code,
            "detail": _shown(str(self.detail)),
            "code": self.code,
        }
        if self.where:
            value["where"] = _shown(self.where)
        if self.remedy:
            value["remedy"] = _shown(self.remedy)
        text = escaped_json(json.dumps(value, ensure_ascii=False))
        headers = dict(self.headers or {})
        return Response(text.encode(), self.status_code, media_type=PROBLEM, headers=headers)


def of_validation(errors: Sequence[Mapping[str, object]]) -> Problem:
    """The problem of a body that is not of the form that the OpenAPI document says."""
    places = [cast("Sequence[object]", error.get("loc") or ()) for error in errors] or [()]
    message = str(errors[0].get("msg") if errors else "it can't be used")
    shared = takewhile(lambda parts: len(set(parts)) == 1, zip(*places, strict=False))
    where = [str(part) for part, *_ in shared if part != "body"]
    if len(errors) > 1 and len(where) + 1 < len(places[0]) and where:  # it was tried in several ways
        message = "what is there is of none of the forms that are taken"
    return Problem(422, f"{message[:1].lower()}{message[1:]}.", where=".".join(where) or None)


def _shown(text: str) -> str:
    return visible(text if len(text) <= 1500 else f"{text[:750]} … {text[-750:]}")
