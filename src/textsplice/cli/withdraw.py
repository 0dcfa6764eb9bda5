"""`textsplice withdraw`: which texts use a source, and a run or prepared folder that does without it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from textsplice.cli.output import say
from textsplice.visible import visible

if TYPE_CHECKING:
    from collections.abc import Callable

    from textsplice.runs import Prepared, Run
    from textsplice.search.generation import Generation
    from textsplice.trace.withdraw import Concerned

EPILOG = """Examples:

textsplice withdraw runs/bundled train-0012 --texts site.jsonl --texts mail.jsonl

textsplice withdraw runs/bundled --ids-from ended.txt --texts texts.jsonl --out runs/new --remade new.jsonl

textsplice withdraw prepared/bundled train-0012 --out prepared/new
"""


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command("withdraw", epilog=EPILOG)(withdraw)


def withdraw(
    store: Annotated[
        Path, typer.Argument(help="The run, prepared folder or corpus that holds the texts.", metavar="STORE")
    ],
    ids: Annotated[list[str] | None, typer.Argument(metavar="ID", help="Ids of texts.")] = None,
    ids_from: Annotated[Path | None, typer.Option(help="A file with one id a line.")] = None,
    texts: Annotated[
        list[Path] | None,
        typer.Option(help="Published texts, as `generate` or `trace` wrote them; repeatable."),
    ] = None,
    uses: Annotated[Path | None, typer.Option(help="Write every use as one line of JSON.")] = None,
    out: Annotated[
        Path | None,
        typer.Option(help="Write the run or prepared folder without these texts into a new folder."),
    ] = None,
    remade: Annotated[
        Path | None, typer.Option(help="Write the texts that use them, made anew from --out.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite the file of --uses.")] = False,
) -> None:
    """Say which texts use a source, and which of their characters; go on without it.

    With --out, a run is written anew without these texts. Its weights have still learned from them: to
    remove that too, withdraw them from the prepared folder and train again.
    """
    from textsplice.errors import ConfigError
    from textsplice.files import require_new
    from textsplice.trace.withdraw import require_known

    wanted = _ids(ids, ids_from)
    if remade is not None and (out is None or not texts):
        raise ConfigError("needs --texts and --out.", where="--remade")
    opened = _opened(store)
    # All that can be refused is refused before anything is written.
    _require_distinct(texts or [], uses, out, remade)
    known = _known(opened, store)
    require_known(known, wanted, str(store))
    of_texts = {text: name for name in wanted for text in known[name]}
    if uses is not None:
        require_new(uses, force=force)
    if out is not None:
        _require_possible(opened, store, wanted, out)
    if remade is not None:
        require_new(remade)
    orders = _list_uses(texts or [], of_texts, wanted, uses, keep=remade is not None)
    _tell_others(known, of_texts, wanted)
    if out is not None:
        _write_without(opened, wanted, out)
    if out is not None and remade is not None:
        _remake(out, orders, remade)


def _require_distinct(texts: list[Path], *written: Path | None) -> None:
    """What is written is no other file of this command."""
    from textsplice.errors import ConfigError

    seen = {path.resolve() for path in texts}
    for path in filter(None, written):
        if path.resolve() in seen:
            raise ConfigError("is named twice, or is one of the texts.", where=str(path))
        seen.add(path.resolve())


def _ids(ids: list[str] | None, ids_from: Path | None) -> list[str]:
    from textsplice.errors import ConfigError
    from textsplice.parsing import read_text

    lines: list[str] = []
    if ids_from is not None:
        # Not `splitlines`: an id may hold what some take for the end of a line.
        lines = read_text(ids_from, ConfigError, remedy="Write one id per line, as UTF-8.").split("\n")
    found = [*(ids or []), *(line.strip() for line in lines if line.strip())]
    if not found:
        raise ConfigError("no source is named.", remedy="Give ids, or a file of ids with --ids-from.")
    return list(dict.fromkeys(found))


def _opened(store: Path) -> Run | Prepared | None:
    """The run or prepared folder; None for a corpus."""
    from textsplice.runs import Prepared, Run
    from textsplice.runs.recognized import is_export

    if Run.is_run(store) or is_export(store):  # of an export, `open` says that it has no texts
        return Run.open(store)
    return Prepared.open(store) if Prepared.is_prepared(store) else None


def _known(opened: Run | Prepared | None, store: Path) -> dict[str, list[str]]:
    """The texts of each id."""
    from textsplice.cli.tracers import read_texts

    known: dict[str, list[str]] = {}
    if opened is not None:
        pairs = zip(opened.store.ids, opened.store.texts, strict=True)
    else:
        pairs = ((example.id, example.text or "") for example in read_texts(str(store), None, None))
    for name, text in pairs:
        known.setdefault(name, []).append(text)
    return known


def _tell_others(known: dict[str, list[str]], of_texts: dict[str, str], wanted: list[str]) -> None:
    """Says which other ids have a withdrawn text: they stay."""
    for name, texts in known.items():
        for text in texts:
            if text in of_texts and name not in wanted:
                say(visible(f"{name} has the same text as {of_texts[text]} and stays: withdraw it too?"))


def _require_possible(opened: Run | Prepared | None, store: Path, wanted: list[str], out: Path) -> None:
    from textsplice.errors import ConfigError
    from textsplice.prepare.again import require_absent
    from textsplice.runs import Run
    from textsplice.trace.withdraw import require_possible

    if opened is None:
        raise ConfigError(
            f"{store} is a corpus, your own file, and is not written anew.",
            where="--out",
            remedy="Take the texts out of it yourself, or give a run or a prepared folder.",
        )
    require_possible(opened.store, wanted, str(store))
    if isinstance(opened, Run):
        Run.require_absent(out)
    else:
        require_absent(out)


def _list_uses(
    texts: list[Path], of_texts: dict[str, str], wanted: list[str], uses: Path | None, *, keep: bool
) -> list[Generation]:
    """Says and writes every use, row by row; what it takes to make the texts again, if that is to be kept."""
    import json
    from contextlib import ExitStack

    from textsplice.files import atomic_path
    from textsplice.trace.withdraw import concerned
    from textsplice.visible import escaped_json

    count = 0
    orders: list[Generation] = []
    with ExitStack() as stack:
        write: Callable[[str], object] = lambda _row: None  # noqa: E731
        if uses is not None:
            target = uses.resolve() if uses.is_symlink() else uses
            temporary = stack.enter_context(atomic_path(target))
            write = stack.enter_context(temporary.open("w", encoding="utf-8")).write
        for each in concerned({path.resolve(): path for path in texts}.values(), wanted, of_texts):
            count += 1
            _tell(each)
            for use in each.uses:
                row = {"file": str(each.file), **use.to_dict()}
                write(escaped_json(json.dumps(row, ensure_ascii=False)) + "\n")
            if keep:
                orders.append(each.order)
    noun = "text uses" if count == 1 else "texts use"
    say(f"{count} {noun} {'this source' if len(wanted) == 1 else 'these sources'}.")
    return orders


def _tell(each: Concerned) -> None:
    for use in each.uses:
        place = f"{use.start}-{use.stop} {use.quote!r}" if use.start is not None else "replaced later on"
        say(visible(f"{each.where} {use.id}: {use.source}: {place}"))


def _write_without(opened: Run | Prepared | None, wanted: list[str], out: Path) -> None:
    from textsplice.runs import Run
    from textsplice.trace.withdraw import prepared_without, run_without

    noun = f"{len(wanted)} {'text' if len(wanted) == 1 else 'texts'}"
    if isinstance(opened, Run):
        run_without(opened, wanted, out)
        say(f"{out}: the run without {noun}.")
    elif opened is not None:
        prepared_without(opened, wanted, out, quiet=False)
        say(f"{out}: the prepared folder without {noun}. Its corpus still has them.")


def _remake(folder: Path, orders: list[Generation], out: Path) -> None:
    from textsplice.cli.generate import opened
    from textsplice.cli.systems import open_splicer
    from textsplice.runs import Run
    from textsplice.search.rows import write_row

    generated = [row for row in orders if not row.traced]
    by_swap = [row for row in generated if _asked_swap(row)]
    by_policy = [row for row in generated if not _asked_swap(row)]
    if not Run.is_run(folder):
        generated, by_policy = by_swap, []
    with opened(out) as file:
        for rows in filter(None, (by_policy, by_swap)):
            splicer = open_splicer(folder, swap=rows is by_swap)
            for generation in splicer.generate_again(rows):
                write_row(file, generation, out)
    say(f"{out}: {len(generated)} {'text was' if len(generated) == 1 else 'texts were'} made anew.")
    traced = sum(row.traced is not None for row in orders)
    if traced:
        say(f"{traced} of the texts were traced, not generated: mend and trace them again yourself.")
    if rest := len(orders) - len(generated) - traced:
        say(f"{rest} of the texts were made by a policy: train one on {folder}, or withdraw from its run.")


def _asked_swap(row: Generation) -> bool:
    """Whether swap was asked, which has no weights; an approved text names those of a policy that was."""
    from textsplice.search.approved import APPROVED
    from textsplice.search.swap import SWAP

    return row.policy == SWAP.name or (row.policy == APPROVED.name and row.weights is None)
