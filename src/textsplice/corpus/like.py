"""A record of any origin, read as a prepared corpus reads its own: in the form that texts have."""

from __future__ import annotations

from textsplice.config import CorpusConfig
from textsplice.corpus.asked import ask
from textsplice.corpus.forms import in_form
from textsplice.corpus.table import Table


def read_like(table: Table, corpus: CorpusConfig) -> Table:
    """The table with values as texts write them, and `?` where it asks; once more changes nothing."""
    return ask(in_form(table, corpus.forms), corpus.asked)
