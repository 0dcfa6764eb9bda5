"""`textsplice prepare CONFIG`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

EXAMPLES = """
Turn a corpus into a prepared folder: tokens, masks, neighbors, least derivations.

Only what changed since the last time is made again; an interrupted run continues where it stopped.

Examples:

    textsplice prepare configs/bundled.toml

    textsplice prepare configs/e2e.toml --set corpus.source=e2e:data/e2e

    textsplice prepare configs/master.toml --set corpus.source=mine.csv --set corpus.text_column=body
"""


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command("prepare", help=EXAMPLES)(run)


def run(
    config: Annotated[Path, typer.Argument(help="A TOML file; configs/master.toml explains all settings.")],
    out: Annotated[Path | None, typer.Option(help="The folder; default: output.prepared.")] = None,
    set_: Annotated[list[str] | None, typer.Option("--set", help="Change a setting; repeatable.")] = None,
    text_column: Annotated[str | None, typer.Option(help="The column that holds the text.")] = None,
    threads: Annotated[int | None, typer.Option(min=1, help="Threads; default: all cores.")] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No bars, no lines.")] = False,
) -> None:
    """Prepares a corpus."""
    from textsplice.config import load_config
    from textsplice.prepare import prepare

    settings = load_config(config).with_values(set_ or [])
    if text_column is not None:
        settings = settings.with_values([f'corpus.text_column="{text_column}"'])

    def say(line: str) -> None:
        if not quiet:
            print(line, file=sys.stderr)

    prepared = prepare(settings, folder=out, threads=threads, report=say, quiet=quiet)
    if not quiet:
        print(f"{prepared.folder}: ready. Look into it with `textsplice inspect {prepared.folder}`.")
