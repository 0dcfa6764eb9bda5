"""`textsplice withdraw`: which texts use a source, and a run that does without it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from textsplice.cli.output import say
from textsplice.visible import visible

if TYPE_CHECKING:
    from textsplice.trace.withdraw import Concerned

EPILOG = """Examples:

textsplice withdraw runs/bundled train-0012 --texts site.jsonl --texts mail.jsonl

textsplice withdraw runs/bundled --ids-from ended.txt --texts texts.jsonl --out runs/new --remade new.jsonl
"""


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command("withdraw", epilog=EPILOG)(withdraw)


def withdraw(
    run: Annotated[Path, typer.Argument(help="The run whose store holds the texts.")],
    ids: Annotated[list[str] | None, typer.Argument(metavar="ID", help="Ids of texts.")] = None,
    ids_from: Annotated[Path | None, typer.Option(help="A file with one id a line.")] = None,
    texts: Annotated[
        list[Path] | None, typer.Option(help="Published texts, as `generate` wrote them; repeatable.")
    ] = None,
    uses: Annotated[Path | None, typer.Option(help="Write every use as one line of JSON.")] = None,
    out: Annotated[
        Path | None, typer.Option(help="Write a run without these texts into a new folder.")
    ] = None,
    remade: Annotated[
        Path | None, typer.Option(help="Write the texts that use them, made anew by the run of --out.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite the file of --uses.")] = False,
) -> None:
    """Say which texts use a source, and which of their characters; go on without it.

    With --out, the run is written anew without these texts. Its weights have still learned from them: to
    remove that too, take them out of the corpus, prepare and train again.
    """
    from textsplice.errors import ConfigError
    from textsplice.files import require_new
    from textsplice.runs import Run
    from textsplice.trace.withdraw import concerned, require_known, require_possible, run_without

    wanted = _ids(ids, ids_from)
    if remade is not None and (out is None or not texts):
        raise ConfigError("needs --texts and --out.", where="--remade")
    opened = Run.open(run)
    require_known(opened.store, wanted, str(run))
    # All that can be refused is refused before anything is written.
    if uses is not None:
        require_new(uses, force=force)
    if out is not None:
        require_possible(opened, wanted)
        Run.require_absent(out)
    if remade is not None:
        require_new(remade)
    found = list(concerned(texts or [], wanted))
    _tell(found, len(wanted))
    if uses is not None:
        _write_uses(uses, found, force=force)
    if out is not None:
        run_without(opened, wanted, out)
        say(f"{out}: the run without {len(wanted)} {'text' if len(wanted) == 1 else 'texts'}.")
    if out is not None and remade is not None:
        _remake(out, found, remade)


def _ids(ids: list[str] | None, ids_from: Path | None) -> list[str]:
    from textsplice.errors import ConfigError
    from textsplice.parsing import read_text

    lines: list[str] = []
    if ids_from is not None:
        lines = read_text(ids_from, ConfigError, remedy="Write one id per line, as UTF-8.").splitlines()
    found = [*(ids or []), *(line.strip() for line in lines if line.strip())]
    if not found:
        raise ConfigError("no source is named.", remedy="Give ids, or a file of ids with --ids-from.")
    return list(dict.fromkeys(found))


def _tell(found: list[Concerned], sources: int) -> None:
    for each in found:
        for use in each.uses:
            place = f"{use.start}-{use.stop} {use.quote!r}" if use.start is not None else "replaced later on"
            say(visible(f"{each.where} {use.id}: {use.source}: {place}"))
    noun = "text uses" if len(found) == 1 else "texts use"
    say(f"{len(found)} {noun} {'this source' if sources == 1 else 'these sources'}.")


def _write_uses(path: Path, found: list[Concerned], *, force: bool) -> None:
    import json

    from textsplice.files import write_new

    rows = [{"file": str(each.file), **use.to_dict()} for each in found for use in each.uses]
    write_new(path, "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows), force=force)


def _remake(run: Path, found: list[Concerned], out: Path) -> None:
    from textsplice.cli.generate import opened
    from textsplice.cli.systems import open_splicer
    from textsplice.search.rows import write_row
    from textsplice.search.swap import SWAP

    traced = [each for each in found if each.generation.traced]
    found = [each for each in found if not each.generation.traced]
    with opened(out, resume=False) as file:
        for swap in (False, True):
            rows = [each.generation for each in found if (each.generation.policy == SWAP.name) == swap]
            for generation in open_splicer(run, swap=swap).generate_again(rows) if rows else ():
                write_row(file, generation, out)
    say(f"{out}: {len(found)} {'text was' if len(found) == 1 else 'texts were'} made anew.")
    if traced:
        say(f"{len(traced)} of the texts were traced, not generated: mend and trace them again yourself.")
