"""Tables, the texts that describe them, and the files that hold both."""

from __future__ import annotations

from textsplice.corpus.corpus import Corpus
from textsplice.corpus.reader import Reader
from textsplice.corpus.source import read_corpus
from textsplice.corpus.table import Example, Table

__all__ = ["Corpus", "Example", "Reader", "Table", "read_corpus"]
