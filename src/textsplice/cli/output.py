"""What commands say. Names, fields and values come from files, so nothing in them may command the terminal:
control characters are shown as signs, and `[bold]` is not markup."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from textsplice.visible import escaped_json, visible_lines

if TYPE_CHECKING:
    from rich.console import Console


def say(what: object, *, err: bool = False, end: str = "\n") -> None:
    """Prints a line or lines."""
    print(visible_lines(str(what)), file=sys.stderr if err else sys.stdout, end=end, flush=True)


def say_json(text: str) -> None:
    """Prints JSON, whose value stays the same."""
    print(escaped_json(text.rstrip("\n")), flush=True)


def say_view(text: str) -> None:
    """Prints what a view made, which is safe already; that of a terminal has escapes of its own."""
    print(text, end="" if text.endswith("\n") else "\n", flush=True)


def console() -> Console:
    """A console for grids and derivations."""
    from rich.console import Console
    from rich.text import Text

    class PlainConsole(Console):
        """Shows what strings hold as it is."""

        def render_str(self, text: str, **options: Any) -> Text:
            return super().render_str(visible_lines(text), **options)

    return PlainConsole(markup=False, emoji=False)
