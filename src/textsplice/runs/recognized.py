"""What a folder is, by the file in it that says so: a run, or an export of one."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import cast

from textsplice.runs.fitted import default_system

RUN, EXPORT = "run.json", "export.json"
RUN_FORMATS, EXPORT_FORMATS = "textsplice.run/", "textsplice.export/"
ID = re.compile("[0-9a-f]{12}")


def is_run(folder: Path | str) -> bool:
    """Whether a folder is one that `train` made; other programs have a run.json too."""
    match about := _read(default_system(folder) / RUN):
        case {"format": str(form), "id": str(), "version": str(), "prepared": str(), "files": dict()}:
            return form.startswith(RUN_FORMATS)
        case {"id": str(name), "version": str(), "prepared": str(), "command": list(), "hardware": dict()}:
            # As version 0.1 wrote it.
            return "format" not in cast("dict[str, object]", about) and ID.fullmatch(name) is not None
        case _:
            return False


def is_export(folder: Path | str) -> bool:
    """Whether a folder is one that `export` made."""
    match _read(Path(folder) / EXPORT):
        case {"format": str(form), "id": str(), "files": dict()}:
            return form.startswith(EXPORT_FORMATS)
        case _:
            return False


def _read(path: Path) -> object:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return None
