"""An index on disk: one memory-mapped `.npy` file per array, and `index.json`, which is written last."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import NamedTuple, TypeVar, cast

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from textsplice.errors import StorageError
from textsplice.files import atomic_path, atomic_write_text, storage_error
from textsplice.neighbors.arrays import WORD, FeatureSets, IndexArrays

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

    def require(self, name: str, sound: bool) -> None:
        """`StorageError` about an array that is not sound."""
        if not sound:
            raise _damaged(self.folder / f"{name}.npy")


def write_index(
    folder: Path, arrays: dict[str, NDArray[np.generic]], fields: list[str], values: list[str]
) -> None:
    """Writes arrays and names. A folder without `index.json` is not an index, so it is removed first."""
    try:
        (folder / DESCRIPTION).unlink(missing_ok=True)
    except OSError as error:
        raise storage_error(error, folder) from error
    for name, part in arrays.items():
        # As np.save does, which hides the system's error when the disk is full.
        whole = np.ascontiguousarray(part)
        with atomic_path(folder / f"{name}.npy") as path, path.open("wb") as file:
            npy.write_array_header_1_0(file, npy.header_data_from_array_1_0(whole))
            file.write(whole.reshape(-1).view(np.uint8).data)
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
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise _damaged(path) from error
    if version != VERSION:
        raise StorageError(
            f"this index has version {version}; this textsplice reads version {VERSION}.",
            where=str(path),
            remedy=REMEDY,
        )
    match saved:
        case {"fields": list(fields), "values": list(values), "shapes": dict()} if _are_names(
            cast("list[object]", fields)
        ) and _are_names(cast("list[object]", values)):
            return Saved(folder, saved["fields"], saved["values"], saved["shapes"])
        case _:
            raise _damaged(path)


def _are_names(names: list[object]) -> bool:
    return all(isinstance(name, str) for name in names) and len(set(names)) == len(names)


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
    _require_sound(arrays, saved)
    return arrays, saved.fields, saved.values


def _require_sound(arrays: IndexArrays, saved: Saved) -> None:
    """`StorageError` for a number that the compiled search, which checks nothing, would follow astray."""
    words = arrays.fields.bitmaps.shape[-1]
    slots, rows = words * WORD, len(arrays.rows)
    for side, names in (("fields", saved.fields), ("values", saved.values)):
        sets: FeatureSets = getattr(arrays, side)
        common = len(sets.bitmaps)
        saved.require(f"{side}.bitmaps", sets.bitmaps.shape == (common, words))
        rare = len(names) - common
        saved.require(f"{side}.offsets", are_offsets(sets.offsets, rare, len(sets.slots)))
        saved.require(f"{side}.slots", within(sets.slots, 0, slots))
        # Each slot of a feature once, or its overlap would need more planes than there are.
        rising = np.diff(sets.slots) > 0
        rising[sets.offsets[1:-1][(sets.offsets[1:-1] > 0) & (sets.offsets[1:-1] < len(sets.slots))] - 1] = (
            True
        )
        saved.require(f"{side}.slots", bool(rising.all()))
    classes = len(arrays.class_sizes)
    saved.require("class_sizes", within(arrays.class_sizes, 0))
    saved.require("class_words", are_offsets(arrays.class_words, classes, words))
    saved.require("value_sizes", arrays.value_sizes.shape == (slots,) and within(arrays.value_sizes, 0))
    saved.require("row_offsets", are_offsets(arrays.row_offsets, slots, rows))
    saved.require("rows", within(arrays.rows, 0, rows) and len(np.unique(arrays.rows)) == rows)
    finite = arrays.commonness.shape == (rows,) and bool(np.isfinite(arrays.commonness).all())
    saved.require(COMMONNESS, finite)
    saved.require("group_slots", within(arrays.group_slots, 0, slots))


def within(numbers: NDArray[np.generic], least: int, below: int | None = None) -> bool:
    """Whether all numbers of a flat array are at least `least` and, if given, less than `below`."""
    if numbers.ndim != 1 or not len(numbers):
        return numbers.ndim == 1
    return bool(numbers.min() >= least and (below is None or numbers.max() < below))


def are_offsets(offsets: NDArray[np.int64], count: int, end: int) -> bool:
    """Whether an array cuts `end` things into `count` rows."""
    if count < 0 or offsets.shape != (count + 1,):
        return False
    return bool(offsets[0] == 0 and offsets[-1] == end and (np.diff(offsets) >= 0).all())


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
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of a header that is no longer Python
            part: object = np.load(path, mmap_mode="r", allow_pickle=False)
    except FileNotFoundError as error:
        raise StorageError("this part of the index is missing.", where=str(path), remedy=REMEDY) from error
    except Exception as error:  # numpy reads the header with Python's own parser, which raises what it likes
        raise _damaged(path) from error
    if not isinstance(part, np.ndarray) or part.dtype != dtype or list(part.shape) != shape:
        raise _damaged(path)
    if not part.flags.c_contiguous:
        raise _damaged(path)
    # A plain array over the same memory map, for which the kernels are compiled.
    return part.view(np.ndarray)


def _damaged(path: Path) -> StorageError:
    return StorageError("this file is truncated or damaged.", where=str(path), remedy=REMEDY)
