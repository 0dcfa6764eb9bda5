"""`textsplice explain`: one derivation, to be looked at."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, cast

import typer

if TYPE_CHECKING:
    from textsplice.report.document import Document
    from textsplice.search.generation import Generation

View = Literal["terminal", "plain", "svg", "html"]
EPILOG = """Examples:

textsplice explain texts.jsonl dev:12

textsplice explain runs/bundled '{"name": "Blue Spice", "area": "riverside"}'

textsplice explain texts.jsonl dev:12 --as svg --out figure.svg
"""


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command("explain", epilog=EPILOG)(explain)


def explain(
    source: Annotated[Path, typer.Argument(help="A file that `generate` wrote, or a run's folder.")],
    what: Annotated[
        str | None,
        typer.Argument(metavar="[ID|RECORD]", help="A row's id (the first row if not said), or a record."),
    ] = None,
    view: Annotated[View, typer.Option("--as", help="How to show it.")] = "terminal",
    out: Annotated[Path | None, typer.Option(help="Where to write; standard output if not said.")] = None,
) -> None:
    """Show a derivation canvas by canvas: what each splice laid, where it came from, what it replaced."""
    from textsplice.files import atomic_write_text
    from textsplice.report.document import read_document

    generation = _generate(source, what) if source.is_dir() else _find(source, what)
    document = read_document(generation.to_dict(), str(source))
    if view == "terminal" and out is None:
        generation.show()
        return
    text = _render(document, view)
    if out is None:
        typer.echo(text)
    else:
        atomic_write_text(out, text)
        typer.echo(str(out))


def _find(file: Path, id_: str | None) -> Generation:
    from textsplice.errors import InputError
    from textsplice.search.rows import read_generations

    for _, generation in read_generations(file):
        if id_ is None or generation.id == id_:
            return generation
    raise InputError(f"there is no row {id_!r}." if id_ else "there is no row.", where=str(file))


def _generate(run: Path, record: str | None) -> Generation:
    from textsplice.cli.generate import open_splicer
    from textsplice.errors import InputError

    remedy = """Write it as JSON: '{"name": "Blue Spice"}'."""
    if not record:
        raise InputError("a run needs a record to say.", where=str(run), remedy=remedy)
    try:
        table = json.loads(record)
    except ValueError as error:
        raise InputError(f"{record!r} is not a record: {error}.", where=str(run), remedy=remedy) from error
    if not isinstance(table, dict):
        raise InputError(f"{record!r} is not a record.", where=str(run), remedy=remedy)
    return open_splicer(run, swap=False).generate(cast("dict[str, str | list[str]]", table))


def _render(document: Document, view: View) -> str:
    match view:
        case "svg":
            from textsplice.report.svg import svg

            return svg(document)
        case "html":
            from textsplice.report.page import player

            return player([document], title=document.generation.id)
        case _:
            from textsplice.report.plain import plain

            return plain(document)
