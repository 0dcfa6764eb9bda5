"""Writing an export: a run without its texts and words, whole or not at all, into a new or empty folder."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import mkdtemp
from typing import TYPE_CHECKING

from textsplice.config import SearchConfig, to_toml
from textsplice.errors import StorageError
from textsplice.files import storage_error
from textsplice.runs.card import Card, read_figures
from textsplice.runs.export import (
    CARD,
    CONFIG,
    FORMAT,
    LEXICON,
    SHAPE,
    WEIGHTS,
    WORD_IDS,
    Export,
)
from textsplice.runs.integrity import signed
from textsplice.runs.lineage import store_hash, trained_words
from textsplice.runs.ownership import require_ours
from textsplice.runs.portable import portable
from textsplice.runs.recognized import EXPORT, is_export
from textsplice.runs.run import Run

if TYPE_CHECKING:
    from torch import Tensor

# Of what made the run, all but its command line and its machine.
KEPT = ("id", "prepared", "seed", "computing", "made_from")


def export_run(
    run: Run | Path | str,
    folder: Path | str,
    *,
    figures: Sequence[Path | str] = (),
    license: str = "",  # noqa: A002 - as the option is called
    note: str = "",
) -> Export:
    """Writes a run as a small folder that can be given away, and opens it.

    It has the weights in bfloat16 and no texts: `Splicer.load(folder, store=PREPARED)` takes those from a
    prepared folder. `figures` are files of scores for the card.
    """
    opened = run if isinstance(run, Run) else open_exportable(run)
    target = Path(folder).resolve()
    require_exportable(opened, Path(folder))
    contents = _contents(opened, target.name, [Path(path) for path in figures], license, note)
    temporary: Path | None = None
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        temporary = Path(mkdtemp(prefix=f".{target.name}.", suffix=".partial", dir=target.parent))
        temporary.chmod(0o755)
        for name, content in contents.items():
            with (temporary / name).open("wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
        temporary.rename(target)  # an empty folder gives way, any other does not
    except OSError as error:
        raise storage_error(error, Path(folder)) from error
    finally:
        if temporary is not None:
            shutil.rmtree(temporary, ignore_errors=True)
    return Export.open(folder)


def open_exportable(folder: Path | str) -> Run:
    """The run in a folder; `StorageError` if it is itself an export."""
    if is_export(folder):
        raise StorageError(
            "is an export already.", where=str(folder), remedy="Copy the folder, or export the run itself."
        )
    return Run.open(folder)


def require_exportable(run: Run, folder: Path) -> None:
    """`StorageError` if the run has no policy yet, or the folder can't be written as a new one."""
    if run.weights_id is None:
        raise StorageError(
            "has no weights yet.",
            where=str(run.path),
            remedy="Train it until its first validation or its end.",
        )
    require_ours(folder, ours=False, what="a new folder")
    if folder.resolve().is_relative_to(run.path.resolve()):
        raise StorageError(
            "is inside the run that is exported.", where=str(folder), remedy="Name a folder outside of it."
        )


def _contents(run: Run, name: str, figures: Sequence[Path], license: str, note: str) -> dict[str, bytes]:  # noqa: A002
    """The files of an export; the same run always makes the same ones."""
    from safetensors.torch import save

    config = portable(run.config)
    weights = _rounded(run)
    words = run.vocabulary
    trained = replace(words, words=words.words[: trained_words(run.about, len(words))])
    card = Card(run, config, sum(map(_size, weights.values())), read_figures(figures), license, note)
    ids = json.dumps({"generate": words.generate, "frequent": words.frequent}, separators=(",", ":"))
    contents = {
        CARD: card.text(name).encode("utf-8"),
        CONFIG: to_toml(config).encode("utf-8"),
        SHAPE: run.read_shape()[0].encode("utf-8"),
        WEIGHTS: save(weights, metadata={"format": "pt"}),
        WORD_IDS: f"{ids}\n".encode(),
    }
    if run.lexicon is not None:
        contents[LEXICON] = run.read_lexicon()
    about = {
        "format": FORMAT,
        **{key: run.about[key] for key in KEPT if key in run.about},
        "version": run.about["version"],
        **_beside(config.search),
        "words": trained.words_hash(),
        "store": store_hash(run.store),
        "files": {each: hashlib.sha256(contents[each]).hexdigest() for each in sorted(contents)},
    }
    text = json.dumps(signed(about), indent=2, ensure_ascii=False) + "\n"
    return {**contents, EXPORT: text.encode("utf-8")}


def _beside(search: SearchConfig) -> dict[str, object]:
    """Where the judge and the writers are, seen from the export, as runs record it."""
    found: dict[str, object] = {"judge": f"../{search.judge}"} if search.judge else {}
    return {**found, "writers": [f"../{name}" for name in search.writers]} if search.writers else found


def _rounded(run: Run) -> dict[str, Tensor]:
    import torch

    weights, _ = run.read_weights()
    return {
        name: each.to(torch.bfloat16).contiguous() if each.is_floating_point() else each
        for name, each in weights.items()
    }


def _size(tensor: Tensor) -> int:
    return tensor.numel()
