"""`textsplice experiment`: the paper's tables and figures, each one command."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from textsplice.cli import ratings
from textsplice.cli.record import about, systems_as_markdown
from textsplice.cli.systems import (
    PAPER_SEARCH,
    System,
    Wanted,
    check_values,
    corpus_of,
    generate_texts,
    generated,
    named_paths,
    open_system,
    read_references,
    search_of,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from textsplice.evaluate.score import Metric
    from textsplice.search.rules import Rule

HELP = "The paper's experiments; each writes JSON, Markdown and, where it helps, a figure into a folder."
ASK_FOR_OTHERS = "--metrics BLEU,NIST"  # what `evaluate` says of metrics that can't be computed
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
Out = Annotated[
    Path | None, typer.Option(help="The folder that results go to; if not said, experiments/NAME/SPLIT.")
]
Values = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="search.KEY=VALUE", help="Search otherwise than the runs say; repeatable."),
]
Limit = Annotated[int | None, typer.Option(min=1, help="Only the first so many tables.")]
NoMarg = Annotated[
    bool, typer.Option("--no-marg", help="Runs of LRT also without summing over a word's places.")
]
WantFigure = Annotated[bool, typer.Option("--figure/--no-figure", help="Whether to draw.")]


@app.callback()
def experiment() -> None:
    """The paper's experiments."""


@app.command()
def leakage(
    corpus: Annotated[str, typer.Argument(help="A corpus with splits, or a prepared folder.")],
    out: Annotated[Path, typer.Option(help="The folder that results go to.")] = Path("experiments/leakage"),
    worst: Annotated[int, typer.Option(min=0, help="How many of the most frequent forms to show.")] = 10,
) -> None:
    """How much of dev and test stands delexicalised in train?

    Examples:

        textsplice experiment leakage e2e:data/e2e

        textsplice experiment leakage prepared/e2e --out experiments/leakage
    """
    from textsplice.evaluate.leakage import leaks, leaks_as_data, leaks_as_markdown

    found = leaks(corpus, worst=worst)
    data = {"about": about(corpus), **leaks_as_data(corpus, found)}
    _write(out, "leakage", data, leaks_as_markdown(corpus, found))


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
    values: Values = None,
) -> None:
    """Scores and slot errors of several systems.

    Examples:

        textsplice experiment automatic full=runs/full swap=prepared/e2e --references prepared/e2e

        textsplice experiment automatic full=dev.jsonl lrt=runs/lrt --references e2e:data/e2e --no-marg

        textsplice experiment automatic runs/full --references prepared/e2e --set search.beam=5
    """
    from textsplice.cli.evaluate import corpus_lexicon
    from textsplice.evaluate import experiments
    from textsplice.evaluate.report import evaluate
    from textsplice.evaluate.tables import markdown
    from textsplice.slots.lexicon import Lexicon

    asked = _metrics(metrics)
    known = corpus_lexicon(lexicon, corpus_of(references))
    if known is not None:
        Lexicon.named(known, [])  # one that can't be read is to be known before texts are generated
    items = read_references(references, split, limit)
    folder = _folder(out, "automatic", split)
    made = generated(systems, Wanted(items, folder, check_values(values or []), no_marg))
    evaluations = [
        evaluate(
            experiments.matched_generations(system.generations, items),
            asked,
            name=system.name,
            data=f"{references}/{split}",
            lexicon=known,
        )
        for system in made
    ]
    outcomes = [experiments.outcomes(system.generations) for system in made]
    some = [kind for kind in outcomes[0] if any(each[kind] for each in outcomes)]
    rows = [
        [
            each.name,
            *(f"{m.score.points:.2f}" for m in each.measurements),
            *(
                []
                if each.slots is None
                else [f"{each.slots.error_rate:.2%}", f"{each.slots.texts_with_errors:,}"]
            ),
            *(f"{counts[kind]:,}" for kind in some),
        ]
        for each, counts in zip(evaluations, outcomes, strict=True)
    ]
    slots = [] if known is None else ["slot errors", "texts with one"]
    text = f"# {references}, {split}: {len(items):,} tables\n\n"
    text += markdown(["", *asked, *slots, *some], rows) + systems_as_markdown(made)
    text += _signatures(evaluations[0].signatures)
    measured = [
        {**each.to_dict(), "outputs": counts} for each, counts in zip(evaluations, outcomes, strict=True)
    ]
    _write(folder, "automatic", {"about": about(references, split, items, made), "systems": measured}, text)


