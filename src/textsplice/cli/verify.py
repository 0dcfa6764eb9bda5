"""`textsplice verify`: replays every derivation of a file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

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
        Path | None, typer.Option(help="Also compare neighbours and words with this run's folder.")
    ] = None,
    tables: Annotated[
        str | None, typer.Option(help="Also check that every one of these tables has its row.")
    ] = None,
    split: Annotated[str | None, typer.Option(help="Which split, where --tables has several.")] = None,
    distinct: Annotated[bool, typer.Option("--distinct", help="As for `generate`.")] = False,
) -> None:
    """Replay every derivation and compare everything a row says; exit with 2 at the first lie."""
    from collections import Counter

    from textsplice.search.rows import read_generations
    from textsplice.search.verify import check_complete
    from textsplice.search.verify import verify as verify_one
    from textsplice.splicer import Splicer

    proof = Splicer.untrained(run).proof if run is not None else None
    counts: Counter[str] = Counter()
    ids: list[str] = []
    for where, generation in read_generations(file):
        verify_one(generation, proof, where=where)
        counts[generation.status] += 1
        ids.append(generation.id)
    if tables is not None:
        from textsplice.cli.generate import distinct_tables
        from textsplice.corpus import read_corpus

        corpus = read_corpus(tables, split)
        examples = distinct_tables(corpus) if distinct else iter(corpus)
        check_complete(ids, (example.id for example in examples), where=str(file))
    told = ", ".join(f"{count} {status}" for status, count in sorted(counts.items()))
    typer.echo(f"{file}: {sum(counts.values())} rows are what they say ({told or 'none'}).")
