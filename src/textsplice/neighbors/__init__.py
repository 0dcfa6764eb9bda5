"""Neighbors of a table: scores, and exact indexes that find the best-scoring tables of a whole corpus."""

from textsplice.neighbors.by_text import TextIndex
from textsplice.neighbors.features import Features, features, yes_no_fields
from textsplice.neighbors.index import Index
from textsplice.neighbors.scores import Score
from textsplice.neighbors.shards import ShardedIndex
from textsplice.neighbors.table_index import Hits, TableIndex
from textsplice.neighbors.text_shards import TextShards

__all__ = [
    "Features",
    "Hits",
    "Index",
    "Score",
    "ShardedIndex",
    "TableIndex",
    "TextIndex",
    "TextShards",
    "features",
    "yes_no_fields",
]
