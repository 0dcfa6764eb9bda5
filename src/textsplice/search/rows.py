"""Files of generations: one JSON object per line, readable even if the writer was interrupted."""

from __future__ import annotations

import fcntl
import json
import os
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, NamedTuple, cast

from textsplice.errors import InputError, StorageError, VerificationError
from textsplice.files import storage_error
from textsplice.search.approved import APPROVED
from textsplice.search.generation import FORMATS, Generation
from textsplice.search.swap import SWAP
from textsplice.visible import escaped_json

MOST_BYTES = 64 << 20  # of one row
ROW_STARTS = tuple(f'{{"format": "{name}"'.encode() for name in FORMATS)


class Written(NamedTuple):
    """What a file already holds: its complete rows, their places `file:line`, and their size in bytes."""

    rows: list[Mapping[str, object]]
    places: list[str]
    size: int

    def cut(self, path: Path) -> None:
        """Cuts off what follows the last complete row, which gets its line feed if it has none."""
        try:
            if path.exists():
                os.truncate(path, self.size)
                with path.open("rb+") as file:
                    file.seek(max(self.size - 1, 0))
                    if self.size and file.read(1) != b"\n":
                        file.write(b"\n")
        except OSError as error:
            raise storage_error(error, path) from error


def read_generations(path: Path, *, exact: bool = False) -> Iterator[tuple[str, Generation]]:
    """The generations of a file, each with its place `file:line`.

    With `exact`, a row must say what this program would write for it, and nothing else.
    """
    for where, row in read_rows(path):
        yield where, read_generation(row, where, exact=exact)


def read_generation(row: Mapping[str, object], where: str, *, exact: bool = False) -> Generation:
    """The generation of a row; with `exact`, `VerificationError` if it says anything else."""
    try:
        generation = Generation.from_dict(row, where)
    except InputError as error:
        if error.where:
            raise
        raise InputError(error.what, where=where, remedy=error.remedy) from error
    if exact and (difference := _difference(row, generation.to_dict())):
        raise VerificationError(f"{difference}.", where=f"{where}, row {generation.id!r}")
    return generation


def read_rows(path: Path) -> Iterator[tuple[str, Mapping[str, object]]]:
    """The JSON objects of a file, each with its place `file:line`."""
    if path.suffix.lower() in (".csv", ".tsv"):
        raise InputError(
            "a file of cells holds texts without their provenance.",
            where=str(path),
            remedy="Give a file that `textsplice generate` wrote as JSON lines: --out FILE.jsonl.",
        )
    try:
        if stat.S_ISCHR(path.stat().st_mode):
            raise InputError("is a device, not a file.", where=str(path))
        with path.open("rb") as file:
            number = 0
            while line := file.readline(MOST_BYTES + 1):
                number += 1
                where = f"{path}:{number}"
                if len(line) > MOST_BYTES:
                    raise InputError(
                        f"this row has more than {MOST_BYTES >> 20} MB, the most that is read.", where=where
                    )
                if line.strip():
                    yield where, _parse(line, where)
    except OSError as error:
        raise StorageError(f"{error.strerror or error}.", where=str(path)) from error


def no_rows(path: Path) -> InputError:
    """What is said of a file in which there is nothing to verify."""
    return InputError("has no rows.", where=str(path), remedy="Give a file that `textsplice generate` wrote.")


def already_written(path: Path) -> Written:
    """The whole rows of a file whose writer may have stopped in the middle of the last one.

    What follows them must be the beginning of a row, since it is going to be cut off.
    """
    rows: list[Mapping[str, object]] = []
    places: list[str] = []
    size = 0
    if not path.exists():
        return Written(rows, places, size)
    try:
        with path.open("rb") as file:
            for number, line in enumerate(file, start=1):
                if not line.endswith(b"\n") and not _is_object(line):
                    _require_row_start(line, path, first=not rows)
                    break
                if line.strip():
                    rows.append(_parse(line, f"{path}:{number}"))
                    places.append(f"{path}:{number}")
                size += len(line)
    except OSError as error:
        raise StorageError(f"{error.strerror or error}.", where=str(path)) from error
    return Written(rows, places, size)


def made_otherwise(row: Mapping[str, object], expected: Mapping[str, object]) -> str | None:
    """How a row differs from `expected` (`Splicer.made`) in how it was made, as a clause; None if equal."""
    for key, now in expected.items():
        before = row.get(key)
        if before == now or (key == "policy" and (before == APPROVED.name or _has_proposers(expected))):
            continue
        if key == "weights" and before is None and _has_proposers(expected) and row["policy"] == SWAP.name:
            continue  # swap has none, whoever was asked before it
        if key == "rules":
            return "under other rules"
        if isinstance(before, Mapping) and isinstance(now, Mapping):
            there, here = cast("Mapping[str, object]", before), cast("Mapping[str, object]", now)
            differing = [name for name in (*here, *there) if there.get(name) != here.get(name)]
            return f"{key}.{differing[0]} was {there.get(differing[0])!r}, not {here.get(differing[0])!r}"
        return f"{key} was {before!r}, not {now!r}" if before is not None else f"it does not say its {key}"
    return None