@app.command()
def interpretability(
    systems: Systems,
    references: References,
    split: Split = "dev",
    out: Out = None,
    no_marg: NoMarg = False,
    limit: Limit = 500,
    values: Values = None,
) -> None:
    """Splices, neighbours and the share of copied words, over 500 examples.

    Examples:

        textsplice experiment interpretability full=runs/full lrt=runs/lrt --references e2e:data/e2e --no-marg

        textsplice experiment interpretability experiments/automatic/dev/full.jsonl --references e2e:data/e2e
    """
    from textsplice.evaluate import experiments
    from textsplice.evaluate.tables import markdown

    items = read_references(references, split, limit)
    folder = _folder(out, "interpretability", split)
    made = generated(systems, Wanted(items, folder, check_values(values or []), no_marg))
    found = [experiments.interpretability(system.name, system.generations) for system in made]
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
    text = f"# {references}, {split}: {len(items):,} tables\n\n"
    text += markdown(header, rows) + systems_as_markdown(made)
    data = {"about": about(references, split, items, made), "systems": experiments.as_data(found)}
    _write(folder, "interpretability", data, text)


@app.command()
def neighbor_curve(
    runs: Runs,
    references: References,
    split: Split = "dev",
    out: Out = None,
    ks: Annotated[str, typer.Option(help="Numbers of neighbours.")] = "1,2,3,5,8,10,15,20",
    metric: Annotated[str, typer.Option(help="What to plot.")] = "ROUGE_L",
    limit: Limit = None,
    figure: WantFigure = True,
    values: Values = None,
) -> None:
    """A score against the number of neighbours at test time.

    Whatever the runs say, texts are searched for as in the paper: beam 5, likelihood, start_neighbors 1, no
    slots_first. With 8 start neighbours, fewer neighbours would also be fewer starts. `--set` changes this.

    Examples:

        textsplice experiment neighbor-curve full=runs/full --references e2e:data/e2e --ks 1,5,20 --limit 100
    """
    from textsplice.evaluate.experiments import matched_generations
    from textsplice.evaluate.figures import check_figures, line_figure
    from textsplice.evaluate.metrics import measure
    from textsplice.evaluate.score import metric_named
    from textsplice.evaluate.tables import markdown

    [asked] = _checked([metric_named(metric, "--metric")], instead="--metric BLEU")
    if figure:
        check_figures()
    numbers = _numbers(ks)
    items = read_references(references, split, limit)
    settings = [*PAPER_SEARCH, *check_values(values or [])]
    wanted = Wanted(items, _folder(out, "neighbor-curve", split))
    made: list[System] = []
    lines: dict[str, list[dict[str, object]]] = {}
    points: dict[str, list[tuple[float, float]]] = {}
    signatures: list[str] = []
    for name, path in named_paths(runs).items():
        splicer = open_system(path)
        for k in numbers:
            # S2S+copy has no neighbours: one file serves all of its points.
            stem = f"{name}-k{k}" if splicer.kind.uses_neighbors else name
            search = search_of(splicer, settings)
            system = generate_texts(stem, splicer.with_neighbors(k), wanted, search)
            matched = matched_generations(system.generations, items)
            [found] = measure(matched.texts, matched.references, [asked], data=f"{references}/{split}")
            if stem not in [each.name for each in made]:
                made.append(system)
            lines.setdefault(name, []).append({"neighbors": k, **found.score.to_dict()})
            points.setdefault(name, []).append((k, found.score.points))
            signatures = [str(found.score.signature)]
    rows = [[name, *(f"{value:.2f}" for _, value in each)] for name, each in points.items()]
    text = f"# {references}, {split}: {len(items):,} tables\n\n"
    text += markdown([asked, *(f"k = {k}" for k in numbers)], rows)
    text += "\nSearched as in the paper (beam 5, likelihood, one start neighbour), whatever the runs say"
    text += f", but for {', '.join(values)}.\n" if values else ".\n"
    text += systems_as_markdown(made) + _signatures(signatures)
    data = {"about": about(references, split, items, made), "metric": asked, "lines": lines}
    _write(wanted.out, "neighbor-curve", data, text)
    if figure:
        line_figure(wanted.out / "neighbor-curve", points, x="neighbours", y=asked.replace("_", "-"))


