"""Texts to be traced: one a line, or JSON lines with `text` and perhaps `table` and `id`."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple, cast

from textsplice.corpus.jsonl import parse_line
from textsplice.corpus.lines import read_lines
from textsplice.corpus.table import Table
from textsplice.errors import CorpusError, InputError

STDIN = "-"
_FORM = 'A line looks like {"text": "…"} or {"id": "…", "table": {"field": "value"}, "text": "…"}.'


class Draft(NamedTuple):
    """A text of any origin, its record if it has one, and where it stands."""

    id: str
    text: str
    table: Table | None
    where: str


def read_drafts(source: str) -> Iterator[Draft]:
    """The texts of a file, or of standard input for `-`; blank lines are skipped.

    A file whose name ends in `.jsonl` or `.jsonl.gz` has JSON lines. Standard input has them if its first
    line begins with a brace.
    """
    json: bool | None = None if source == STDIN else source.endswith((".jsonl", ".jsonl.gz"))
    lines = _standard_input() if source == STDIN else read_lines(Path(source))
    count = 0
    for number, line in lines:
        if not line.strip():
            continue
        if json is None:
            json = line.lstrip().startswith("{")
        count += 1
        where = f"{'standard input' if source == STDIN else source}:{number}"
        yield _draft(line, str(number), where) if json else Draft(str(number), line.strip(), None, where)
    if not count:
        raise InputError("there is no text.", where="standard input" if source == STDIN else source)


def _standard_input() -> Iterator[tuple[int, str]]:
    for number, line in enumerate(sys.stdin.buffer, start=1):
        try:
            yield number, line.decode("utf-8")
        except UnicodeDecodeError as error:
            raise InputError("is not UTF-8.", where=f"standard input:{number}") from error


def _draft(line: str, default_id: str, where: str) -> Draft:
    try:
        record = parse_line(line, where=where)
    except CorpusError as error:
        raise InputError(error.what, where=where, remedy=_FORM) from error
    text, id_, table = record.get("text"), record.get("id", default_id), record.get("table")
    if not isinstance(text, str) or not text.strip():
        raise InputError("there is no 'text', or it is empty.", where=where, remedy=_FORM)
    if not isinstance(id_, str):
        raise InputError("'id' is not a text.", where=where, remedy=_FORM)
    if table is None:
        return Draft(id_, text, None, where)
    if not isinstance(table, Mapping):
        raise InputError("'table' is not an object.", where=where, remedy=_FORM)
    try:
        return Draft(id_, text, Table.of(cast("Mapping[str, object]", table)), where)
    except InputError as error:
        raise InputError(error.what, where=where, remedy=error.remedy) from error