def _has_proposers(made: Mapping[str, object]) -> bool:
    """Whether a row's policy may be any of those that `search.proposers` names."""
    search = made.get("search")
    return isinstance(search, Mapping) and "proposers" in search


def open_rows(path: Path) -> IO[str]:
    """Opens a file to add rows at its end, for one writer at a time."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        file = path.open("a", encoding="utf-8")
    except OSError as error:
        raise storage_error(error, path) from error
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        file.close()
        raise StorageError(
            "another process is writing to this file.", where=str(path), remedy="Name another file."
        ) from None
    except OSError:  # a pipe or a device, which can't be locked
        pass
    return file


def row_text(generation: Generation) -> str:
    """A generation as one line of a file."""
    return escaped_json(json.dumps(generation.to_dict(), ensure_ascii=False)) + "\n"


def write_row(file: IO[str], generation: Generation, path: Path | None) -> None:
    """Writes one row and flushes it, so that finished rows are kept."""
    write_text(file, row_text(generation), path)


def write_text(file: IO[str], text: str, path: Path | None) -> None:
    """Writes and flushes; `path` is named if that fails."""
    try:
        file.write(text)
        file.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        raise storage_error(error, path or Path("standard output")) from error


def _is_object(line: bytes) -> bool:
    """Whether a last line without line feed is a complete row all the same."""
    try:
        return isinstance(json.loads(line), dict)
    except (ValueError, RecursionError):
        return False


def _require_row_start(line: bytes, path: Path, *, first: bool) -> None:
    """What is cut off must be the beginning of a row; of the first row, more than a brace."""
    for start in ROW_STARTS:
        if line.startswith(start) or (not first and start.startswith(line)):
            return
    remedy = "Name another file; this one was not changed."
    raise InputError("is not a file of generations.", where=str(path), remedy=remedy)


def _parse(line: bytes, where: str) -> Mapping[str, object]:
    try:
        row = json.loads(line.decode("utf-8"), object_pairs_hook=_object, parse_constant=_no_number)
        if b"\\u" in line:
            json.dumps(row, ensure_ascii=False).encode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError("is not UTF-8 text.", where=where) from error
    except UnicodeEncodeError as error:
        raise InputError("has half a character (a lone surrogate) in a text.", where=where) from error
    except RecursionError as error:
        raise InputError("is nested too deeply.", where=where) from error
    except ValueError as error:
        raise InputError(f"is not JSON: {error}.", where=where) from error
    if not isinstance(row, dict):
        raise InputError("is not a JSON object.", where=where)
    return cast("Mapping[str, object]", row)


def _object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """A JSON object, in which no key may be repeated: readers differ in which of the two they believe."""
    found = dict(pairs)
    if len(found) < len(pairs):
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))
        raise ValueError(f"the key {twice!r} is there twice")
    return found


def _no_number(name: str) -> object:
    raise ValueError(f"{name} is not a number in JSON")


def _difference(said: object, written: object, path: str = "") -> str | None:
    """Where a row is not as this program writes it, as a clause; whole numbers may be written as 1 or 1.0."""
    # The order of keys says nothing, but it is mostly the same, and sorting takes time.
    if any(json.dumps(said, sort_keys=s) == json.dumps(written, sort_keys=s) for s in (False, True)):
        return None
    match said, written:
        case dict(), dict():
            here, there = cast("dict[str, object]", said), cast("dict[str, object]", written)
            if odd := sorted(here.keys() ^ there.keys()):
                what = "should not be there" if odd[0] in here else "is missing"
                return f"{f'{path}.' if path else ''}{odd[0]} {what}"
            pairs = [(f"{path}.{key}" if path else key, here[key], there[key]) for key in here]
        case list(), list() if len(cast("list[object]", said)) == len(cast("list[object]", written)):
            pairs = [
                (f"{path}[{place}]", *pair)
                for place, pair in enumerate(
                    zip(cast("list[object]", said), cast("list[object]", written), strict=True)
                )
            ]
        case int(number), float() if not isinstance(said, bool) and float(number) == written:
            return None
        case _:
            return f"{path} is {_short(said)}, which would be written as {_short(written)}"
    return next((found for place, one, other in pairs if (found := _difference(one, other, place))), None)


def _short(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else f"{text[:60]}…"
