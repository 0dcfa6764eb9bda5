"""Views of a derivation: plain text, terminal, figure, a page that plays it; and the report of a run.

Each view is a function of a `Document`; `textsplice.extensions.VIEWS` lists them by name.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from textsplice.report.document import Document, oracle_document, read_document
    from textsplice.report.notebook import notebook, show
    from textsplice.report.overview import report_html, write_report
    from textsplice.report.page import player

__all__ = [
    "Document",
    "notebook",
    "oracle_document",
    "player",
    "read_document",
    "report_html",
    "show",
    "write_report",
]

_HOMES = {
    "Document": "document",
    "notebook": "notebook",
    "oracle_document": "document",
    "player": "page",
    "read_document": "document",
    "report_html": "overview",
    "show": "notebook",
    "write_report": "overview",
}


def __getattr__(name: str) -> object:
    """Imports a view on first use, so that `textsplice --help` stays quick."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
