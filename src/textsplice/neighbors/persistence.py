"""An index on disk: one `.npy` file an array, memory-mapped, and `index.json`, written last."""

from __future__ import annotations

import json
from io import BytesIO
from pathlib import Path
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from textsplice.errors import StorageError
from textsplice.files import atomic_write_bytes, atomic_write_text, storage_error
from textsplice.neighbors.layout import FeatureSets, Layout

VERSION = 1
DESCRIPTION = "index.json"
REMEDY = "Prepare the corpus again."

Scalar = TypeVar("Scalar", bound=np.generic)


class Saved(NamedTuple):
    """What `index.json` holds."""

    fields: list[str]
    values: list[str]
    shapes: dict[str, list[int]]


def save_layout(folder: Path, layout: Layout, fields: list[str], values: list[str]) -> None:
    """Writes arrays and names; a folder without `index.json` is not an index, so it goes first."""
    arrays = _named(layout)
    try:
        (folder / DESCRIPTION).unlink(missing_ok=True)
    except OSError as error:
        raise storage_error(error, folder) from error
    for name, part in arrays.items():
        # Not straight to the file: np.save drops the system's reason when the disk is full.
        buffer = BytesIO()
        np.save(buffer, part, allow_pickle=False)
        atomic_write_bytes(folder / f"{name}.npy", buffer.getvalue())
    description = {
        "version": VERSION,
        "shapes": {name: list(part.shape) for name, part in arrays.items()},
        "fields": fields,
        "values": values,
    }
    atomic_write_text(folder / DESCRIPTION, json.dumps(description, ensure_ascii=False))


def load_layout(folder: Path) -> tuple[Layout, list[str], list[str]]:
    """Memory-maps a saved index; StorageError if it is not whole or of another version."""
    saved = _read_description(folder / DESCRIPTION)

    def read(name: str, dtype: type[Scalar]) -> NDArray[Scalar]:
        return _read_array(folder / f"{name}.npy", dtype, saved.shapes.get(name))

    def read_sets(side: str) -> FeatureSets:
        return FeatureSets(
            bitmaps=read(f"{side}.bitmaps", np.uint64),
            offsets=read(f"{side}.offsets", np.int64),
            slots=read(f"{side}.slots", np.int32),
        )

    layout = Layout(
        fields=read_sets("fields"),
        values=read_sets("values"),
        class_sizes=read("class_sizes", np.int32),
        class_words=read("class_words", np.int64),
        value_sizes=read("value_sizes", np.int32),
        row_offsets=read("row_offsets", np.int64),
        rows=read("rows", np.int32),
        typicality=read("typicality", np.float64),
        group_slots=read("group_slots", np.int32),
    )
    return layout, saved.fields, saved.values


def _named(layout: Layout) -> dict[str, NDArray[np.generic]]:
    named: dict[str, NDArray[np.generic]] = {}
    for name, part in layout._asdict().items():
        if isinstance(part, FeatureSets):
            named |= {f"{name}.{inner}": item for inner, item in part._asdict().items()}
        else:
            named[name] = part
    return named


def _read_description(path: Path) -> Saved:
    try:
        saved = json.loads(path.read_text(encoding="utf-8"))
        version = saved["version"]
    except OSError as error:
        raise StorageError("there is no index here.", where=str(path), remedy=REMEDY) from error
    except (ValueError, KeyError, TypeError) as error:
        raise _damaged(path) from error
    if version != VERSION:
        raise StorageError(
            f"this index has version {version}; this textsplice reads version {VERSION}.",
            where=str(path),
            remedy=REMEDY,
        )
    try:
        return Saved(saved["fields"], saved["values"], saved["shapes"])
    except KeyError as error:
        raise _damaged(path) from error


def _read_array(path: Path, dtype: type[Scalar], shape: list[int] | None) -> NDArray[Scalar]:
    try:
        part = np.load(path, mmap_mode="r", allow_pickle=False)
    except FileNotFoundError as error:
        raise StorageError("this part of the index is missing.", where=str(path), remedy=REMEDY) from error
    except (OSError, ValueError, EOFError) as error:
        raise _damaged(path) from error
    if part.dtype != dtype or list(part.shape) != shape:
        raise _damaged(path)
    # A plain array over the same map: the kernels are compiled for these.
    return part.view(np.ndarray)


def _damaged(path: Path) -> StorageError:
    return StorageError("this file is truncated or damaged.", where=str(path), remedy=REMEDY)
