"""`textsplice train`: from a prepared folder to a run folder."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from textsplice.cli.output import say

EPILOG = """Examples:

textsplice train configs/e2e-full.toml

textsplice train configs/e2e-full.toml --max-minutes 60 --set training.learning_rate=5e-4

textsplice train configs/e2e-full.toml --resume

torchrun --nproc-per-node 2 -m textsplice train configs/e2e-full.toml
"""


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command("train", epilog=EPILOG)(train_command)


def train_command(
    config: Annotated[Path, typer.Argument(help="The experiment's TOML file.")],
    resume: Annotated[
        bool, typer.Option("--resume", help="Continue from the last checkpoint, if there is one.")
    ] = False,
    fresh: Annotated[bool, typer.Option("--fresh", help="Discard the run in the folder first.")] = False,
    max_minutes: Annotated[
        float | None,
        typer.Option(help="Stop after this many minutes of training in total.", min=0.0),
    ] = None,
    values: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="SECTION.KEY=VALUE", help="Change a setting; repeatable."),
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No bar, no summary.")] = False,
) -> None:
    """Train a policy. Ctrl-C finishes the step and saves; continue with --resume."""
    from textsplice.config import load_config
    from textsplice.training import train
    from textsplice.training.processes import is_first

    limits = [] if max_minutes is None else [f"training.max_minutes={max_minutes}"]
    settings = load_config(config).with_values([*(values or []), *limits])
    result = train(settings, resume=resume, fresh=fresh, quiet=quiet, command=sys.argv)
    if quiet or not is_first():
        return
    best = (
        "not validated yet"
        if result.best_loss is None
        else f"best validation loss {result.best_loss:.3f} at step {result.best_step}"
    )
    say(
        f"{result.run}: {result.step} steps in {result.elapsed / 60:.1f} minutes "
        f"(ended by {result.ending}), {best}.",
        err=True,
    )
    if result.ending == "interrupted":
        say(f"Continue with: {_resume_command(sys.argv)}", err=True)
        return
    for line in _told(Path(result.run)):
        say(line, err=True)


def _told(folder: Path) -> list[str]:
    """Was it still learning, how does it compare with swap, what to run next."""
    from textsplice.fit.compare import with_swap
    from textsplice.runs import Run
    from textsplice.training.advice import advice, validations_of

    return [
        advice(validations_of(Run.open(folder))),
        with_swap(folder),
        f"Next: textsplice generate {folder} TABLES --out texts.jsonl ; textsplice evaluate texts.jsonl "
        "--references CORPUS ; textsplice report texts.jsonl",
    ]


def _resume_command(arguments: list[str]) -> str:
    import shlex

    kept = [word for word in arguments[1:] if word not in ("--resume", "--fresh")]
    return shlex.join(["textsplice", *kept, "--resume"])
