"""An index on disk: one memory-mapped `.npy` file per array, and `index.json`, which is written last."""

from __future__ import annotations

import json
from io import BytesIO
from pathlib import Path
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from textsplice.errors import StorageError
from textsplice.files import atomic_write_bytes, atomic_write_text, storage_error
from textsplice.neighbors.arrays import FeatureSets, IndexArrays

VERSION = 1
DESCRIPTION = "index.json"
REMEDY = "Prepare the corpus again."
COMMONNESS = "typicality"  # the name of this array in files

Scalar = TypeVar("Scalar", bound=np.generic)


class Saved(NamedTuple):
    """A saved index: what `index.json` holds, and the folder of the arrays."""

    folder: Path
    fields: list[str]
    values: list[str]
    shapes: dict[str, list[int]]

    def array(self, name: str, dtype: type[Scalar]) -> NDArray[Scalar]:
        """Memory-maps an array; `StorageError` if it is missing, damaged or of another type."""
        return _read_array(self.folder / f"{name}.npy", dtype, self.shapes.get(name))


def write_index(
    folder: Path, arrays: dict[str, NDArray[np.generic]], fields: list[str], values: list[str]
) -> None:
    """Writes arrays and names. A folder without `index.json` is not an index, so it is removed first."""
    try:
        (folder / DESCRIPTION).unlink(missing_ok=True)
    except OSError as error:
        raise storage_error(error, folder) from error
    for name, part in arrays.items():
        # Not directly to the file: np.save hides the system's error when the disk is full.
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


def read_index(folder: Path) -> Saved:
    """Opens a saved index; `StorageError` if it is not complete or has another version."""
    path = folder / DESCRIPTION
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
        return Saved(folder, saved["fields"], saved["values"], saved["shapes"])
    except KeyError as error:
        raise _damaged(path) from error


def save_arrays(folder: Path, arrays: IndexArrays, fields: list[str], values: list[str]) -> None:
    """Writes the arrays of the compiled index."""
    write_index(folder, _named(arrays), fields, values)


def load_arrays(folder: Path) -> tuple[IndexArrays, list[str], list[str]]:
    """Memory-maps the arrays of the compiled index."""
    saved = read_index(folder)

    def read_sets(side: str) -> FeatureSets:
        return FeatureSets(
            bitmaps=saved.array(f"{side}.bitmaps", np.uint64),
            offsets=saved.array(f"{side}.offsets", np.int64),
            slots=saved.array(f"{side}.slots", np.int32),
        )

    arrays = IndexArrays(
        fields=read_sets("fields"),
        values=read_sets("values"),
        class_sizes=saved.array("class_sizes", np.int32),
        class_words=saved.array("class_words", np.int64),
        value_sizes=saved.array("value_sizes", np.int32),
        row_offsets=saved.array("row_offsets", np.int64),
        rows=saved.array("rows", np.int32),
        commonness=saved.array(COMMONNESS, np.float64),
        group_slots=saved.array("group_slots", np.int32),
    )
    return arrays, saved.fields, saved.values


def _named(arrays: IndexArrays) -> dict[str, NDArray[np.generic]]:
    named: dict[str, NDArray[np.generic]] = {}
    for name, part in arrays._asdict().items():
        if isinstance(part, FeatureSets):
            named |= {f"{name}.{inner}": item for inner, item in part._asdict().items()}
        else:
            named[COMMONNESS if name == "commonness" else name] = part
    return named


def _read_array(path: Path, dtype: type[Scalar], shape: list[int] | None) -> NDArray[Scalar]:
    try:
        part = np.load(path, mmap_mode="r", allow_pickle=False)
    except FileNotFoundError as error:
        raise StorageError("this part of the index is missing.", where=str(path), remedy=REMEDY) from error
    except (OSError, ValueError, EOFError) as error:
        raise _damaged(path) from error
    if part.dtype != dtype or list(part.shape) != shape:
        raise _damaged(path)
    # A plain array over the same memory map, for which the kernels are compiled.
    return part.view(np.ndarray)


def _damaged(path: Path) -> StorageError:
    return StorageError("this file is truncated or damaged.", where=str(path), remedy=REMEDY)
