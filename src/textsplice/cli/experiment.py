"""`textsplice experiment`: the paper's tables and figures, one command each."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from textsplice.cli import ratings
from textsplice.cli.generate import Store
from textsplice.cli.output import say
from textsplice.cli.systems import (
    by_neighbors,
    check_values,
    named_paths,
    open_system,
    sources,
    unsummed,
    uses_neighbors,
)

if TYPE_CHECKING:
    from textsplice.evaluate.experiments.record import Result

HELP = "The paper's experiments. Each writes JSON, Markdown and, where it helps, a figure into a folder."
app = typer.Typer(help=HELP, no_args_is_help=True)
app.add_typer(ratings.app, name="ratings")

Systems = Annotated[
    list[str],
    typer.Argument(
        metavar="SYSTEM…",
        help="A run, an export, a prepared folder (swap) or a file of generations; NAME=PATH names it.",
    ),
]
Runs = Annotated[
    list[str],
    typer.Argument(metavar="RUN…", help="A run, an export, or a prepared folder (swap); NAME=PATH."),
]
References = Annotated[str, typer.Option(help="A prepared folder, or a corpus as `prepare` takes it.")]
Split = Annotated[str, typer.Option(help="The split.")]
Out = Annotated[Path | None, typer.Option(help="The folder for results. Default: experiments/NAME/SPLIT.")]
Values = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="search.KEY=VALUE", help="Change a search setting; repeatable."),
]
Limit = Annotated[int | None, typer.Option(min=1, help="Only the first tables, up to this number.")]
NoMarg = Annotated[
    bool, typer.Option("--no-marg", help="Also LRT runs without summing over a word's occurrences.")
]
WantFigure = Annotated[bool, typer.Option("--figure/--no-figure", help="Draw a figure.")]


@app.callback()
def experiment() -> None:
    """The paper's experiments."""


@app.command()
def leakage(
    corpus: Annotated[str, typer.Argument(help="A corpus with splits, or a prepared folder.")],
    out: Annotated[Path, typer.Option(help="The folder for results.")] = Path("experiments/leakage"),
    worst: Annotated[int, typer.Option(min=0, help="How many of the most frequent forms to show.")] = 10,
) -> None:
    """How many references of dev and test appear in train once values are replaced by field names?

    Examples:

        textsplice experiment leakage e2e:data/e2e

        textsplice experiment leakage prepared/e2e --out experiments/leakage
    """
    from textsplice.evaluate.experiments import leakage as experiment

    _print(experiment.run(corpus, out=out, worst=worst), out)


@app.command()
def automatic(
    systems: Systems,
    references: References,
    split: Split = "dev",
    out: Out = None,
    metrics: Annotated[str | None, typer.Option(help="As for `evaluate`.")] = None,
    lexicon: Annotated[str | None, typer.Option(help="As for `evaluate`.")] = None,
    no_marg: NoMarg = False,
    limit: Limit = None,
    store: Store = None,
    values: Values = None,
) -> None:
    """Scores and slot errors of several systems.

    Examples:

        textsplice experiment automatic full=runs/full swap=prepared/e2e --references prepared/e2e

        textsplice experiment automatic full=dev.jsonl lrt=runs/lrt --references e2e:data/e2e --no-marg

        textsplice experiment automatic runs/full --references prepared/e2e --set search.beam=5
    """
    from textsplice.cli.evaluate import wanted_metrics
    from textsplice.evaluate.experiments import automatic as experiment

    paths, changes = named_paths(systems, files=True), check_values(values or [])
    folder = _folder(out, "automatic", split)
    result = experiment.run(
        sources(paths, values=changes, store=store),
        references,
        out=folder,
        split=split,
        metrics=wanted_metrics(metrics),
        lexicon=lexicon,
        unsummed=unsummed(paths, no_marg=no_marg),
        limit=limit,
        values=changes,
    )
    _print(result, folder)


@app.command()
def interpretability(
    systems: Systems,
    references: References,
    split: Split = "dev",
    out: Out = None,
    no_marg: NoMarg = False,
    limit: Limit = 500,
    store: Store = None,
    values: Values = None,
) -> None:
    """Splices, neighbors and the share of copied words, over 500 tables.

    Examples:

        textsplice experiment interpretability full=runs/full lrt=runs/lrt --references e2e:data/e2e --no-marg

        textsplice experiment interpretability experiments/automatic/dev/full.jsonl --references e2e:data/e2e
    """
    from textsplice.evaluate.experiments import interpretability as experiment

    paths, changes = named_paths(systems, files=True), check_values(values or [])
    folder = _folder(out, "interpretability", split)
    result = experiment.run(
        sources(paths, values=changes, store=store),
        references,
        out=folder,
        split=split,
        unsummed=unsummed(paths, no_marg=no_marg),
        limit=limit,
        values=changes,
    )
    _print(result, folder)


