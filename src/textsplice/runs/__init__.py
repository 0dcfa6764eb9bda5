"""Folders of ours: what lies where in them, what made them, and what may be removed."""

from textsplice.runs.export import Export, ExportedRun
from textsplice.runs.exporting import export_run
from textsplice.runs.prepared import Prepared, PreparedSplit
from textsplice.runs.run import Run

__all__ = ["Export", "ExportedRun", "Prepared", "PreparedSplit", "Run", "export_run"]
