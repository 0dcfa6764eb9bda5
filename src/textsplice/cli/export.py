"""`textsplice export`: a run as a small folder that can be given away."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from textsplice.cli.output import say
from textsplice.visible import visible

EPILOG = """Examples:

textsplice export runs/e2e-drafts --out models/e2e-drafts

textsplice export runs/mine --out mine --figures dev.scores.json --license "CC BY 4.0" --note "Walks."

textsplice generate models/e2e-drafts tables.jsonl --store prepared/e2e
"""


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command("export", epilog=EPILOG)(export)


def export(
    run: Annotated[Path, typer.Argument(help="A run's folder.")],
    out: Annotated[Path, typer.Option(help="A new or empty folder.")],
    figures: Annotated[
        list[Path] | None,
        typer.Option(help="Scores for the card, as `evaluate --json` printed them; repeatable."),
    ] = None,
    license_: Annotated[str, typer.Option("--license", help="The licence, for the card.")] = "",
    note: Annotated[str, typer.Option(help="A sentence for the card.")] = "",
) -> None:
    """Write a run as a small folder that can be given away: weights in bfloat16, settings, a card, no texts.

    Whoever uses it prepares the same corpus and names that folder with `generate --store`.
    """
    from textsplice.runs import export_run

    made = export_run(run, out, figures=figures or [], license=license_, note=note)
    size = sum(path.stat().st_size for path in made.path.iterdir())
    say(f"{out}: {size / 1e6:.1f} MB, weights {made.weights_id}. Read its card: {made.card}")
    search = made.config.search
    for name in dict.fromkeys((search.judge, *search.writers)):
        if name in ("", made.path.resolve().name):
            continue
        say(visible(f"It needs the run {name!r} too: export that into {made.path.resolve().parent / name}."))
