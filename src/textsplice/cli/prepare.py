"""`textsplice prepare CONFIG`."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from textsplice.cli.engine import EngineName, PartsFolder, Workers, chosen_engine
from textsplice.cli.output import say

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
    engine: EngineName = None,
    workers: Workers = None,
    parts: PartsFolder = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No bars, no lines.")] = False,
) -> None:
    """Prepares a corpus."""
    from textsplice.config import load_config
    from textsplice.prepare import prepare

    bulk = chosen_engine(engine, workers, parts)
    settings = load_config(config).with_values(set_ or [])
    if text_column is not None:
        settings = replace(settings, corpus=replace(settings.corpus, text_column=text_column))

    def report(line: str) -> None:
        if not quiet:
            say(line, err=True)

    prepared = prepare(
        settings, folder=out, threads=threads, engine=bulk, parts=parts, report=report, quiet=quiet
    )
    if not quiet:
        say(f"{prepared.folder}: ready. Look into it with `textsplice inspect {prepared.folder}`.")
