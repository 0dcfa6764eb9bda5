"""`textsplice trace`: the fewest splices that make any text, over all texts of a store."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Annotated

import typer

from textsplice.cli.engine import EngineName, PartsFolder, Rows, Workers, chosen_engine, cut, write_in_parts
from textsplice.cli.generate import Selectors
from textsplice.cli.output import say
from textsplice.cli.tracers import like_store, open_tracer, tallied
from textsplice.cli.writing import opened

EPILOG = """Examples:

textsplice trace runs/bundled drafts.txt --out traces.jsonl

textsplice trace approved.csv drafts.jsonl --fast

echo "The walk is easy." | textsplice trace bundled -
"""


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command("trace", epilog=EPILOG)(trace)


def trace(
    store: Annotated[
        str, typer.Argument(help="A run, a prepared folder, or a corpus as `prepare` takes it.")
    ],
    texts: Annotated[
        str, typer.Argument(help="A text per line, .jsonl with text, table, id, or .csv; - for stdin.")
    ],
    out: Annotated[Path | None, typer.Option(help="The file to write. Default: standard output.")] = None,
    split: Annotated[str | None, typer.Option(help="The split of a corpus. Default: train, or all.")] = None,
    text_column: Annotated[
        str | None, typer.Option(help="The column of a corpus that holds the text.")
    ] = None,
    fast: Annotated[
        bool, typer.Option("--fast", help="Look only at texts that share much with it: fewest is not proved.")
    ] = False,
    selectors: Selectors = False,
    engine: EngineName = None,
    workers: Workers = None,
    parts: PartsFolder = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No bar, no summary.")] = False,
) -> None:
    """Derive texts of any origin from the texts of a store with the fewest splices, and show what is in none.

    Each text is one row of JSON like those of `generate` (docs/trace.md): `explain`, `verify` and `report`
    read it. A word that stands in no source is a gap, with its place in the text.
    """
    from textsplice.progress import bar
    from textsplice.search.rows import write_row
    from textsplice.trace.reading import read_drafts, require_traceable

    bulk = chosen_engine(engine, workers, parts, prints=out is None)
    drafts = list(read_drafts(texts, like_store(texts, store, split, text_column)))
    tracer = open_tracer(store, split, text_column, quiet=quiet)
    require_traceable(drafts, tracer.sources.tokenizer)
    counts: Counter[str] = Counter()
    with opened(out) as file:
        if bulk is not None:
            from textsplice.cli.bulk import TEXTS, told_draft, trace_work

            counts = write_in_parts(
                bulk,
                trace_work(tracer, store, split, text_column, fast=fast, selectors=selectors),
                cut(drafts, TEXTS, told_draft),
                Rows(file, out, parts),
                label="tracing",
                total=len(drafts),
                quiet=quiet,
            )
        else:
            with bar(len(drafts), "tracing", quiet=quiet or out is None) as progress:
                for draft in drafts:
                    traced = tracer.trace(draft.text, draft.table, id=draft.id, exact=not fast)
                    write_row(file, traced.with_selectors() if selectors else traced, out)
                    counts.update(tallied(traced))
                    progress.advance(1)
    if not quiet:
        share = f"{counts['covered'] / counts['tokens']:.1%} of {counts['tokens']:,} words and marks"
        told = f"{len(drafts)} traced; {share} have a source; {counts['gaps']} gaps."
        say(f"{out or 'standard output'}: {told}", err=True)
