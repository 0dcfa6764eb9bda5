"""Texts to be traced: one a line, or JSON lines with `text` and perhaps `table` and `id`."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple, cast

from textsplice.config import CorpusConfig
from textsplice.corpus import read_corpus
from textsplice.corpus.jsonl import parse_line
from textsplice.corpus.like import read_like
from textsplice.corpus.lines import MAX_LINE_BYTES, read_lines
from textsplice.corpus.table import Table
from textsplice.errors import CorpusError, InputError
from textsplice.oracle.pricing import LONGEST
from textsplice.text.tokens import Tokenizer, tokenize

STDIN = "-"
CELLS = (".csv", ".csv.gz", ".tsv", ".tsv.gz", ".xlsx")
_FORM = 'A line looks like {"text": "…"} or {"id": "…", "table": {"field": "value"}, "text": "…"}.'


class Draft(NamedTuple):
    """A text of any origin, its record if it has one, and where it stands."""

    id: str
    text: str
    table: Table | None
    where: str


def read_drafts(source: str, like: CorpusConfig | None = None) -> Iterator[Draft]:
    """The texts of a file, or of standard input for `-`; blank lines are skipped.

    A file whose name ends in `.jsonl` or `.jsonl.gz` has JSON lines; so have others, and standard input, if
    the first line is a JSON object. A CSV, TSV or Excel file has a text and its record in each row; `like`
    says which column is the text. It also says how values are read.
    """
    if has_cells(source):
        yield from _read_cells(source, like or CorpusConfig())
        return
    json: bool | None = True if source.endswith((".jsonl", ".jsonl.gz")) else None
    lines = _standard_input() if source == STDIN else read_lines(Path(source))
    count = 0
    for number, line in lines:
        if not line.strip():
            continue
        if json is None:
            json = line.lstrip().startswith("{") and _is_object(line)
        count += 1
        where = f"{'standard input' if source == STDIN else source}:{number}"
        draft = _draft(line, str(number), where) if json else Draft(str(number), line.strip(), None, where)
        yield draft if like is None or not draft.table else draft._replace(table=read_like(draft.table, like))
    if not count:
        raise InputError("there is no text.", where="standard input" if source == STDIN else source)


def has_cells(source: str) -> bool:
    """Whether a file is called as one of rows and columns."""
    return source.lower().endswith(CELLS)


def _read_cells(source: str, like: CorpusConfig) -> Iterator[Draft]:
    for example in read_corpus(source, like=like).require_texts():
        where = f"{source}, {example.id!r}"
        if example.text is None:
            raise InputError("there is no text in this row.", where=where)
        record = example.table if any(values for _, values in example.table) else None
        yield Draft(example.id, example.text, record, where)


def require_traceable(drafts: Iterable[Draft], tokenizer: Tokenizer) -> None:
    """`InputError` for a text that is too long to trace, or that has nothing to trace, before long work."""
    for draft in drafts:
        tokens = len(tokenize(draft.text, tokenizer))
        if not tokens:
            raise InputError("there is nothing to read in this text.", where=draft.where)
        if tokens + 2 > LONGEST:
            raise InputError(
                f"a text of {tokens:,} tokens is too long to trace; {LONGEST - 2:,} is the most.",
                where=draft.where,
                remedy="Split it into paragraphs.",
            )


def _standard_input() -> Iterator[tuple[int, str]]:
    number = 0
    while line := sys.stdin.buffer.readline(MAX_LINE_BYTES + 1):
        number += 1
        where = f"standard input:{number}"
        if len(line) > MAX_LINE_BYTES:
            raise InputError(f"the line is longer than {MAX_LINE_BYTES >> 20} MiB.", where=where)
        if b"\0" in line:
            raise InputError("there is a NUL byte in this line.", where=where, remedy="Send text as UTF-8.")
        try:
            yield number, line.decode("utf-8-sig" if number == 1 else "utf-8")
        except UnicodeDecodeError as error:
            raise InputError("is not UTF-8.", where=where) from error


def _is_object(line: str) -> bool:
    try:
        parse_line(line, where="")
    except CorpusError:
        return False
    return True


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
