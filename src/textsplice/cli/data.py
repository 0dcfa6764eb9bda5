"""`textsplice data get`: published corpora, downloaded or copied from a folder."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from textsplice.cli.output import say

app = typer.Typer(help="Fetch the published corpora.", no_args_is_help=True)


class Name(StrEnum):
    """The corpora that `data get` knows."""

    E2E = "e2e"
    WIKIBIO = "wikibio"


@app.callback()
def data() -> None:
    """Fetch the published corpora."""


@app.command()
def get(
    corpus: Annotated[Name, typer.Argument(help="Which corpus.")],
    source: Annotated[Path | None, typer.Option("--from", help="Copy the files from this folder.")] = None,
    to: Annotated[Path | None, typer.Option(help="Target folder. Default: data/e2e or data/wikibio.")] = None,
    url: Annotated[str | None, typer.Option(help="Another https address that has E2E's files.")] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Replace files of the same names that have other content.")
    ] = False,
) -> None:
    """Put a published corpus into a folder and check it.

    Files that are already there are kept: those with the right checksum are skipped, any other is an error
    unless you say --force. An interrupted download is resumed. WikiBio can only be copied from a folder.

    Examples:

        textsplice data get e2e

        textsplice data get e2e --from downloads/e2e-dataset --to data/e2e

        textsplice data get wikibio --from wikipedia-biography-dataset
    """
    from textsplice.corpus import published
    from textsplice.errors import ConfigError
    from textsplice.progress import bar

    folder = to or Path("data") / corpus
    if corpus is Name.WIKIBIO:
        if url is not None:
            raise ConfigError("--url is for e2e only.", remedy=published.WIKIBIO_HELP)
        with bar(9, "wikibio") as progress:
            for got in published.get_wikibio(folder, source=source, force=force):
                progress.advance(1)
                say(f"{got.path}: {got.how}")
        say(
            "No checksums of WikiBio were published; those of these files"
            f" are in {folder / published.CHECKSUMS}."
        )
        return
    if url is not None and source is not None:
        raise ConfigError("--from and --url can't be used together.")
    with bar(sum(known.size for known in published.E2E_FILES), "e2e") as progress:
        for got in published.get_e2e(
            folder, source=source, url=url or published.E2E_URL, force=force, advance=progress.advance
        ):
            say(f"{got.path}: {got.how}, checksum as in the release")


def register(parent: typer.Typer) -> None:
    """Adds `data` to the command line."""
    parent.add_typer(app, name="data")
