"""A derivation where it is asked for: in a notebook as a player, elsewhere as text."""

from __future__ import annotations

import sys
from collections.abc import Mapping

from rich.console import Console

from textsplice.report.document import Document, read_document
from textsplice.report.escape import markup
from textsplice.report.page import html
from textsplice.report.plain import plain
from textsplice.report.terminal import terminal


def notebook(derivation: Document | Mapping[str, object]) -> str:
    """The player in a frame of its own, for `_repr_html_`: neither it nor the notebook can touch the other.

    Takes a document, or the JSON of a generation or a document.
    """
    document = _document(derivation)
    height = 640 + 36 * len(document.steps)
    return (
        f'<iframe title="Derivation of {markup(document.generation.id)}" sandbox="allow-scripts" '
        f'style="width:100%;height:{height}px;border:0;border-radius:12px" '
        f'srcdoc="{markup(html(document))}"></iframe>'
    )


def show(derivation: Document | Mapping[str, object]) -> None:
    """Shows a derivation: the player in a notebook, color in a terminal, plain text in a file or pipe."""
    document = _document(derivation)
    if _in_notebook():
        from IPython.display import HTML, display  # pyright: ignore

        display(HTML(notebook(document)))
        return
    console = Console()
    if console.is_terminal:
        console.print(terminal(document))
    else:
        print(plain(document), end="")


def _document(derivation: Document | Mapping[str, object]) -> Document:
    return derivation if isinstance(derivation, Document) else read_document(derivation)


def _in_notebook() -> bool:
    """Whether a Jupyter kernel runs this process; IPython in a terminal has none."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    return shell is not None and hasattr(shell, "kernel")
