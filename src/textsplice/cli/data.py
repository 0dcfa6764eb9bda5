"""`textsplice data get`: published corpora, fetched or taken from a folder."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(help="Fetch the published corpora.", no_args_is_help=True)


class Name(StrEnum):
    """The corpora that can be got."""

    E2E = "e2e"
    WIKIBIO = "wikibio"


@app.callback()
def data() -> None:
    """Fetch the published corpora."""


@app.command()
def get(
    corpus: Annotated[Name, typer.Argument(help="Which corpus.")],
    source: Annotated[Path | None, typer.Option("--from", help="Take the files from this folder.")] = None,
    to: Annotated[Path | None, typer.Option(help="Where to; data/e2e or data/wikibio.")] = None,
    url: Annotated[str | None, typer.Option(help="Another address that has E2E's files.")] = None,
) -> None:
    """Put a published corpus into a folder and check it.

    Files that are already there with the right checksum are left alone, and a download that was
    cut off goes on where it stopped. WikiBio can only be taken from a folder.

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
            for got in published.get_wikibio(folder, source=source):
                progress.advance(1)
                typer.echo(f"{got.path}: {got.how}")
        typer.echo(
            "No checksums of WikiBio were ever published; those of these files"
            f" are in {folder / published.CHECKSUMS}."
        )
        return
    if url is not None and source is not None:
        raise ConfigError("--from and --url exclude each other.")
    with bar(sum(known.size for known in published.E2E_FILES), "e2e") as progress:
        for got in published.get_e2e(
            folder, source=source, url=url or published.E2E_URL, advance=progress.advance
        ):
            typer.echo(f"{got.path}: {got.how}, checksum as in the release")


def register(parent: typer.Typer) -> None:
    """Adds `data` to the command line."""
    parent.add_typer(app, name="data")
