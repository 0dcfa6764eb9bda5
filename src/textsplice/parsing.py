"""Small files and options as JSON or TOML: whatever is wrong with them is one sentence.

The caller says which error to raise, and where the text comes from.
"""

from __future__ import annotations

import json
import reprlib
import stat
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import cast

from textsplice.errors import TextspliceError

MAX_BYTES = 64 << 20
"""A larger file is not read at once: it is not what it is taken for, or a device without end."""

_SHORT = reprlib.Repr()
_SHORT.maxlevel, _SHORT.maxstring, _SHORT.maxother, _SHORT.maxlong = 3, 120, 120, 60


def short_repr(value: object) -> str:
    """A value of any depth and length as a few words of an error."""
    try:
        return _SHORT.repr(value)
    except ValueError:  # a number with thousands of digits
        return "a huge number"


def read_text(
    path: Path, error: type[TextspliceError], *, remedy: str | None = None, limit: int = MAX_BYTES
) -> str:
    """The content of a UTF-8 file, without the byte order mark that some programs put first."""
    try:
        kind = path.stat()
        if not stat.S_ISREG(kind.st_mode):
            raise error(f"is {called(kind.st_mode)}, not a file.", where=str(path), remedy=remedy)
        if kind.st_size > limit:
            raise error(f"is larger than {limit >> 20} MiB.", where=str(path), remedy=remedy)
        return path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as failure:
        raise error(
            f"is not UTF-8 text: byte 0x{failure.object[failure.start]:02x} at byte {failure.start}.",
            where=str(path),
            remedy=remedy or "Save it as UTF-8.",
        ) from failure
    except OSError as failure:
        raise unreadable(failure, path, error, remedy=remedy) from failure
    except ValueError as failure:  # a NUL in the name
        raise error(f"can't be read: {failure}.", where=str(path), remedy=remedy) from failure


def unreadable(
    failure: OSError, path: Path | str, error: type[TextspliceError], *, remedy: str | None = None
) -> TextspliceError:
    """The sentence for a file that the operating system does not give us."""
    reason = {
        "PermissionError": "no permission",
        "FileNotFoundError": "there is no such file",
        "IsADirectoryError": "it is a folder",
    }.get(type(failure).__name__, failure.strerror or str(failure) or type(failure).__name__)
    return error(f"can't be read: {reason}.", where=str(path), remedy=remedy)


def called(mode: int) -> str:
    """What is at a path, by its mode: `a folder`, `a pipe`, `a device`."""
    if stat.S_ISDIR(mode):
        return "a folder"
    if stat.S_ISFIFO(mode):
        return "a pipe"
    return "a socket" if stat.S_ISSOCK(mode) else "a file" if stat.S_ISREG(mode) else "a device"


def parse_json(
    text: str | bytes, error: type[TextspliceError], where: str | None, *, remedy: str | None = None
) -> object:
    """A JSON value; no key of an object appears twice."""

    def without_repeats(pairs: list[tuple[str, object]]) -> dict[str, object]:
        found = dict(pairs)
        if len(found) < len(pairs):
            names = [name for name, _ in pairs]
            twice = next(name for name in names if names.count(name) > 1)
            raise error(f"the key {short_repr(twice)} appears twice.", where=where, remedy=remedy)
        return found

    try:
        return json.loads(text, object_pairs_hook=without_repeats)
    except RecursionError as failure:
        raise error("is nested too deeply.", where=where, remedy=remedy) from failure
    except UnicodeDecodeError as failure:
        raise error("is not UTF-8 text.", where=where, remedy=remedy) from failure
    except json.JSONDecodeError as failure:
        what = f"is not JSON: {failure.msg} at column {failure.colno} of line {failure.lineno}."
        raise error(what, where=where, remedy=remedy) from failure
    except ValueError as failure:  # a number with thousands of digits
        raise error(
            "is not JSON that can be used: a number in it is too long.", where=where, remedy=remedy
        ) from failure


def parse_object(
    text: str | bytes, error: type[TextspliceError], where: str | None, *, remedy: str | None = None
) -> dict[str, object]:
    """A JSON object."""
    value = parse_json(text, error, where, remedy=remedy)
    if not isinstance(value, dict):
        raise error("is not a JSON object.", where=where, remedy=remedy)
    return cast("dict[str, object]", value)


def read_object(path: Path, error: type[TextspliceError], *, remedy: str | None = None) -> dict[str, object]:
    """A file that holds one JSON object."""
    return parse_object(read_text(path, error, remedy=remedy), error, str(path), remedy=remedy)


def parse_toml(text: str, error: type[TextspliceError], where: str) -> Mapping[str, object]:
    """The tables of a TOML text."""
    try:
        return tomllib.loads(text)
    except RecursionError as failure:
        raise error("is nested too deeply.", where=where) from failure
    except tomllib.TOMLDecodeError as failure:
        raise error(f"not a TOML file: {failure}.", where=where) from failure
    except ValueError as failure:  # a number or date that can't be
        raise error("not a TOML file: a number or a date in it can't be used.", where=where) from failure
