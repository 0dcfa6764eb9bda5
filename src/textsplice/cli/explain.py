"""`textsplice explain`: one derivation, in any view."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer

from textsplice.cli.generate import Store
from textsplice.cli.output import say, say_view

if TYPE_CHECKING:
    from collections.abc import Callable

    from textsplice.report.document import Document
    from textsplice.search.generation import Generation

EPILOG = """Examples:

textsplice explain texts.jsonl dev:12

textsplice explain runs/bundled '{"name": "Blue Spice", "area": "riverside"}'

textsplice explain texts.jsonl dev:12 --as svg --out figure.svg
"""


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command("explain", epilog=EPILOG)(explain)


def explain(
    source: Annotated[Path, typer.Argument(help="A file that `generate` wrote, or a run or export.")],
    what: Annotated[
        str | None,
        typer.Argument(metavar="[ID|RECORD]", help="A row's id (default: the first row), or a record."),
    ] = None,
    view: Annotated[
        str | None,
        typer.Option(
            "--as",
            metavar="VIEW",
            help="terminal, plain, svg, html, notebook, prov (W3C PROV-JSON), annotations (W3C Web"
            " Annotation), or a view of a plugin."
            " Default: terminal on a terminal, else plain.",
        ),
    ] = None,
    store: Store = None,
    out: Annotated[Path | None, typer.Option(help="The file to write. Default: standard output.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite the file of --out.")] = False,
) -> None:
    """Show a derivation canvas by canvas: what each splice inserted, where from, and what it replaced."""
    from textsplice.extensions import VIEWS
    from textsplice.files import write_new
    from textsplice.report.document import read_document

    render = cast("Callable[[Document], str | None]", VIEWS[view or ("show" if out is None else "plain")])
    generation = _generate(source, what, store) if source.is_dir() else _find(source, what)
    text = render(read_document(generation.to_dict(), str(source)))
    if text is None:  # shown already
        return
    if out is None:
        say_view(text)
    else:
        write_new(out, text, force=force)
        say(out)


def _find(file: Path, id_: str | None) -> Generation:
    from textsplice.errors import InputError
    from textsplice.search.rows import read_generations

    for _, generation in read_generations(file):
        if id_ is None or generation.id == id_:
            return generation
    raise InputError(f"there is no row {id_!r}." if id_ else "there are no rows.", where=str(file))


def _generate(run: Path, record: str | None, store: Path | None) -> Generation:
    from textsplice.cli.systems import open_splicer
    from textsplice.corpus.jsonl import parse_line
    from textsplice.errors import CorpusError, InputError
    from textsplice.parsing import short_repr

    remedy = """Write it as JSON: '{"name": "Blue Spice"}'."""
    if not record:
        raise InputError("a run needs a record to generate from.", where=str(run), remedy=remedy)
    try:
        table = parse_line(record, where="")
    except CorpusError as error:
        what = f"{short_repr(record)} is not a record: {error.what}"
        raise InputError(what, where=str(run), remedy=remedy) from error
    return open_splicer(run, store=store).generate(table)
