"""`textsplice experiment`: the paper's tables and figures, each one command."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from textsplice.cli import ratings
from textsplice.cli.systems import (
    corpus_of,
    generate_texts,
    generations_of,
    matched_outputs,
    named_paths,
    open_system,
    read_references,
    with_neighbors,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from textsplice.search.rules import Rule

HELP = "The paper's experiments; each writes JSON, Markdown and, where it helps, a figure into a folder."
app = typer.Typer(help=HELP, no_args_is_help=True)
app.add_typer(ratings.app, name="ratings")

Systems = Annotated[
    list[str],
    typer.Argument(
        metavar="SYSTEM…",
        help="A run's folder, a prepared folder (swap) or a file of generations; NAME=PATH gives it a name.",
    ),
]
Runs = Annotated[
    list[str], typer.Argument(metavar="RUN…", help="A run's folder, or a prepared folder (swap); NAME=PATH.")
]
References = Annotated[str, typer.Option(help="A prepared folder, or a corpus as `prepare` takes it.")]
Split = Annotated[str, typer.Option(help="The split.")]
Out = Annotated[Path, typer.Option(help="The folder that results go to.")]
Limit = Annotated[int | None, typer.Option(min=1, help="Only the first so many tables.")]
WantFigure = Annotated[bool, typer.Option("--figure/--no-figure", help="Whether to draw.")]


@app.callback()
def experiment() -> None:
    """The paper's experiments."""


@app.command()
def leakage(
    corpus: Annotated[str, typer.Argument(help="A corpus with splits, or a prepared folder.")],
    out: Out = Path("experiments/leakage"),
    worst: Annotated[int, typer.Option(min=0, help="How many of the most frequent forms to show.")] = 10,
) -> None:
    """How much of dev and test stands delexicalised in train?

    Examples:

        textsplice experiment leakage e2e:data/e2e

        textsplice experiment leakage prepared/e2e --out experiments/leakage
    """
    from textsplice.evaluate.leakage import leaks, leaks_as_data, leaks_as_markdown

    found = leaks(corpus, worst=worst)
    _write(out, "leakage", leaks_as_data(corpus, found), leaks_as_markdown(corpus, found))


@app.command()
def automatic(
    systems: Systems,
    references: References,
    split: Split = "dev",
    out: Out = Path("experiments/automatic"),
    metrics: Annotated[str | None, typer.Option(help="As for `evaluate`.")] = None,
    lexicon: Annotated[str | None, typer.Option(help="As for `evaluate`.")] = None,
    no_marg: Annotated[
        bool, typer.Option("--no-marg", help="LRT also without summing over a word's places.")
    ] = False,
    limit: Limit = None,
) -> None:
    """Scores and slot errors of several systems.

    Examples:

        textsplice experiment automatic full=runs/full swap=prepared/e2e --references prepared/e2e

        textsplice experiment automatic full=dev.jsonl --references prepared/e2e --no-marg
    """
    from textsplice.cli.evaluate import corpus_lexicon, wanted_metrics
    from textsplice.evaluate.report import evaluate
    from textsplice.evaluate.tables import markdown

    items = read_references(references, split, limit)
    asked = wanted_metrics(metrics)
    evaluations = [
        evaluate(
            matched,
            asked,
            name=name,
            data=f"{references}/{split}",
            lexicon=corpus_lexicon(lexicon, corpus_of(references)),
        )
        for name, matched in matched_outputs(systems, items, out, no_marg=no_marg).items()
    ]
    rows = [
        [
            each.name,
            *(f"{m.score.points:.2f}" for m in each.measurements),
            *(
                []
                if each.slots is None
                else [f"{each.slots.error_rate:.2%}", f"{each.slots.texts_with_errors:,}"]
            ),
        ]
        for each in evaluations
    ]
    slots = [] if evaluations[0].slots is None else ["slot errors", "texts with one"]
    text = f"# {references}, {split}: {len(items):,} tables\n\n"
    text += markdown(["", *asked, *slots], rows)
    text += "\n" + "\n".join(f"`{m.score.signature}`  " for m in evaluations[0].measurements) + "\n"
    _write(out, "automatic", {"systems": [each.to_dict() for each in evaluations]}, text)


