"""`textsplice add`: a run or prepared folder with more approved texts."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from textsplice.cli.output import say
from textsplice.visible import visible

if TYPE_CHECKING:
    from textsplice.trace.add import Added

EPILOG = """Examples:

textsplice add runs/bundled approved.jsonl    (only says what would be added)

textsplice add runs/bundled approved.jsonl --out runs/new --ids added.txt

textsplice withdraw runs/new --ids-from added.txt --out runs/as-before    (takes them out again)

textsplice add prepared/bundled approved.csv --text-column description --out prepared/new
"""


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command("add", epilog=EPILOG)(add)


def add(
    store: Annotated[
        Path, typer.Argument(help="The run or prepared folder that gets the texts.", metavar="STORE")
    ],
    texts: Annotated[
        str,
        typer.Argument(
            help="Approved texts, each with its record: anything that `read_corpus` reads, rows of "
            "`generate`, or a run or prepared folder.",
            metavar="TEXTS",
        ),
    ],
    out: Annotated[Path | None, typer.Option(help="The new folder. Without it, nothing is written.")] = None,
    ids: Annotated[
        Path | None,
        typer.Option(help="Write the ids of the added texts, one a line, as `withdraw` takes them."),
    ] = None,
    split: Annotated[str | None, typer.Option(help="The split of TEXTS. Default: train, or all.")] = None,
    text_column: Annotated[
        str | None,
        typer.Option(help="The column of TEXTS that holds the text. Default: that of STORE, if present."),
    ] = None,
    new_ids: Annotated[
        bool, typer.Option("--new-ids", help="Number all texts anew (added:1, …), whatever their ids.")
    ] = False,
    force: Annotated[bool, typer.Option("--force", help="Overwrite the file of --ids.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No bar.")] = False,
) -> None:
    """Add approved texts to the store of a run or prepared folder, in a new folder; nothing is trained.

    Where a record is the very same as that of an added text, `generate` gives that text as it is, the newest
    first. For all other records the added texts can be spliced from like those that were there.
    """
    from textsplice.errors import ConfigError
    from textsplice.files import require_new, write_new
    from textsplice.trace.add import Addition

    if ids is not None and out is None:
        raise ConfigError("needs --out.", where="--ids")
    addition = Addition.open(store, texts, split=split, text_column=text_column, new_ids=new_ids)
    if out is None:
        _tell(addition.added, f"{store}: would get")
        say("Nothing was written: name a new folder with --out.")
        return
    # All that can be refused is refused before anything is written.
    if ids is not None:
        if ids.resolve().is_relative_to(out.resolve()):
            raise ConfigError("is inside the new folder.", where="--ids", remedy="Name a file outside of it.")
        require_new(ids, force=force)
    addition.require_writable(out)
    added = addition.write(out, quiet=quiet)
    if ids is not None:
        write_new(ids, "".join(f"{name}\n" for name in added.ids), force=force)
    _tell(added, f"{out}: has")


def _tell(added: Added, has: str) -> None:
    names = added.ids
    listed = ", ".join(names) if len(names) <= 3 else f"{names[0]}, {names[1]}, … {names[-1]}"
    say(visible(f"{has} {_texts(len(names))} more{f' ({listed})' if names else ''}."))
    if added.duplicates:
        now = f"; {len(added.approved)} of them newly approved" if added.approved else ""
        verb = "was" if added.duplicates == 1 else "were"
        say(f"{_texts(added.duplicates)} {verb} there already, with the same record{now}.")
    if added.left_out:
        say(f"{added.left_out} {'row has' if added.left_out == 1 else 'rows have'} no finished text.")


def _texts(count: int) -> str:
    return f"{count:,} {'text' if count == 1 else 'texts'}"