@app.command()
def control(
    runs: Runs,
    references: References,
    split: Split = "dev",
    out: Out = None,
    least: Annotated[int, typer.Option(min=1, help="How many sentences are wanted.")] = 3,
    limit: Limit = None,
    figure: WantFigure = True,
    values: Values = None,
) -> None:
    """How often has a text three sentences: offered only such neighbours, no sentence replaced, or by a rule?

    Examples:

        textsplice experiment control full=runs/full lrt=runs/lrt --references e2e:data/e2e
    """
    from textsplice.evaluate import experiments
    from textsplice.evaluate.figures import bar_figure, check_figures
    from textsplice.evaluate.tables import markdown
    from textsplice.search.rules import KeepSentences, MinSentences, NeighborsWhere
    from textsplice.search.sentences import count_sentences

    if figure:
        check_figures()
    label = f"at least {least} sentences"
    such = NeighborsWhere(label, lambda neighbor: count_sentences(neighbor.tokens) >= least)
    stem = f"at-least-{least}"
    settings: dict[str, tuple[str, list[Rule]]] = {
        "no rule": ("no-rule", []),
        "only such neighbours": (stem, [such]),
        "and no sentence replaced": (f"{stem}-kept", [such, KeepSentences()]),
        "and never fewer": (f"{stem}-rule", [MinSentences(least)]),
    }
    items = read_references(references, split, limit)
    changes = check_values(values or [])
    wanted = Wanted(items, _folder(out, "control", split))
    made: list[System] = []
    found: list[experiments.Control] = []
    for name, path in named_paths(runs).items():
        splicer = open_system(path)
        for setting, (suffix, rules) in settings.items():
            search = search_of(splicer, changes)
            system = generate_texts(f"{name}-{suffix}", splicer, wanted, search, rules=rules)
            made.append(system)
            found.append(experiments.control(name, setting, system.generations, least=least))
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
    text = f"# {references}, {split}: {len(items):,} tables\n\n"
    text += markdown(header, rows) + systems_as_markdown(made)
    told = about(references, split, items, made)
    data = {"about": told, "least": least, "rows": experiments.as_data(found)}
    _write(wanted.out, "control", data, text)
    if figure:
        bars = {f"{c.system}, {c.rules}": 100 * c.share for c in found}
        bar_figure(wanted.out / "control", bars, x=f"% of texts with ≥ {least} sentences")


@app.command()
def exclusion(
    prepared: Annotated[
        list[Path], typer.Argument(help="Prepared folders, say of neighbors.exclude = self and same-table.")
    ],
    out: Out = None,
    runs: Annotated[
        list[str] | None, typer.Option("--run", help="A run of either, to be scored too; repeatable.")
    ] = None,
    split: Split = "dev",
    limit: Limit = None,
    values: Values = None,
) -> None:
    """What training sees of neighbours against what testing will see, for two ways to leave some out.

    Examples:

        textsplice experiment exclusion prepared/e2e-self prepared/e2e

        textsplice experiment exclusion prepared/e2e-self prepared/e2e --run runs/self --run runs/same-table
    """
    from dataclasses import asdict

    from textsplice.evaluate.experiments import exclusion_as_markdown, matched_generations
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
    references = str(prepared[0])
    items = read_references(references, split, limit)
    folder = _folder(out, "exclusion", split)
    made = generated(runs, Wanted(items, folder, check_values(values or []))) if runs else []
    evaluations = [
        evaluate(
            matched_generations(system.generations, items),
            ["BLEU", "NIST"],
            name=system.name,
            data=f"{references}/{split}",
        )
        for system in made
    ]
    if evaluations:
        rows = [[e.name, *(f"{m.score.points:.2f}" for m in e.measurements)] for e in evaluations]
        text += f"\n{split}: {len(items):,} tables\n\n" + markdown(["", "BLEU", "NIST"], rows)
        text += systems_as_markdown(made) + _signatures(evaluations[0].signatures)
    data = {
        "about": about(references, split, items, made),
        "prepared": {name: {s: asdict(each) for s, each in by.items()} for name, by in summaries.items()},
        "keys": {str(path): each.key for path, each in opened.items()},
        "runs": [each.to_dict() for each in evaluations],
    }
    _write(folder, "exclusion", data, text)