@app.command()
def interpretability(
    systems: Systems,
    references: References,
    split: Split = "dev",
    out: Out = Path("experiments/interpretability"),
    no_marg: Annotated[bool, typer.Option("--no-marg", help="LRT also without summing.")] = False,
    limit: Limit = 500,
) -> None:
    """Splices, neighbours and the share of copied words, over 500 examples.

    Examples:

        textsplice experiment interpretability full=runs/full lrt=runs/lrt --references e2e:data/e2e --no-marg
    """
    from textsplice.evaluate import experiments
    from textsplice.evaluate.tables import markdown

    items = read_references(references, split, limit)
    found = [
        experiments.interpretability(name, generations)
        for name, generations in generations_of(systems, items, out, no_marg=no_marg).items()
    ]
    rows = [
        [
            each.system,
            f"{each.splices:.1f}",
            f"{each.neighbors:.1f}",
            f"{each.copied:.1%}",
            f"{each.from_table:.1%}",
            f"{each.from_neighbors:.1%}",
            each.attribution,
        ]
        for each in found
    ]
    header = ["", "splices", "neighbours", "copied", "from the table", "from neighbours", "provenance"]
    _write(out, "interpretability", {"systems": experiments.as_data(found)}, markdown(header, rows))


@app.command()
def neighbor_curve(
    runs: Runs,
    references: References,
    split: Split = "dev",
    out: Out = Path("experiments/neighbor-curve"),
    ks: Annotated[str, typer.Option(help="Numbers of neighbours.")] = "1,2,3,5,8,10,15,20",
    metric: Annotated[str, typer.Option(help="What to plot.")] = "ROUGE_L",
    limit: Limit = None,
    figure: WantFigure = True,
) -> None:
    """A score against the number of neighbours at test time.

    Examples:

        textsplice experiment neighbor-curve full=runs/full --references e2e:data/e2e --ks 1,5,20 --limit 100
    """
    from textsplice.evaluate.experiments import matched_generations
    from textsplice.evaluate.figures import line_figure
    from textsplice.evaluate.metrics import measure
    from textsplice.evaluate.score import metric_named
    from textsplice.evaluate.tables import markdown

    asked = metric_named(metric, "--metric")
    numbers = _numbers(ks)
    items = read_references(references, split, limit)
    lines: dict[str, list[tuple[float, float]]] = {}
    for name, path in named_paths(runs).items():
        splicer = open_system(path)
        for k in numbers:
            matched = matched_generations(generate_texts(with_neighbors(splicer, k), items), items)
            [found] = measure(matched.texts, matched.references, [asked], data=f"{references}/{split}")
            lines.setdefault(name, []).append((k, found.score.points))
    rows = [[name, *(f"{value:.2f}" for _, value in points)] for name, points in lines.items()]
    text = markdown([asked, *(f"k = {k}" for k in numbers)], rows)
    _write(out, "neighbor-curve", {"metric": asked, "lines": lines}, text)
    if figure:
        line_figure(out / "neighbor-curve", lines, x="neighbours", y=asked.replace("_", "-"))


@app.command()
def control(
    runs: Runs,
    references: References,
    split: Split = "dev",
    out: Out = Path("experiments/control"),
    least: Annotated[int, typer.Option(min=1, help="How many sentences are wanted.")] = 3,
    limit: Limit = None,
    figure: WantFigure = True,
) -> None:
    """How often has a text three sentences if only such neighbours are offered, and none is replaced?

    Examples:

        textsplice experiment control full=runs/full lrt=runs/lrt --references e2e:data/e2e
    """
    from textsplice.evaluate import experiments
    from textsplice.evaluate.figures import bar_figure
    from textsplice.evaluate.tables import markdown
    from textsplice.search.rules import KeepSentences, NeighborsWhere
    from textsplice.search.sentences import count_sentences

    label = f"at least {least} sentences"
    such = NeighborsWhere(label, lambda neighbor: count_sentences(neighbor.tokens) >= least)
    settings: dict[str, list[Rule]] = {
        "no rule": [],
        "only such neighbours": [such],
        "and no sentence replaced": [such, KeepSentences()],
    }
    items = read_references(references, split, limit)
    found = [
        experiments.control(name, rules, generate_texts(splicer, items, rules=given), least=least)
        for name, path in named_paths(runs).items()
        for splicer in [open_system(path)]
        for rules, given in settings.items()
    ]
    rows = [
        [
            f"{c.system}, {c.rules}",
            f"{c.share:.1%}",
            f"{c.sentences:.2f}",
            f"{c.abstained:,}",
            f"{c.outputs:,}",
        ]
        for c in found
    ]
    header = ["", f"≥ {least} sentences", "sentences a text", "abstained", "tables"]
    _write(out, "control", {"least": least, "rows": experiments.as_data(found)}, markdown(header, rows))
    if figure:
        bars = {f"{c.system}, {c.rules}": 100 * c.share for c in found}
        bar_figure(out / "control", bars, x=f"% of texts with ≥ {least} sentences")


