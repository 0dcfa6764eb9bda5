"""JSON lines, in one of two forms:

    {"table": {"field": "value" | ["v1", "v2"]}, "text": "…", "id": "…"}
    {"field": "value", "other": ["v1", "v2"], "text": "…", "id": "…"}

`text` and `id` may be missing. In the first form other keys are ignored, but for the `alternatives` in rows
of `textsplice generate`, which are examples too if `ReadOptions` asks for them; in the second they are
fields. The first row says of which form a file is.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import cast

from textsplice.corpus.lines import Line, scan_lines
from textsplice.corpus.reader import Reader
from textsplice.corpus.record import as_text, table_of
from textsplice.corpus.table import Example
from textsplice.errors import CorpusError

_FORM = 'A line looks like {"field": "value", "text": "…"} or {"table": {"field": "value"}, "text": "…"}.'


class _RepeatedKeyError(ValueError):
    """A key appears twice in an object; the json module would silently keep the last."""


class JsonlReader(Reader):
    """Reads one object per line, plain or gzipped; blank lines are skipped."""

    def columns(self) -> list[str]:
        """The keys of the first row that can be read, which may be that of a text."""
        for line in self._lines():
            try:
                return [key for key in _record(line, self.path) if key != "table"]
            except CorpusError:
                continue
        return []

    def count(self) -> int:
        if self.options.alternatives:
            return sum(1 for _ in self.examples())
        return sum(1 for _ in self._lines())

    def examples(self) -> Iterator[Example]:
        is_flat: bool | None = None
        for row, line in enumerate(self._lines(), start=1):
            try:
                record = _record(line, self.path)
                is_flat = "table" not in record if is_flat is None else is_flat
                examples = self._examples(record, row, f"{self.path}:{line.number}", is_flat)
            except CorpusError as problem:
                self.refuse(problem)
                continue
            yield from examples

    def _examples(self, record: dict[str, object], row: int, where: str, is_flat: bool) -> list[Example]:
        """The example of a row, and those of its alternatives that were asked for."""
        text_key = self._text_key(record)
        if is_flat:
            record = _nested(record, text_key, where=where)
        example = example_of(record, self.id_of(row), text_key, where=where)
        if self.options.finished and _is_unfinished(record):
            example = replace(example, text=None)
        others = alternatives_of(record, where=where) if self.options.alternatives else []
        return [
            example,
            *(
                replace(example, id=f"{example.id}#{number}", text=text)
                for number, text in enumerate(others[: self.options.alternatives], start=2)
            ),
        ]

    def _lines(self) -> Iterator[Line]:
        return (line for line in scan_lines(self.path) if line.text.strip())

    def _text_key(self, record: dict[str, object]) -> str | None:
        named = self.options.text_column
        return None if self.options.text_column_optional and named not in record else named


def _record(line: Line, path: Path) -> dict[str, object]:
    if line.problem is not None:
        raise line.problem
    return parse_line(line.text, where=f"{path}:{line.number}")


def _nested(record: dict[str, object], text_key: str | None, *, where: str) -> dict[str, object]:
    """A row with its fields beside the text, in the form that has them in a `table`."""
    if isinstance(record.get("table"), dict):
        raise CorpusError(
            "the fields of this row are in a 'table', those of the first row are not.",
            where=where,
            remedy="Write all rows in the same form.",
        )
    beside = {"id", text_key or "text"}
    return {
        "table": {key: value for key, value in record.items() if key not in beside},
        **{key: value for key, value in record.items() if key in beside},
    }


def example_of(record: dict[str, object], default_id: str, text_key: str | None, *, where: str) -> Example:
    """The example in a record with the keys `table`, `id` and `text_key`, which is `text` by default."""
    if "table" not in record:
        raise CorpusError(
            f"there is no 'table' among the keys {', '.join(map(repr, record)) or '(none)'}.",
            where=where,
            remedy=_FORM,
        )
    table = record["table"]
    if not isinstance(table, dict):
        raise CorpusError("'table' is not an object.", where=where, remedy=_FORM)
    if text_key is not None and text_key not in record:
        names = [*(key for key in record if key != "table"), *cast("dict[str, object]", table)]
        raise CorpusError(
            f"there is no {text_key!r} in this row.", where=where, remedy=f"It has {', '.join(names)}."
        )
    text = record.get(text_key or "text")
    if text is not None and not isinstance(text, str):
        raise CorpusError(f"{text_key or 'text'!r} is not a text.", where=where, remedy=_FORM)
    given_id = record.get("id")
    return Example(
        default_id if given_id is None else as_text(given_id, "id", where=where),
        table_of(cast("dict[str, object]", table), where=where),
        text if text and text.strip() else None,
    )


def _is_unfinished(record: dict[str, object]) -> bool:
    """Whether this is a row of `textsplice generate` whose text was not ended, or that has none."""
    ours = str(record.get("format", "")).startswith("textsplice.generation/")
    return ours and record.get("status") not in ("ok", "doubtful")


def alternatives_of(record: dict[str, object], *, where: str) -> list[str]:
    """The texts of a row's alternatives."""
    others = record.get("alternatives", [])
    rows = cast("list[object]", others) if isinstance(others, list) else [others]
    texts: list[str] = []
    for other in rows:
        match other:
            case {"text": str(text)}:
                texts.append(text)
            case _:
                raise CorpusError(
                    "'alternatives' is not a list of texts.",
                    where=where,
                    remedy="Give a file that `textsplice generate` wrote.",
                )
    return texts


def parse_line(line: str, *, where: str) -> dict[str, object]:
    """One line as an object; numbers are kept as written, a repeated key is an error."""
    try:
        value: object = json.loads(
            line.rstrip(),
            object_pairs_hook=_object_without_repeats,
            parse_int=str,
            parse_float=str,
            parse_constant=_not_a_number,
        )
        if "\\u" in line:
            # JSON can escape half of a surrogate pair, which UTF-8 can't encode.
            json.dumps(value, ensure_ascii=False).encode("utf-8")
    except _RepeatedKeyError as error:
        raise CorpusError(f"the field {str(error)!r} appears twice.", where=where) from error
    except json.JSONDecodeError as error:
        raise CorpusError(f"not valid JSON at column {error.colno}: {error.msg}.", where=where) from error
    except UnicodeEncodeError as error:
        raise CorpusError("a \\u escape is half of a surrogate pair.", where=where) from error
    except RecursionError as error:
        raise CorpusError("the objects are nested too deeply.", where=where) from error
    except ValueError as error:
        raise CorpusError(f"{error}.", where=where) from error
    if not isinstance(value, dict):
        raise CorpusError("the line is not a JSON object.", where=where, remedy=_FORM)
    return cast("dict[str, object]", value)


def _object_without_repeats(pairs: list[tuple[str, object]]) -> dict[str, object]:
    record = dict(pairs)
    if len(record) < len(pairs):
        raise _RepeatedKeyError(first_repeated(name for name, _ in pairs))
    return record


def first_repeated(names: Iterable[str]) -> str | None:
    """The first name that was there before."""
    seen: set[str] = set()
    for name in names:
        if name in seen:
            return name
        seen.add(name)
    return None


def _not_a_number(constant: str) -> object:
    raise ValueError(f"{constant} is not a number in JSON; write null for a missing value")
