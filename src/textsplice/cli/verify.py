"""`textsplice verify`: replays every derivation of a file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from textsplice.corpus import Table

EPILOG = """Examples:

textsplice verify texts.jsonl

textsplice verify texts.jsonl --run runs/bundled --tables tables.jsonl
"""


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command("verify", epilog=EPILOG)(verify)


def verify(
    file: Annotated[Path, typer.Argument(help="What `generate` wrote.")],
    run: Annotated[
        Path | None,
        typer.Option(help="Also compare neighbors, words, policy, weights and tokenizer with this run's."),
    ] = None,
    tables: Annotated[
        str | None, typer.Option(help="Also check that each of these tables, and no other, has its row.")
    ] = None,
    split: Annotated[
        str | None, typer.Option(help="The split of --tables. One file: every row by default.")
    ] = None,
    text_column: Annotated[
        str | None,
        typer.Option(help="The column of --tables that holds the text. Default: that of --run, if present."),
    ] = None,
    distinct: Annotated[bool, typer.Option("--distinct", help="As for `generate`.")] = False,
) -> None:
    """Replay every derivation and compare what it makes; exit with 2 at the first lie.

    Compared are text, tokens, provenance, table, neighbors, rules and attribution, of rows that
    abstained all but the text. Not checked, since only a new search could tell: scores, alternatives,
    search settings, and whether the status had to be what it is.
    """
    from collections import Counter

    from textsplice.search.rows import read_generations
    from textsplice.search.verify import check_complete
    from textsplice.search.verify import verify as verify_one
    from textsplice.splicer import Splicer

    own = Splicer.untrained(run) if run is not None else None
    proof = own.proof if own is not None else None
    counts: Counter[str] = Counter()
    rows: list[tuple[str, Table]] = []
    for where, generation in read_generations(file):
        verify_one(generation, proof, where=where)
        counts[generation.status] += 1
        rows.append((generation.id, generation.table))
    if tables is not None:
        from textsplice.cli.generate import distinct_tables
        from textsplice.corpus import read_corpus

        corpus = read_corpus(tables, split, text_column=text_column, like=own.config.corpus if own else None)
        examples = distinct_tables(corpus) if distinct else iter(corpus)
        check_complete(rows, ((example.id, example.table) for example in examples), where=str(file))
    told = ", ".join(f"{count} {status}" for status, count in sorted(counts.items()))
    typer.echo(f"{file}: {sum(counts.values())} rows are what they say ({told or 'none'}).")
