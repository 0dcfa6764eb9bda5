"""Where rows are written to: a file that is held by one process, or standard output."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:
    from textsplice.corpus import Example
    from textsplice.search.generation import Generation

UNCHECKED = "unchecked"  # counted beside the statuses
NOT_WRITTEN = (".xlsx", ".xls", ".ods", ".parquet", ".gz")


def check_out(out: Path | None, *, resume: bool, selectors: bool) -> None:
    """Refuses what can't go together, before long work."""
    from textsplice.errors import ConfigError
    from textsplice.search.spreadsheet import is_spreadsheet

    if out is not None and (ending := out.suffix.lower()) in NOT_WRITTEN:
        raise ConfigError(
            f"files that end in {ending} are not written.",
            where=f"--out {out}",
            remedy="Name one that ends in .jsonl, .csv or .tsv.",
        )
    if not is_spreadsheet(out):
        return
    if resume:
        raise ConfigError(
            "a file of cells does not say how its texts were made, so it can't be continued.",
            where=f"--out {out}",
            remedy="Write JSON lines (--out FILE.jsonl) to be able to --resume.",
        )
    if selectors:
        raise ConfigError(
            "a file of cells has no spans.",
            where=f"--out {out}",
            remedy="Leave out --selectors, or write JSON lines: --out FILE.jsonl.",
        )


def row_writer(
    file: IO[str], out: Path | None, fields: Sequence[str], *, selectors: bool
) -> Callable[[Generation], None]:
    """What writes a row: JSON, or cells if the name of the file asks for them."""
    from textsplice.search.rows import write_row
    from textsplice.search.spreadsheet import Spreadsheet, is_spreadsheet

    if out is not None and is_spreadsheet(out):
        return Spreadsheet(file, out, fields).write
    return lambda row: write_row(file, row.with_selectors() if selectors else row, out)


def tallies(generation: Generation) -> list[str]:
    """As what a text is counted: its status, and whether something in it could not be checked."""
    return [generation.status, *([UNCHECKED] if generation.unchecked else [])]


def cells_writer(write: Callable[[Generation], None], out: Path | None) -> Callable[[str], None] | None:
    """What writes a row that is JSON already as cells; None if JSON is what is wanted."""
    from textsplice.search.generation import Generation
    from textsplice.search.spreadsheet import is_spreadsheet

    if not is_spreadsheet(out):
        return None
    return lambda row: write(Generation.from_dict(json.loads(row), str(out)))


@contextmanager
def opened(out: Path | None, *, resume: bool | None = None) -> Generator[IO[str]]:
    """The file to write rows to, held from the first look at it to the last row: no other process has it.

    If nothing was written, a file that was not there before is not there after. `resume` is None for a
    command that can't go on with a file.
    """
    from textsplice.errors import ConfigError
    from textsplice.files import require_plain_file
    from textsplice.search.rows import open_rows
    from textsplice.search.spreadsheet import is_spreadsheet

    if out is None:
        if resume:
            raise ConfigError("--resume needs --out: what went to standard output is gone.")
        yield sys.stdout
        return
    if resume is None and is_spreadsheet(out):
        raise ConfigError(
            "this command writes JSON lines.", where=f"--out {out}", remedy="Name a .jsonl file."
        )
    require_plain_file(out, remedy="Name a file; without --out, rows go to standard output.")
    new = not out.exists()
    with _writing(out), open_rows(out) as file:
        if not resume and out.stat().st_size:
            raise ConfigError(
                "the file is there already.",
                where=str(out),
                remedy="Name another file."
                if resume is None or is_spreadsheet(out)
                else "Go on with --resume, or name another file.",
            )
        try:
            yield file
        except BaseException:
            if new and not out.stat().st_size:
                out.unlink()
            raise


@contextmanager
def _writing(out: Path) -> Generator[None]:
    """Names the file in what the system says when it is closed: on a full disk, it tries to write again."""
    from textsplice.files import storage_error

    try:
        yield
    except BrokenPipeError:  # of standard error
        raise
    except OSError as error:
        raise storage_error(error, out) from error


def pass_written(
    out: Path | None, examples: Iterator[Example], made: Mapping[str, object], *, selectors: bool
) -> int:
    """Passes over the examples whose rows the file has; half a row at its end is cut off."""
    from textsplice.errors import ConfigError
    from textsplice.search.rows import already_written, made_otherwise

    if out is None or not out.exists() or not out.stat().st_size:
        return 0
    written = already_written(out)
    for place, row in zip(written.places, written.rows, strict=True):
        example = next(examples, None)
        if example is None or row.get("id") != example.id:
            raise ConfigError(
                f"row {row.get('id')!r} is not of the table at this place of the input.",
                where=place,
                remedy="Name another file, or give the tables it was made from.",
            )
        if ("spans" in row) != selectors:
            raise ConfigError(
                f"has {'no' if selectors else 'its'} spans by selectors.",
                where=place,
                remedy=f"Go on {'without' if selectors else 'with'} --selectors, or name another file.",
            )
        # As text, since the order of fields counts.
        if json.dumps(row.get("table")) != json.dumps(example.table.to_record()):
            raise ConfigError(
                f"the table of row {row.get('id')!r} is another one in the input.",
                where=place,
                remedy="Name another file, or give the tables it was made from.",
            )
        if difference := made_otherwise(row, made):
            raise ConfigError(f"was made otherwise: {difference}.", where=place, remedy="Name another file.")
    written.cut(out)
    return len(written.rows)
