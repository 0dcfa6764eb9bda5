"""The command line: one file a command, and errors as sentences."""

from __future__ import annotations

import sys
from importlib import import_module

import typer

from textsplice import __version__
from textsplice.errors import TextspliceError

# In the order in which a newcomer meets them; each module has a `register(app)`.
COMMANDS = (
    "quickstart",
    "data",
    "prepare",
    "inspect",
    "train",
    "tune",
    "generate",
    "explain",
    "verify",
    "evaluate",
    "experiment",
    "lexicon",
    "report",
)

app = typer.Typer(
    name="textsplice",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.callback(invoke_without_command=True)
def about(
    version: bool = typer.Option(False, "--version", help="Print the version and exit.", is_eager=True),
) -> None:
    """Text from data that can be audited: every word traced to the text it was spliced from.

    Start here: **textsplice quickstart** runs the whole path on the bundled corpus.
    """
    if version:
        print(f"textsplice {__version__}")
        raise typer.Exit


for command in COMMANDS:
    import_module(f"textsplice.cli.{command}").register(app)


def main() -> None:
    """Runs a command; bad input is one sentence on standard error and exit code 2."""
    try:
        app()
    except TextspliceError as error:
        print(f"error [{error.code}]: {error.sentence()}", file=sys.stderr)
        sys.exit(2)
    except BrokenPipeError:
        # The reader of our output went away (`| head`): not an error of ours, and nothing left to say.
        sys.stderr.close()
        sys.exit(141)
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        sys.exit(130)
