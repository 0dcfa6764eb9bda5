"""`textsplice evaluate OUTPUTS`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from textsplice.cli.engine import EngineName, PartsFolder, Workers, chosen_engine, parts_beside
from textsplice.cli.output import console, say, say_json
from textsplice.cli.reading import say_lists

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from textsplice.engine import Engine
    from textsplice.evaluate.evaluation import Evaluation
    from textsplice.evaluate.outputs import Matched
    from textsplice.evaluate.score import Measured
    from textsplice.evaluate.significance import Comparison

EXAMPLES = """
Score outputs against references: BLEU, NIST, METEOR, ROUGE-L, CIDEr as the E2E challenge's script computes
them, and slot errors.

Outputs are JSON lines with `text`, and `table` or `id`, as `textsplice generate` writes them. They are
matched with their references by table or id, never by position; all texts of a table are its references.

If the corpus is a single file, only the tables that `prepare` puts into the split are scored; `--split all`
scores every row. Slots are checked with the corpus's own lexicon (e2e, bundled); for other corpora, the
checker looks for values as they are written.

Examples:

    textsplice evaluate dev.jsonl --references e2e:data/e2e --split dev

    textsplice evaluate full.jsonl lrt.jsonl --references bundled --split dev --metrics BLEU,NIST --json

    textsplice evaluate --compare lrt.jsonl full.jsonl --references prepared/e2e --split dev

    textsplice evaluate out.jsonl --references mine.csv --text-column summary --split all

    textsplice evaluate out.jsonl --references mine.csv --run runs/mine

    textsplice evaluate out.jsonl --references mine.csv --lexicon mine.toml
"""


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command("evaluate", help=EXAMPLES)(run)


def run(
    references: Annotated[
        str,
        typer.Option(
            help="A corpus, as `prepare` takes it, a prepared folder, or a JSONL file of ids and texts."
        ),
    ],
    outputs: Annotated[
        list[Path] | None, typer.Argument(help="Files that `generate` wrote, one per system.")
    ] = None,
    split: Annotated[
        str, typer.Option(help="The split of a corpus; `all` is every row of a corpus that is a single file.")
    ] = "dev",
    text_column: Annotated[
        str | None, typer.Option(help="The column of the references that holds the text.")
    ] = None,
    run_folder: Annotated[
        str | None,
        typer.Option(
            "--run",
            metavar="RUN",
            help="Read the references and check slots as this run (or prepared folder) does: text column, "
            "lists, lexicon, kinds of fields.",
        ),
    ] = None,
    metrics: Annotated[
        str | None,
        typer.Option(help="Comma-separated names. Default: the five of the E2E challenge that can run here."),
    ] = None,
    lexicon: Annotated[
        str | None,
        typer.Option(help="How values are worded: e2e, bundled, values (as written), none, or a TOML file."),
    ] = None,
    compare: Annotated[
        tuple[Path, Path] | None,
        typer.Option(metavar="A B", help="Two outputs: paired bootstrap, is B better than A?"),
    ] = None,
    samples: Annotated[int, typer.Option(min=100, help="Bootstrap samples.")] = 1000,
    seed: Annotated[int, typer.Option(help="Seed of the bootstrap.")] = 12345,
    partial: Annotated[bool, typer.Option("--partial", help="Score only tables that have outputs.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Scores with signatures as JSON.")] = False,
    engine: EngineName = None,
    workers: Workers = None,
    parts: PartsFolder = None,
) -> None:
    """Prints scores of one or several systems."""
    from textsplice.cli.systems import corpus_settings
    from textsplice.corpus.source import is_one_file, read_corpus
    from textsplice.corpus.splits import ALL
    from textsplice.errors import InputError
    from textsplice.evaluate.evaluation import ReferenceSet, evaluate_matched
    from textsplice.evaluate.outputs import match, read_outputs
    from textsplice.evaluate.significance import compare as compare_scores
    from textsplice.runs import Prepared
    from textsplice.runs.checking import checker_of

    bulk = chosen_engine(engine, workers, parts)
    paths: list[Path] = list(outputs or [])
    paths += [path for path in compare or () if path not in paths]
    if not paths:
        raise InputError("there are no outputs to score.", remedy="Name a file, or two with --compare A B.")
    asked = wanted_metrics(metrics)
    like = None if run_folder is None else corpus_settings(run_folder)
    known = ReferenceSet.read(references, split, text_column=text_column, like=like)
    has_tables = known.items[0].table is not None
    if has_tables and run_folder is not None:
        known = known.checked_with(*checker_of(run_folder))
    if has_tables and like is None and not Prepared.is_prepared(references):
        say_lists(read_corpus(references, split, text_column=text_column).lists, references)
    if has_tables and split != ALL and is_one_file(references):
        part = f"only the tables that `prepare` puts into {split} are scored."
        _say(f"{references} is a single file: {part} --split all scores every row.")
    if lexicon is None and not has_tables:
        _say("slots are not checked: the references have no tables.")
    matched = {path: match(read_outputs(path), known.items, partial=partial) for path in paths}
    for path, each in matched.items():
        _warn_of_empty(path, each.empty, len(each.outputs))
    measured = _measured(bulk, list(matched.values()), asked, parts)
    evaluations = {
        path: evaluate_matched(
            each,
            asked,
            name=str(path),
            data=known.data,
            lexicon=known.lexicon_named(lexicon),
            kinds=known.kinds,
            known=scores,
        )
        for (path, each), scores in zip(matched.items(), measured, strict=True)
    }
    for path, evaluation in evaluations.items():
        _keep_scores(path, evaluation)
    comparisons: list[Comparison] = []
    if compare is not None:
        first, second = (evaluations[path] for path in compare)
        pairs = zip(first.measurements, second.measurements, strict=True)
        comparisons = [compare_scores(a, b, samples=samples, seed=seed) for a, b in pairs]
    if json:
        from textsplice.evaluate.evaluation import scores_json

        say_json(scores_json(list(evaluations.values()), comparisons))
        return
    _print_scores(list(evaluations.values()))
    if compare is not None:
        _print_comparisons(compare, comparisons)
    _print_signatures(next(iter(evaluations.values())))


def _keep_scores(outputs: Path, evaluation: Evaluation) -> None:
    """Writes the scores beside the outputs, where `report` finds them; nobody else's file is touched."""
    from textsplice.errors import TextspliceError
    from textsplice.evaluate.evaluation import keep_scores

    try:
        keep_scores(outputs, evaluation)
    except TextspliceError as error:
        _say(f"the scores were not kept beside the outputs: {error.sentence()}")


