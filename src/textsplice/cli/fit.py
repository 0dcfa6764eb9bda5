"""`textsplice fit FILE`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from textsplice.cli.output import say

EXAMPLES = """
Make a file of records and texts into a system that writes: one command, no configuration.

FILE is a table of records with a text each (CSV, TSV, Excel, JSON lines, Parquet), or a folder with files
such as train.csv and dev.csv, or a corpus as `prepare` takes it. One file is cut into train, dev and test by
record. The command says what it found, prepares, trains what suits the size, compares with the untrained swap
on dev, keeps the best and writes a report. Interrupt it whenever you like: the same command goes on.

Examples:

    textsplice fit listings.csv

    textsplice fit listings.csv --text-column description --minutes 60 --out runs/listings

    textsplice fit millions.csv --limit 20000

    textsplice fit listings.csv --kind condition=worded --kind agent=unsaid

    textsplice generate runs/listings new.csv --out texts.csv
"""


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command("fit", help=EXAMPLES)(run)


def run(
    source: Annotated[str, typer.Argument(metavar="FILE", help="The records and their texts.")],
    out: Annotated[Path, typer.Option(help="The folder for everything.")] = Path("runs/mine"),
    minutes: Annotated[float, typer.Option(min=0.1, help="About how long it may take.")] = 30.0,
    text_column: Annotated[str | None, typer.Option(help="The column that holds the text.")] = None,
    lexicon: Annotated[
        str | None, typer.Option(help="How values are worded: a TOML file (see `textsplice lexicon`).")
    ] = None,
    limit: Annotated[
        int | None, typer.Option(min=1, help="Use only about so many rows of a large file, whole records.")
    ] = None,
    kind: Annotated[
        list[str] | None,
        typer.Option(metavar="FIELD=KIND", help="What kind a field is, if you know better (docs/kinds.md)."),
    ] = None,
) -> None:
    """Looks, prepares, trains, compares and reports; finished parts are kept."""
    from textsplice.fit.steps import fit

    fit(
        source,
        out,
        minutes=minutes,
        text_column=text_column,
        lexicon=lexicon,
        limit=limit,
        kinds=kind or (),
        say=say,
    )
