"""Folders of ours: what lies where in them, what made them, and what may be removed."""

from textsplice.runs.prepared import Prepared, PreparedSplit
from textsplice.runs.run import Run

__all__ = ["Prepared", "PreparedSplit", "Run"]
