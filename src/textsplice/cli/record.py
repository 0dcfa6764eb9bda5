"""What an experiment's files say of how they were made."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from textsplice.cli.systems import System
    from textsplice.evaluate.outputs import Item


def about(
    references: str,
    split: str | None = None,
    items: Sequence[Item] | None = None,
    systems: Sequence[System] = (),
) -> dict[str, object]:
    """All that another person needs to get the same file: data, runs and their search, program, command."""
    from textsplice import __version__
    from textsplice.evaluate.score import Data

    scored = [] if items is None else [item.references for item in items]
    return {
        "references": references,
        "split": split,
        "items": None if items is None else len(items),
        "references_hash": None if items is None else Data.of(references, scored).hash,
        "runs": [system.to_dict() for system in systems],
        "command": sys.argv,
        "version": __version__,
        "commit": commit_of(Path(__file__)),
    }


def systems_as_markdown(systems: Sequence[System]) -> str:
    """One line a system: its run and how its texts were searched for."""
    lines: list[str] = []
    for system in systems:
        search = cast("Mapping[str, object]", system.made.get("search") or {})
        settings = ", ".join(f"{key} {_plain(value)}" for key, value in search.items())
        run = f"{system.made['policy']}, run {system.made['run']}"
        lines.append(f"- {system.name}: {run}; {settings or 'search not told'}")
    return "\n" + "\n".join(lines) + "\n"


def commit_of(file: Path) -> str | None:
    """The commit a file is part of, with `-dirty` if its repository has changed; None outside of one."""
    # No lock is taken: another command may be at work in the same repository.
    environment = {**os.environ, "GIT_OPTIONAL_LOCKS": "0"}
    said = ""
    # A package installed below somebody's repository is no part of it: the file itself must be tracked.
    for asked in (
        ("ls-files", "--error-unmatch", file.name),
        ("describe", "--always", "--dirty", "--abbrev=40", "--exclude=*"),
    ):
        try:
            done = subprocess.run(
                ["git", *asked], cwd=file.parent, env=environment, capture_output=True, text=True, check=False
            )
        except OSError:
            return None
        if done.returncode:
            return None
        said = done.stdout.strip()
    return said


def _plain(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
