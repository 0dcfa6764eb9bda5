"""`textsplice tune`: random search over the paper's bounds."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from textsplice.cli.output import say

EPILOG = """Examples:

textsplice tune configs/e2e-full.toml --trials 50

textsplice tune configs/e2e-full.toml --trials 20 --minutes 10
"""


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command("tune", epilog=EPILOG)(tune_command)


def tune_command(
    config: Annotated[Path, typer.Argument(help="The experiment's TOML file.")],
    trials: Annotated[
        int, typer.Option(help="The number of finished trials in total; diverged ones count.", min=1)
    ] = 50,
    minutes: Annotated[
        float, typer.Option(help="Length of a trial; 0 means one epoch, as in the paper.", min=0.0)
    ] = 0.0,
    values: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="SECTION.KEY=VALUE", help="Change a setting; repeatable."),
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Only the best values.")] = False,
) -> None:
    """Search learning rate, betas, epsilon and weight decay. Run it again to continue."""
    from textsplice.config import load_config
    from textsplice.training import tune

    def report(line: str) -> None:
        if not quiet:
            say(line, err=True)

    settings = load_config(config).with_values(values or [])
    result = tune(settings, trials=trials, minutes=minutes, quiet=quiet, report=report)
    say(f"{result.best_config}: validation loss {result.best_loss:.3f}")
