"""`textsplice trace`: the fewest splices that make any text, over all texts of a store."""

from __future__ import annotations

import warnings
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from textsplice.cli.engine import EngineName, PartsFolder, Workers, chosen_engine, cut, write_in_parts
from textsplice.cli.generate import Selectors
from textsplice.cli.output import say
from textsplice.cli.reading import say_lists
from textsplice.cli.writing import opened

if TYPE_CHECKING:
    from textsplice.config import CorpusConfig
    from textsplice.corpus import Corpus
    from textsplice.search.generation import Generation
    from textsplice.trace.tracing import Tracer

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

    bulk = chosen_engine(engine, workers, parts)
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
                file,
                out,
                folder=parts,
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


def tallied(traced: Generation) -> dict[str, int]:
    """What the summary counts of a trace."""
    tokens = len(traced.tokens)
    covered = round(tokens * (traced.traced.covered if traced.traced else 0))
    return {"tokens": tokens, "covered": covered, "gaps": len(traced.gaps)}


def open_tracer(
    store: str, split: str | None, text_column: str | None, *, kept: bool = True, quiet: bool = False
) -> Tracer:
    """The tracer of a run, a prepared folder or a corpus; `kept` as for `open_texts`."""
    from textsplice.runs import Prepared, Run
    from textsplice.runs.recognized import is_export
    from textsplice.text.linearize import Unsaid
    from textsplice.trace.opening import open_texts
    from textsplice.trace.tracing import Tracer

    if Run.is_run(store) or is_export(store):  # of an export, `open` says that it has no texts
        opened = Run.open(store)
    elif Prepared.is_prepared(store):
        opened = Prepared.open(store)
    else:
        opened = read_texts(store, split, text_column)
        say_lists(opened.lists, store, quiet=quiet)
    unsaid = Unsaid.of_kinds(opened.kinds if isinstance(opened, (Run, Prepared)) else {})
    with warnings.catch_warnings(record=True) as caught:
        tracer = Tracer(open_texts(opened, kept=kept, quiet=quiet), unsaid)
    for warning in caught:
        say(f"warning: {warning.message}", err=True)
    return tracer


def read_texts(store: str, split: str | None, text_column: str | None) -> Corpus:
    """The approved texts of a corpus that was not prepared."""
    from textsplice.corpus import read_corpus

    return read_corpus(store, split or _default_split(store), text_column=text_column).require_texts()


def like_store(drafts: str, store: str, split: str | None, text_column: str | None) -> CorpusConfig | None:
    """How a file of cells with drafts is read: as the corpus of the store; None for other drafts."""
    from textsplice.cli.systems import corpus_settings
    from textsplice.config import CorpusConfig
    from textsplice.runs import Prepared, Run
    from textsplice.trace.reading import has_cells

    if not has_cells(drafts):
        return None
    if Run.is_run(store) or Prepared.is_prepared(store):
        known = corpus_settings(store)
    else:
        known = CorpusConfig(list_columns=read_texts(store, split, text_column).lists)
    return replace(known, text_column=text_column or known.text_column)


def _default_split(source: str) -> str | None:
    """Every row of one file; the training split of a folder."""
    return None if Path(source).is_file() else "train"
