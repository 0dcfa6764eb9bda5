"""The runs that a run works with: its judge and its writers, wherever it was moved and wherever we are."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import cast

from textsplice.config import SearchConfig
from textsplice.errors import StorageError
from textsplice.runs.recognized import is_export, is_run


def places_of(folder: Path, search: SearchConfig) -> dict[str, object]:
    """What a run records: where its judge and its writers are, seen from its folder."""
    places: dict[str, object] = {}
    if search.judge:
        places["judge"] = seen_from(folder, Path(search.judge))
    if search.writers:
        places["writers"] = [seen_from(folder, Path(writer)) for writer in search.writers]
    return places


def seen_from(folder: Path, other: Path) -> str:
    """The path from one folder to another; links are resolved, since `..` of a link is not where it is."""
    return os.path.relpath(os.path.realpath(other), folder.resolve())


def find_companion(folder: Path, search: SearchConfig, about: Mapping[str, object], name: str) -> Path:
    """The folder of the run or export that a setting of the run in `folder` names."""
    folders = _candidates(folder, search, about, name)
    for each in folders:
        if is_run(each) or is_export(each):
            return each
    looked = " or ".join(dict.fromkeys(str(each) for each in folders[:2]))
    without_judge, without_writers = "--set search.judge=''", "--set search.writers=[]"
    setting, remedy = (
        ("search.writers", without_writers)
        if name in search.writers
        else ("search.judge", without_judge)
        if name == search.judge
        else ("--set", f"{without_judge} {without_writers}")
    )
    raise StorageError(
        f"{setting} names the run {name!r}, but there is no run at {looked}.",
        where=str(folder),
        remedy=f"Train that run, move it back, or do without it: {remedy}.",
    )


def _candidates(folder: Path, search: SearchConfig, about: Mapping[str, object], name: str) -> Sequence[Path]:
    """Where a run that is named may be, the likeliest place first.

    One that the run's own settings name is looked for beside the run first, where it was when the run was
    trained; any other is a path as the user wrote it.
    """
    writers = about.get("writers")
    places = cast("list[object]", writers) if isinstance(writers, list) else []
    recorded = {**dict(zip(search.writers, places, strict=False)), search.judge: about.get("judge")}.get(name)
    beside = [folder.resolve() / recorded] if isinstance(recorded, str) else []
    own = name == search.judge or name in search.writers
    # Runs of before format 2 did not record it: try the folder of that name next to the run.
    old = [folder.resolve().parent / Path(name).name] if own else []
    return (*beside, Path(name), *old)
