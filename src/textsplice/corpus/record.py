"""Turns records from files into tables."""

from __future__ import annotations

from collections.abc import Mapping

from textsplice.corpus import values
from textsplice.corpus.table import Table
from textsplice.errors import CorpusError


def table_of(record: Mapping[str, object], *, where: str) -> Table:
    """The table of a record; raises `CorpusError` with its place if it can't be one."""
    return Table(values.fields_of(record, CorpusError, where))


def as_text(value: object, name: str, *, where: str) -> str:
    """A single value as text; raises `CorpusError` with its place if it can't be one."""
    return values.as_text(value, name, CorpusError, where)
