"""`textsplice quickstart`: the whole path on the bundled corpus."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from textsplice.config import Config
    from textsplice.evaluate.evaluation import Evaluation
    from textsplice.prepare.folder import Prepared
    from textsplice.splicer import Splicer

EXAMPLES = """
Run the whole path on the bundled corpus: prepare, train a policy and its judge, generate, evaluate, report.

About three minutes on two cores. What it leaves is an ordinary prepared folder and an ordinary run, with the
configuration beside them: change it, and go on with `prepare`, `train` and `generate`.

Examples:

    textsplice quickstart

    textsplice quickstart --out try --steps 600
"""
SHOWN = 5
# The judge: S2S+copy, which says how probable it finds a whole text. It learns from all references.
JUDGE = (
    "policy.kind=copy",
    "training.max_cost=0",
    "training.verbatim=false",
    "training.learning_rate=3e-3",
    "training.batch_sequences=32",
    "training.micro_sequences=32",
    "search.choose=likelihood",
    "search.slots_first=false",
    "search.judge=''",
)


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command("quickstart", help=EXAMPLES)(run)


def run(
    out: Annotated[Path, typer.Option(help="The folder for everything.")] = Path("quickstart"),
    steps: Annotated[
        int | None, typer.Option(min=1, help="Training steps; fewer are faster, and worse.")
    ] = None,
) -> None:
    """Prepares, trains, generates, evaluates and reports; a second time, what is there is kept.

    A folder with other settings (other steps, an older version, changes by hand) is left as it is.
    """
    from textsplice.config import to_toml
    from textsplice.files import atomic_write_text
    from textsplice.prepare import prepare
    from textsplice.report.overview import write_report
    from textsplice.splicer import Splicer

    config = quickstart_config(out, steps)
    judge = config.with_values([*JUDGE, f'output.run="{config.search.judge}"'])
    path, judge_path = out / "config.toml", out / "judge.toml"
    run_folder = Path(config.output.run)
    for there, settings in (
        (path, config),
        (run_folder / "config.toml", config),
        (judge_path, judge),
        (Path(judge.output.run) / "config.toml", judge),
    ):
        check_same(there, settings)
    atomic_write_text(path, to_toml(config))
    atomic_write_text(judge_path, to_toml(judge))
    _say(1, f"prepare: tokens, masks, neighbours, least derivations  (textsplice prepare {path})")
    prepared = prepare(config)
    _say(2, f"train: a small policy learns to splice  (textsplice train {path} --resume)")
    train_run(config, prepared)
    _say(3, f"train: its judge learns what texts are like  (textsplice train {judge_path} --resume)")
    train_run(judge, prepared)
    outputs = run_folder / "dev.jsonl"
    _say(
        4,
        f"generate: a text a dev table  (textsplice generate {run_folder} bundled --split dev --distinct)",
    )
    generated = _generate(Splicer.load(run_folder), outputs)
    swapped = _generate(Splicer.untrained(prepared), out / "swap.jsonl")
    _say(5, f"evaluate  (textsplice evaluate {outputs} --references bundled --split dev)")
    _print_scores([_evaluate(outputs, run_folder / "scores.json"), _evaluate(out / "swap.jsonl", None)])
    print("\nThe first texts, as they came:")
    for text in generated[:SHOWN]:
        print(f"  · {text}")
    print(f"\n{len(generated)} trained and {len(swapped)} untrained texts, each with its splices.")
    print(f"See one being built:  textsplice explain {outputs}")
    print(f"The report:           {write_report(run_folder, None)}")


def quickstart_config(out: Path, steps: int | None = None) -> Config:
    """The configuration that comes with the package, with its folders inside `out`."""
    from importlib.resources import as_file, files

    from textsplice.config import load_config

    with as_file(files("textsplice.cli") / "quickstart.toml") as path:
        config = load_config(path)
    changes = [
        f'output.prepared="{(out / "prepared").as_posix()}"',
        f'output.run="{(out / "run").as_posix()}"',
        f'search.judge="{(out / "judge").as_posix()}"',
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
    """`ConfigError` if there is a configuration at `path`, and other settings in it."""
    from textsplice.config import load_config
    from textsplice.errors import ConfigError

    if not path.is_file():
        return
    try:
        before = load_config(path).to_dict()
    except ConfigError as error:
        what = f"is not of this version: {error.what}"
    else:
        differing = [
            f"{section}.{key} ({before[section][key]} there, {value} now)"
            for section, values in config.to_dict().items()
            for key, value in values.items()
            if section != "output" and before[section][key] != value
        ]
        if not differing:
            return
        more = ", …" if len(differing) > 3 else "."
        what = f"has other settings: {', '.join(differing[:3])}{more}"
    raise ConfigError(what, where=str(path), remedy="Use another --out.")


def train_run(config: Config, prepared: Prepared) -> None:
    """Trains, or goes on; a run of other data, which an older version had, is replaced."""
    from textsplice.training import train
    from textsplice.training.run_folder import RunFolder, is_of

    run = RunFolder(Path(config.output.run))
    fresh = run.about.is_file() and not is_of(run, prepared)
    if fresh:
        print(f"{run.path} was trained on the data of another version: it is trained afresh.", flush=True)
    train(config, resume=not fresh, fresh=fresh)


def _say(number: int, what: str) -> None:
    print(f"\n[{number}/5] {what}", flush=True)


def _generate(splicer: Splicer, out: Path) -> list[str]:
    from textsplice.cli.generate import distinct_tables
    from textsplice.corpus import read_corpus
    from textsplice.search.rows import open_rows, write_row

    examples = distinct_tables(read_corpus("bundled", "dev"))
    out.unlink(missing_ok=True)
    with open_rows(out) as file:
        generations = list(splicer.generate_many(examples, progress=True))
        for generation in generations:
            write_row(file, generation, out)
    return [generation.text for generation in generations]


def _evaluate(outputs: Path, scores: Path | None) -> Evaluation:
    import json

    from textsplice.evaluate import evaluate
    from textsplice.files import atomic_write_text

    result = evaluate(outputs, "bundled", "dev", metrics=["BLEU", "NIST"])
    if scores is not None:
        data = {"systems": [result.to_dict()], "comparisons": []}
        atomic_write_text(scores, json.dumps(data, indent=2, ensure_ascii=False) + "\n")
    return result


def _print_scores(evaluations: list[Evaluation]) -> None:
    from rich.console import Console

    from textsplice.evaluate.tables import evaluation_grid

    Console().print(evaluation_grid(evaluations))