def _measured(
    bulk: Engine | None, systems: Sequence[Matched], metrics: Sequence[str], parts: Path | None
) -> Sequence[Mapping[str, Measured] | None]:
    """What an engine's workers measure; nothing without an engine."""
    from textsplice.evaluate.bulk import measure_all

    if bulk is None:
        return [None] * len(systems)
    with parts_beside(None, parts) as place:
        return measure_all(bulk, place, systems, metrics)


def wanted_metrics(names: str | None) -> list[str]:
    """The named metrics, or those of the E2E challenge that can run here."""
    from textsplice.evaluate.evaluation import default_metrics
    from textsplice.evaluate.metrics.metric import metric_named

    if names is not None:
        return [metric_named(name).name for name in names.split(",")]
    found, missing = default_metrics()
    for error in list(missing.values())[:1]:
        _say(f"left out {', '.join(missing)}: {error.sentence()}")
    return found


def _print_scores(evaluations: Sequence[Evaluation]) -> None:
    from textsplice.evaluate.tables import evaluation_grid, slot_grid

    console().print(evaluation_grid(evaluations))
    for each in evaluations:
        if each.slots is not None and each.lexicon is not None:
            console().print(slot_grid(each.name, each.slots, each.lexicon))


def _print_comparisons(files: tuple[Path, Path], comparisons: Sequence[Comparison]) -> None:
    from textsplice.evaluate.tables import comparison_grid

    console().print(comparison_grid(files[0].name, files[1].name, comparisons))


def _print_signatures(evaluation: Evaluation) -> None:
    for signature in evaluation.signatures:
        console().print(signature, style="dim", highlight=False, soft_wrap=True)


def _warn_of_empty(path: Path, empty: Sequence[object], count: int) -> None:
    if empty:
        _say(f"warning: {path}: {len(empty):,} of {count:,} outputs are empty and are scored as empty texts.")


def _say(sentence: str) -> None:
    say(sentence, err=True)
