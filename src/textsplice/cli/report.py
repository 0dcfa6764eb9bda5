"""`textsplice report RUN|FILE`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from textsplice.cli.output import say

EXAMPLES = """
Write report.html: settings, data, learning curve, scores, and derivations that can be played.

Examples:

    textsplice report runs/bundled

    textsplice report runs/e2e-full/dev.jsonl --out e2e.html --derivations 200

    textsplice report texts.jsonl --lexicon mine.toml
"""


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command("report", help=EXAMPLES)(run)


def run(
    run_or_file: Annotated[
        Path, typer.Argument(metavar="RUN|FILE", help="A run, or a file that `generate` wrote.")
    ],
    out: Annotated[
        Path | None, typer.Option(help="The file to write. Default: report.html in the run's folder.")
    ] = None,
    derivations: Annotated[int, typer.Option(min=0, help="The number of derivations to show.")] = 20,
    lexicon: Annotated[
        str | None,
        typer.Option(
            help="How values are worded: e2e, bundled, values (as written), none, or a TOML file that "
            "`lexicon induce` proposed. Default: that of the corpus, else values."
        ),
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Overwrite a file that is not an unchanged report.")
    ] = False,
) -> None:
    """Writes the page and prints its path."""
    from textsplice.report.overview import write_report

    say(write_report(run_or_file, out, derivations=derivations, lexicon=lexicon, force=force))
