"""`textsplice experiment ratings`: sheets for people, and what they say."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from textsplice.cli.output import say

app = typer.Typer(help="Human ratings: make sheets, read them back.", no_args_is_help=True)


@app.command()
def make(
    outputs: Annotated[
        list[str], typer.Argument(metavar="OUTPUTS…", help="Files that `generate` wrote; NAME=FILE.")
    ],
    out: Annotated[Path, typer.Option(help="The folder for the sheets.")] = Path("experiments/ratings"),
    examples: Annotated[int, typer.Option(min=1, help="The number of random tables.")] = 45,
    raters: Annotated[int, typer.Option(min=1, help="The number of raters.")] = 3,
    seed: Annotated[int, typer.Option(help="Seed of the tables and their order.")] = 1,
) -> None:
    """Write a form (HTML) and a sheet (CSV) for each rater, and the key that raters must not see.

    Each rater sees each chosen table once per system, blinded, in a balanced order, and gives marks from 1
    to 5 for naturalness, faithfulness and informativeness. Filled sheets are never overwritten.

    Examples:

        textsplice experiment ratings make full=full.jsonl s2s=copy.jsonl --examples 45 --raters 3
    """
    from textsplice.errors import ConfigError
    from textsplice.evaluate.outputs import read_outputs
    from textsplice.evaluate.ratings.items import make_items
    from textsplice.evaluate.ratings.sheets import write_sheets

    systems: dict[str, Path] = {}
    for given in outputs:
        name, equals, path = given.partition("=")
        systems[name if equals else Path(given).stem] = Path(path if equals else given)
    if len(systems) < max(2, len(outputs)):
        raise ConfigError("ratings compare at least two systems with different names.", where="OUTPUTS")
    read = {name: read_outputs(path) for name, path in systems.items()}
    written = write_sheets(out, make_items(read, examples=examples, raters=raters, seed=seed), seed=seed)
    for path in written:
        say(path)
    say(f"Send each rater one file; keep {written[-1].name} to yourself.")


@app.command()
def read(
    folder: Annotated[Path, typer.Argument(help="The folder that `ratings make` wrote.")],
    filled: Annotated[list[Path], typer.Argument(help="The filled CSV files.")],
    out: Annotated[Path | None, typer.Option(help="The folder for results. Default: FOLDER.")] = None,
    figure: Annotated[bool, typer.Option("--figure/--no-figure", help="Draw a figure.")] = True,
) -> None:
    """Print means, analysis of variance (system, example, rater) and Tukey HSD of filled sheets.

    Raters who left out a mark are excluded and named.

    Examples:

        textsplice experiment ratings read experiments/ratings rater-*-filled.csv
    """
    from textsplice.evaluate.experiments.record import Result, results_folder
    from textsplice.evaluate.figures import check_figures, ratings_figure
    from textsplice.evaluate.ratings.analysis import analyses_as_data, analyses_as_markdown, analyze
    from textsplice.evaluate.ratings.reading import read_ratings
    from textsplice.evaluate.ratings.sheets import KEY_FILE

    if figure:
        check_figures()
    target = results_folder(out or folder, "ratings", figure=figure)
    ratings = read_ratings(folder / KEY_FILE, filled)
    analyses = analyze(ratings)
    text = analyses_as_markdown(ratings, analyses)
    drawn = ratings_figure("ratings", analyses) if figure else {}
    Result("ratings", analyses_as_data(ratings, analyses), text, drawn).write(target)
    say(text)