@app.command()
def samples(
    systems: Systems,
    references: References,
    split: Split = "dev",
    out: Out = None,
    count: Annotated[int, typer.Option(min=1, help="How many tables.")] = 20,
    seed: Annotated[int, typer.Option(help="Which tables.")] = 1,
    lexicon: Annotated[str | None, typer.Option(help="As for `evaluate`.")] = None,
    values: Values = None,
) -> None:
    """Texts of several systems side by side, with what the slot checker says, and their derivations.

    Examples:

        textsplice experiment samples full=runs/full swap=prepared/e2e --references e2e:data/e2e --count 50
    """
    import random

    from textsplice.cli.evaluate import corpus_lexicon
    from textsplice.evaluate import experiments
    from textsplice.evaluate.report import slot_signature
    from textsplice.files import atomic_write_text
    from textsplice.report.document import document
    from textsplice.report.plain import plain
    from textsplice.slots.lexicon import Lexicon

    name = corpus_lexicon(lexicon, corpus_of(references))
    items = read_references(references, split, None)
    known = None if name is None else Lexicon.named(name, [i.table for i in items if i.table is not None])
    chosen = [items[n] for n in sorted(random.Random(seed).sample(range(len(items)), min(count, len(items))))]
    folder = _folder(out, "samples", split)
    made = generated(systems, Wanted(chosen, folder, check_values(values or []), fewer=None))
    found = experiments.samples(
        chosen, {system.name: [g.text for g in system.generations] for system in made}, known
    )
    signature = None if name is None or known is None else slot_signature(name, known)
    data = {
        "about": about(references, split, chosen, made),
        "seed": seed,
        "slot_signature": signature,
        "samples": experiments.as_data(found),
    }
    text = experiments.samples_as_markdown(found) + systems_as_markdown(made)
    _write(folder, "samples", data, text + _signatures([signature] if signature else []))
    for system in made:
        steps = "\n\n---\n\n".join(plain(document(generation)) for generation in system.generations)
        atomic_write_text(folder / f"{system.name}-derivations.txt", steps + "\n")


def register(parent: typer.Typer) -> None:
    """Adds `experiment` to the command line."""
    parent.add_typer(app, name="experiment")


def _folder(out: Path | None, name: str, split: str) -> Path:
    return out or Path("experiments") / name / split


def _metrics(names: str | None) -> list[Metric]:
    from textsplice.cli.evaluate import wanted_metrics

    return _checked(wanted_metrics(names))


def _checked(metrics: list[Metric], *, instead: str = ASK_FOR_OTHERS) -> list[Metric]:
    """The same metrics, if they can be computed: that is to be known before texts are generated."""
    from textsplice.errors import MissingExtraError
    from textsplice.evaluate.metrics import missing_for

    for metric in metrics:
        if (missing := missing_for(metric)) is not None:
            remedy = (missing.remedy or "").replace(ASK_FOR_OTHERS, instead)
            raise MissingExtraError(missing.what, where=missing.where, remedy=remedy)
    return metrics


def _signatures(lines: Sequence[str]) -> str:
    return "".join(f"\n`{line}`  " for line in lines) + "\n" if lines else ""


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
