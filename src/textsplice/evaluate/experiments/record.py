"""How an experiment's results were made, and writing them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

from textsplice.evaluate.experiments.systems import System
from textsplice.evaluate.outputs import Item
from textsplice.evaluate.score import Data
from textsplice.runs.outputs import OutputFolder


@dataclass(frozen=True, slots=True)
class Result:
    """What an experiment found: plain data, a page of Markdown, and further files by name."""

    name: str
    data: Mapping[str, object]
    markdown: str
    files: Mapping[str, str | bytes] = field(default_factory=dict[str, str | bytes])

    def write(self, folder: OutputFolder) -> Result:
        """Writes NAME.json, NAME.md and the other files."""
        folder.write(f"{self.name}.json", json.dumps(self.data, indent=2, ensure_ascii=False) + "\n")
        folder.write(f"{self.name}.md", self.markdown)
        for name, content in self.files.items():
            folder.write(name, content)
        return self


def results_folder(out: Path, name: str, *, figure: bool = False, others: Sequence[str] = ()) -> OutputFolder:
    """The folder of results; before anything is computed, `ConfigError` if they can't be written there."""
    folder = OutputFolder(out)
    suffixes = ("json", "md", "png", "svg") if figure else ("json", "md")
    folder.require_free(*(f"{name}.{suffix}" for suffix in suffixes), *others)
    return folder


def about(
    references: str,
    split: str | None = None,
    items: Sequence[Item] | None = None,
    systems: Sequence[System] = (),
) -> dict[str, object]:
    """All that another person needs to get the same results: data, runs, search, program, command."""
    from textsplice import __version__

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


def heading(references: str, split: str, items: Sequence[Item]) -> str:
    """The title of a page of results."""
    return f"# {references}, {split}: {len(items):,} tables\n\n"


def systems_as_markdown(systems: Sequence[System]) -> str:
    """One line per system: its run and the settings of its search."""
    lines: list[str] = []
    for system in systems:
        search = cast("Mapping[str, object]", system.made.get("search") or {})
        settings = ", ".join(f"{key} {_plain(value)}" for key, value in search.items())
        run = f"{system.made['policy']}, run {system.made['run']}"
        lines.append(f"- {system.name}: {run}; {settings or 'search unknown'}")
    return "\n" + "\n".join(lines) + "\n"


def signatures_as_markdown(lines: Sequence[str]) -> str:
    """One line per signature."""
    return "".join(f"\n`{line}`  " for line in lines) + "\n" if lines else ""


def commit_of(file: Path) -> str | None:
    """The commit that a file belongs to, with `-dirty` if its repository has changes; None outside of one."""
    # No lock is taken: another command may be at work in the same repository.
    environment = {**os.environ, "GIT_OPTIONAL_LOCKS": "0"}
    said = ""
    # A package that is installed inside somebody else's repository has no commit: the file must be tracked.
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
