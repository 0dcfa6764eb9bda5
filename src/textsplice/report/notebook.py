"""A generation in a notebook: the player in a frame of its own, so that neither can touch the other."""

from __future__ import annotations

import sys
from collections.abc import Mapping

from textsplice.report.document import read_document
from textsplice.report.escape import markup
from textsplice.report.page import player


def generation_html(generation: Mapping[str, object]) -> str:
    """What `_repr_html_` returns for a generation's JSON."""
    document = read_document(generation)
    page = player([document], title=document.generation.id)
    height = 640 + 36 * len(document.steps)
    return (
        f'<iframe title="Derivation of {markup(document.generation.id)}" sandbox="allow-scripts" '
        f'style="width:100%;height:{height}px;border:0;border-radius:12px" '
        f'srcdoc="{markup(page)}"></iframe>'
    )


def show(generation: Mapping[str, object]) -> None:
    """Shows a generation's JSON: the player in a notebook, the terminal view anywhere else."""
    if _in_notebook():
        from IPython.display import HTML, display  # pyright: ignore

        display(HTML(generation_html(generation)))
        return
    from rich.console import Console

    from textsplice.report.plain import plain
    from textsplice.report.terminal import terminal

    document, console = read_document(generation), Console()
    if console.is_terminal:
        console.print(terminal(document))
    else:
        print(plain(document), end="")


def _in_notebook() -> bool:
    """Whether a kernel with a page runs us; IPython in a terminal is not one."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    return shell is not None and hasattr(shell, "kernel")
