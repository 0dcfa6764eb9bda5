"""Neighbors of a table: the paper's score and the exact search for the highest of a whole corpus."""

from textsplice.neighbors.features import Features, features, yes_no_fields
from textsplice.neighbors.index import Hits, Index

__all__ = ["Features", "Hits", "Index", "features", "yes_no_fields"]
