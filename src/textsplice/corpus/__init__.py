"""Tables, the texts that say them, and the files both are read from."""

from __future__ import annotations

from textsplice.corpus.corpus import Corpus
from textsplice.corpus.source import read_corpus
from textsplice.corpus.table import Example, Table

__all__ = ["Corpus", "Example", "Table", "read_corpus"]
