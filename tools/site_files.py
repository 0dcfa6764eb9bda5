"""Puts files from outside `docs/` on the site: the JSON Schemas, the example scripts and the notebook."""

from __future__ import annotations

from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

ROOT = Path(__file__).resolve().parent.parent
PUBLISHED = {"src/textsplice/schemas": "schemas", "examples": "examples"}
ENDINGS = {".json", ".py", ".ipynb"}


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Adds the files; MkDocs calls this once per build."""
    for folder, place in PUBLISHED.items():
        for path in sorted((ROOT / folder).iterdir()):
            if path.suffix in ENDINGS and path.name != "__init__.py":
                files.append(File.generated(config, f"{place}/{path.name}", abs_src_path=str(path)))
    return files