@app.command()
def exclusion(
    prepared: Annotated[
        list[Path], typer.Argument(help="Prepared folders, say of neighbors.exclude = self and same-table.")
    ],
    out: Out = Path("experiments/exclusion"),
    runs: Annotated[
        list[str] | None, typer.Option("--run", help="A run of either, to be scored too; repeatable.")
    ] = None,
    split: Split = "dev",
    limit: Limit = None,
) -> None:
    """What training sees of neighbours against what testing will see, for two ways to leave some out.

    Examples:

        textsplice experiment exclusion prepared/e2e-self prepared/e2e

        textsplice experiment exclusion prepared/e2e-self prepared/e2e --run runs/self --run runs/same-table
    """
    from dataclasses import asdict

    from textsplice.cli.evaluate import wanted_metrics
    from textsplice.evaluate.experiments import exclusion_as_markdown
    from textsplice.evaluate.report import evaluate
    from textsplice.evaluate.tables import markdown
    from textsplice.prepare import Prepared
    from textsplice.prepare.summary import summarize

    opened = {path: Prepared.open(path) for path in prepared}
    summaries = {
        f"{path.name} ({each.config.neighbors.exclude})": {s: summarize(each, s) for s in ("train", split)}
        for path, each in opened.items()
    }
    text = exclusion_as_markdown(summaries)
    scores: list[dict[str, object]] = []
    if runs:
        items = read_references(str(prepared[0]), split, limit)
        evaluations = [
            evaluate(matched, wanted_metrics("BLEU,NIST"), name=name, data=f"{prepared[0]}/{split}")
            for name, matched in matched_outputs(runs, items, out).items()
        ]
        scores = [each.to_dict() for each in evaluations]
        rows = [[e.name, *(f"{m.score.points:.2f}" for m in e.measurements)] for e in evaluations]
        text += "\n" + markdown(["", "BLEU", "NIST"], rows)
    data = {name: {s: asdict(each) for s, each in by.items()} for name, by in summaries.items()}
    _write(out, "exclusion", {"prepared": data, "runs": scores}, text)


@app.command()
def samples(
    systems: Systems,
    references: References,
    split: Split = "dev",
    out: Out = Path("experiments/samples"),
    count: Annotated[int, typer.Option(min=1, help="How many tables.")] = 20,
    seed: Annotated[int, typer.Option(help="Which tables.")] = 1,
    lexicon: Annotated[str | None, typer.Option(help="As for `evaluate`.")] = None,
) -> None:
    """Texts of several systems side by side, with what the slot checker says, and their derivations.

    Examples:

        textsplice experiment samples full=runs/full swap=prepared/e2e --references e2e:data/e2e --count 50
    """
    import random

    from textsplice.cli.evaluate import corpus_lexicon
    from textsplice.evaluate import experiments
    from textsplice.files import atomic_write_text
    from textsplice.report.document import document
    from textsplice.report.plain import plain
    from textsplice.slots.lexicon import Lexicon

    items = read_references(references, split, None)
    chosen = [items[n] for n in sorted(random.Random(seed).sample(range(len(items)), min(count, len(items))))]
    name = corpus_lexicon(lexicon, corpus_of(references))
    generated = generations_of(systems, chosen, out)
    found = experiments.samples(
        chosen,
        {system: [g.text for g in generations] for system, generations in generated.items()},
        None if name is None else Lexicon.load(name),
    )
    data = {"seed": seed, "samples": experiments.as_data(found)}
    _write(out, "samples", data, experiments.samples_as_markdown(found))
    for system, generations in generated.items():
        steps = "\n\n---\n\n".join(plain(document(generation)) for generation in generations)
        atomic_write_text(out / f"{system}-derivations.txt", steps + "\n")


def register(parent: typer.Typer) -> None:
    """Adds `experiment` to the command line."""
    parent.add_typer(app, name="experiment")


def _numbers(text: str) -> list[int]:
    from textsplice.errors import ConfigError

    parts = [part.strip() for part in text.split(",")]
    if not all(part.isdigit() and int(part) > 0 for part in parts):
        raise ConfigError(f"{text!r} is not a list of numbers such as 1,5,20.", where="--ks")
    return [int(part) for part in parts]


def _write(out: Path, name: str, data: Mapping[str, object], text: str) -> None:
    from json import dumps

    from textsplice.files import atomic_write_text

    atomic_write_text(out / f"{name}.json", dumps(data, indent=2, ensure_ascii=False) + "\n")
    atomic_write_text(out / f"{name}.md", text)
    print(text)
    print(f"{out}: {name}.json, {name}.md")
