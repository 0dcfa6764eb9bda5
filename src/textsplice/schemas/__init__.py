"""JSON Schemas (draft 2020-12) of the files that other programs may read.

| name | describes |
|---|---|
| `generation` | a row of what `generate` writes |
| `derivation` | a derivation document, as views take it |
| `verification` | what `verify --json` prints |
| `scores` | what `evaluate --json` prints |
| `run` | `run.json` in a run's folder |
| `manifest` | `manifest.json` in a prepared folder |
| `export` | `export.json` in an export |
"""

from __future__ import annotations

import json
from importlib import resources
from typing import cast

NAMES = ("generation", "derivation", "verification", "scores", "run", "manifest", "export")


def load(name: str) -> dict[str, object]:
    """The schema of this name."""
    text = resources.files(__name__).joinpath(f"{name}.json").read_text(encoding="utf-8")
    return cast("dict[str, object]", json.loads(text))
