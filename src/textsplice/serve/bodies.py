"""The body of a request as JSON that can only be read in one way."""

from __future__ import annotations

import json
import re
from itertools import accumulate
from typing import Any, cast

from fastapi import Request

from textsplice.parsing import short_repr
from textsplice.serve.problems import Problem

_STRING = re.compile(r'"(?:[^"\\]|\\.)*+"', re.DOTALL)
_BRACKET = re.compile(r"[\[\]{}]")


class StrictRequest(Request):
    """A request whose JSON is UTF-8, not too deep, and has no key twice."""

    async def json(self) -> Any:
        """The value of the body."""
        if not hasattr(self, "_strict"):
            self._strict = parse(await self.body(), self.app.state.service.limits.depth)
        return self._strict


def parse(body: bytes, depth: int) -> object:
    """A JSON value; 400 if it is none, or if readers could differ in what it says."""
    try:
        text = body.decode("utf-8")
    except UnicodeDecodeError as error:
        raise Problem(400, f"the body is not UTF-8 text: byte {error.start}.") from error
    if _depth(text) > depth:
        raise Problem(400, f"the body is nested more than {depth} levels deep.", code="limit")
    try:
        value = json.loads(text, object_pairs_hook=_object, parse_constant=_no_constant)
        if "\\u" in text:
            json.dumps(value, ensure_ascii=False).encode("utf-8")
    except json.JSONDecodeError as error:
        what = f"the body is not JSON: {error.msg} at column {error.colno} of line {error.lineno}."
        raise Problem(400, what) from error
    except UnicodeEncodeError as error:
        raise Problem(400, "a text in the body has half a character (a lone surrogate).") from error
    except (ValueError, RecursionError) as error:  # a number with thousands of digits
        raise Problem(400, f"the body is not JSON that can be used: {short_repr(str(error))}.") from error
    return value


def _depth(text: str) -> int:
    """How deep brackets are nested, those in strings aside."""
    steps = (1 if bracket in "[{" else -1 for bracket in _BRACKET.findall(_STRING.sub("", text)))
    return max(accumulate(steps), default=0)


def _object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise Problem(400, f"the key {short_repr(twice)} appears twice in one object.")
    return found


def _no_constant(name: str) -> object:
    raise Problem(400, f"{name} is not a number in JSON.")


def media_type(header: str | None) -> str:
    """`text/csv` of `text/CSV; charset=utf-8`."""
    return (header or "").partition(";")[0].strip().lower()


def as_lines(value: object) -> bytes:
    """A JSON array of records, or one record, as JSON lines."""
    rows = cast("list[object]", value) if isinstance(value, list) else [value]
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode()
