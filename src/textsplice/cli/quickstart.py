"""`textsplice quickstart`: the whole path on the bundled corpus."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from textsplice.cli.output import console, say

if TYPE_CHECKING:
    from textsplice.config import Config
    from textsplice.evaluate.evaluation import Evaluation
    from textsplice.runs import Prepared
    from textsplice.runs.outputs import OutputFolder
    from textsplice.splicer import Splicer

EXAMPLES = """
Run the whole path on the bundled corpus: prepare, train a policy, generate, evaluate, report.

Takes about three minutes on two cores. The result is an ordinary prepared folder and an ordinary run, with
their configuration: change it, and continue with `prepare`, `train` and `generate`.

Examples:

    textsplice quickstart

    textsplice quickstart --out try --steps 600
"""
SHOWN = 5


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command("quickstart", help=EXAMPLES)(run)


def run(
    out: Annotated[Path, typer.Option(help="The folder for everything.")] = Path("quickstart"),
    steps: Annotated[
        int | None, typer.Option(min=1, help="The number of training steps; fewer are faster and worse.")
    ] = None,
) -> None:
    """Prepares, trains, generates, evaluates and reports; finished parts are kept.

    A folder with other settings (other steps, an older version, changes by hand) is left as it is.
    """
    from textsplice.config import to_toml
    from textsplice.evaluate.evaluation import scores_json
    from textsplice.prepare import prepare
    from textsplice.report.overview import write_report
    from textsplice.runs import Prepared
    from textsplice.runs.outputs import OutputFolder
    from textsplice.splicer import Splicer

    config = quickstart_config(out, steps)
    path, run_folder = out / "config.toml", Path(config.output.run)
    check_same(path, config)
    check_same_run(run_folder, config)
    Prepared.require_free(Path(config.output.prepared))
    folder = OutputFolder(out)
    folder.require_free("swap.jsonl", "run/dev.jsonl", "run/scores.json")
    folder.write(path.name, to_toml(config))
    _say(1, f"prepare: tokens, masks, neighbors, least derivations  (textsplice prepare {path})")
    prepared = prepare(config)
    _say(2, f"train: a small policy learns to write drafts  (textsplice train {path} --resume)")
    train_run(config, prepared)
    outputs = run_folder / "dev.jsonl"
    _say(
        3,
        f"generate: one text per table, derived from people's texts  "
        f"(textsplice generate {run_folder} bundled --split dev --distinct)",
    )
    generated = _generate(Splicer.load(run_folder), folder, "run/dev.jsonl")
    swapped = _generate(Splicer.untrained(prepared), folder, "swap.jsonl")
    _say(4, f"evaluate  (textsplice evaluate {outputs} --references bundled --split dev)")
    evaluations = [_evaluate(outputs), _evaluate(out / "swap.jsonl")]
    _print_scores(evaluations)
    folder.write("run/scores.json", scores_json(evaluations[:1]))
    say("\nThe first texts, as they came:")
    for text in generated[:SHOWN]:
        say(f"  · {text}")
    say(f"\n{len(generated)} trained and {len(swapped)} untrained texts, each with its splices.")
    say(f"See one being built:  textsplice explain {outputs}")
    say(f"The report:           {write_report(run_folder, None)}")


def quickstart_config(out: Path, steps: int | None = None) -> Config:
    """The configuration that comes with the package, with its folders inside `out`."""
    from importlib.resources import as_file, files

    from textsplice.config import load_config

    with as_file(files("textsplice.cli") / "quickstart.toml") as path:
        config = load_config(path)
    changes = [
        f'output.prepared="{(out / "prepared").as_posix()}"',
        f'output.run="{(out / "run").as_posix()}"',
        f'search.judge="{(out / "run").as_posix()}"',  # what it finds probable counts beside what is typical
    ]
    if steps is not None:
        training = config.training
        warmup = training.warmup_steps * steps // training.total_steps
        changes += [
            f"training.max_steps={steps}",
            f"training.total_steps={steps}",
            f"training.warmup_steps={warmup}",
        ]
    return config.with_values(changes)


def check_same(path: Path, config: Config) -> None:
    """`ConfigError` if there is a configuration at `path` with other settings."""
    from textsplice.config import load_config
    from textsplice.errors import ConfigError

    if not path.is_file():
        return
    try:
        before = load_config(path)
    except ConfigError as error:
        what = f"is not of this version: {error.what}"
        raise ConfigError(what, where=str(path), remedy="Use another --out.") from error
    _refuse_other(before, config, str(path))


def check_same_run(folder: Path, config: Config) -> None:
    """`ConfigError` if there is a run in the folder that was trained with other settings."""
    from textsplice.runs import Run

    Run.require_free(folder)
    if Run.is_run(folder) and (run := Run.open(folder)).is_complete():
        _refuse_other(run.config, config, str(folder))


def _refuse_other(before: Config, config: Config, where: str) -> None:
    from textsplice.errors import ConfigError

    known, now = before.to_dict(), config.to_dict()
    differing = [
        f"{section}.{key} ({known[section][key]} there, {value} now)"
        for section, values in now.items()
        for key, value in values.items()
        if section != "output" and known[section][key] != value
    ]
    if differing:
        more = ", …" if len(differing) > 3 else "."
        what = f"has other settings: {', '.join(differing[:3])}{more}"
        raise ConfigError(what, where=where, remedy="Use another --out.")


def train_run(config: Config, prepared: Prepared) -> None:
    """Trains, or goes on; a run on the data of an older version is replaced."""
    from textsplice.runs import Run
    from textsplice.training import train

    folder = Path(config.output.run)
    fresh = Run.is_run(folder) and not Run.open(folder).is_of(prepared)
    if fresh:
        say(f"{folder} was trained on the data of another version: it is trained again.")
    train(config, resume=not fresh, fresh=fresh)


def _say(number: int, what: str) -> None:
    say(f"\n[{number}/4] {what}")


def _generate(splicer: Splicer, folder: OutputFolder, name: str) -> list[str]:
    from textsplice.cli.reading import distinct_tables
    from textsplice.corpus import read_corpus
    from textsplice.search.rows import row_text

    folder.require_free(name)
    examples = distinct_tables(read_corpus("bundled", "dev"))
    generations = list(splicer.generate_many(examples, progress=True))
    folder.write(name, "".join(map(row_text, generations)))
    return [generation.text for generation in generations]


def _evaluate(outputs: Path) -> Evaluation:
    from textsplice.evaluate import evaluate

    return evaluate(outputs, "bundled", "dev", metrics=["BLEU", "NIST"])


def _print_scores(evaluations: list[Evaluation]) -> None:
    from textsplice.evaluate.tables import evaluation_grid

    console().print(evaluation_grid(evaluations))
