"""The command line: one file a command, and errors as sentences."""

from __future__ import annotations

import atexit
import gc
import os
import sys
import traceback
from contextlib import suppress
from importlib import import_module
from io import TextIOWrapper
from pathlib import Path
from typing import NoReturn

import typer

from textsplice import __version__
from textsplice.cli.output import say
from textsplice.errors import TextspliceError
from textsplice.files import storage_error
from textsplice.parsing import short_repr
from textsplice.visible import visible

# The reader of our output went away (`| head`): not an error of ours, and nothing left to say. A shell gives
# this code for other programs that end so, by a signal.
READER_GONE = 141
# New objects before Python looks for garbage. PyTorch alone makes hundreds of thousands, which are none: with
# Python's own 700, a command that takes three seconds spends half a second on looking at them.
YOUNG = 50_000
TRACEBACK = "TEXTSPLICE_TRACEBACK"  # a variable that asks for tracebacks

# In the order in which a newcomer meets them; each module has a `register(app)`.
COMMANDS = (
    "quickstart",
    "fit",
    "data",
    "prepare",
    "inspect",
    "train",
    "tune",
    "generate",
    "explain",
    "verify",
    "trace",
    "gate",
    "add",
    "withdraw",
    "export",
    "evaluate",
    "experiment",
    "lexicon",
    "report",
    "serve",
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
        say(f"textsplice {__version__}")
        raise typer.Exit


for command in COMMANDS:
    import_module(f"textsplice.cli.{command}").register(app)


def main() -> None:
    """Runs a command. Bad input is one sentence on standard error and exit code 2.

    What this program did not expect is a mistake in it: a line that asks to report it, and exit code 1.
    """
    gc.set_threshold(YOUNG)
    atexit.register(gc.freeze)  # at the end all memory goes; to look at it object by object takes as long
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:  # closed by whoever started us
            setattr(sys, name, Path(os.devnull).open("w", encoding="utf-8"))  # noqa: SIM115
        elif isinstance(stream, TextIOWrapper):
            # A terminal that has no sign for a character shows its number.
            stream.reconfigure(errors="backslashreplace")
    try:
        try:
            app()
        finally:
            sys.stdout.flush()  # here, where a full disk is still an error that can be told
    except TextspliceError as error:
        _fail(f"error [{error.code}]: {error.sentence()}", 2, error)
    except BrokenPipeError:
        _fail("", READER_GONE)
    except SystemExit as ended:
        if isinstance(ended.__context__, BrokenPipeError):  # Typer ends with 1 then
            _fail("", READER_GONE)
        raise
    except KeyboardInterrupt:
        _fail("interrupted", 130)
    except MemoryError as error:
        _fail("error [memory]: there is not enough memory. Use smaller batches or a smaller file.", 2, error)
    except OSError as error:
        refused = storage_error(error, Path(error.filename or "standard output"))
        _fail(f"error [{refused.code}]: {refused.sentence()}", 2, error)
    except Exception as error:
        _fail(_unexpected(error), 1, error)


def _unexpected(error: Exception) -> str:
    """What to say of a mistake of this program's."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if "textsplice" in frame.filename] or frames
    place = f"{Path(own[-1].filename).name}:{own[-1].lineno}"
    said = short_repr(str(error))
    return (
        f"unexpected {type(error).__name__} at {place}: {said}. This is a mistake in textsplice"
        f" {__version__}: please report it. {TRACEBACK}=1 prints the traceback."
    )


def _fail(sentence: str, code: int, error: Exception | None = None) -> NoReturn:
    if error is not None and os.environ.get(TRACEBACK):
        traceback.print_exception(error)
    with suppress(OSError):
        say(visible(sentence), err=True, end="\n" if sentence else "")
    # What is left in the buffer can't be written: without this, Python would try again at its end.
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    sys.exit(code)