@app.command()
def neighbor_curve(
    runs: Runs,
    references: References,
    split: Split = "dev",
    out: Out = None,
    ks: Annotated[str, typer.Option(help="Numbers of neighbors.")] = "1,2,3,5,8,10,15,20",
    metric: Annotated[str, typer.Option(help="What to plot.")] = "ROUGE_L",
    limit: Limit = None,
    figure: WantFigure = True,
    store: Store = None,
    values: Values = None,
) -> None:
    """A score against the number of neighbors at test time.

    The search is the paper's, whatever the runs' settings: beam 5, likelihood, start_neighbors 1, no
    slots_first. With 8 start neighbors, fewer neighbors would also mean fewer starts. `--set` changes this.

    Examples:

        textsplice experiment neighbor-curve full=runs/full --references e2e:data/e2e --ks 1,5,20 --limit 100
    """
    from textsplice.evaluate.experiments import neighbor_curve as experiment

    paths = named_paths(runs)
    folder = _folder(out, "neighbor-curve", split)
    result = experiment.run(
        by_neighbors(paths, store),
        references,
        out=folder,
        split=split,
        numbers=_numbers(ks),
        metric=metric,
        without_neighbors=[name for name, path in paths.items() if not uses_neighbors(path)],
        limit=limit,
        figure=figure,
        values=check_values(values or []),
    )
    _print(result, folder)


@app.command()
def control(
    runs: Runs,
    references: References,
    split: Split = "dev",
    out: Out = None,
    least: Annotated[int, typer.Option(min=1, help="The wanted number of sentences.")] = 3,
    limit: Limit = None,
    figure: WantFigure = True,
    store: Store = None,
    values: Values = None,
) -> None:
    """How often does a text have three sentences: with suitable neighbors only, or under a rule?

    Examples:

        textsplice experiment control full=runs/full lrt=runs/lrt --references e2e:data/e2e
    """
    from functools import partial

    from textsplice.evaluate.experiments import control as experiment

    folder = _folder(out, "control", split)
    result = experiment.run(
        {name: partial(open_system, path, store) for name, path in named_paths(runs).items()},
        references,
        out=folder,
        split=split,
        least=least,
        limit=limit,
        figure=figure,
        values=check_values(values or []),
    )
    _print(result, folder)


@app.command()
def exclusion(
    prepared: Annotated[
        list[Path],
        typer.Argument(help="Prepared folders, such as with neighbors.exclude = self and same-table."),
    ],
    out: Out = None,
    runs: Annotated[
        list[str] | None, typer.Option("--run", help="A run of one of them, to be scored too; repeatable.")
    ] = None,
    split: Split = "dev",
    limit: Limit = None,
    store: Store = None,
    values: Values = None,
) -> None:
    """What training sees of neighbors against what testing will see, for different ways to exclude some.

    Examples:

        textsplice experiment exclusion prepared/e2e-self prepared/e2e

        textsplice experiment exclusion prepared/e2e-self prepared/e2e --run runs/self --run runs/same-table
    """
    from textsplice.evaluate.experiments import exclusion as experiment

    changes = check_values(values or [])
    folder = _folder(out, "exclusion", split)
    result = experiment.run(
        prepared,
        sources(named_paths(runs, files=True), values=changes, store=store) if runs else {},
        out=folder,
        split=split,
        limit=limit,
        values=changes,
    )
    _print(result, folder)


@app.command()
def samples(
    systems: Systems,
    references: References,
    split: Split = "dev",
    out: Out = None,
    count: Annotated[int, typer.Option(min=1, help="How many tables.")] = 20,
    seed: Annotated[int, typer.Option(help="Which tables.")] = 1,
    lexicon: Annotated[str | None, typer.Option(help="As for `evaluate`.")] = None,
    store: Store = None,
    values: Values = None,
) -> None:
    """Texts of several systems side by side, with the slot checker's findings, and their derivations.

    Examples:

        textsplice experiment samples full=runs/full swap=prepared/e2e --references e2e:data/e2e --count 50
    """
    from textsplice.evaluate.experiments import samples as experiment
    from textsplice.report.document import document
    from textsplice.report.plain import plain

    changes = check_values(values or [])
    folder = _folder(out, "samples", split)
    result = experiment.run(
        sources(named_paths(systems, files=True), values=changes, store=store),
        references,
        out=folder,
        show=lambda generation: plain(document(generation)),
        split=split,
        count=count,
        seed=seed,
        lexicon=lexicon,
        values=changes,
    )
    _print(result, folder)


def register(parent: typer.Typer) -> None:
    """Adds `experiment` to the command line."""
    parent.add_typer(app, name="experiment")


def _folder(out: Path | None, name: str, split: str) -> Path:
    return out or Path("experiments") / name / split


def _numbers(text: str) -> list[int]:
    from textsplice.errors import ConfigError

    parts = [part.strip() for part in text.split(",")]
    if not all(part.isdigit() and int(part) > 0 for part in parts):
        raise ConfigError(f"{text!r} is not a list of numbers such as 1,5,20.", where="--ks")
    return [int(part) for part in parts]


def _print(result: Result, out: Path) -> None:
    say(result.markdown)
    say(f"{out}: {', '.join([f'{result.name}.json', f'{result.name}.md', *result.files])}")
