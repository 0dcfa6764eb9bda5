"""Datasets of Hugging Face: `hf:FOLDER`, as `datasets` saves or reads it, or `hf:NAME` from the Hub.

Only `hf:NAME` uses the network. Code that comes with a dataset is never run: since version 4, `datasets` runs
none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cached_property, lru_cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, cast

from textsplice.corpus.parquet import BATCH_ROWS, BatchReader
from textsplice.corpus.reader import ReadOptions
from textsplice.corpus.splits import NAMES
from textsplice.errors import CorpusError, MissingExtraError

if TYPE_CHECKING:
    import pyarrow as pa

# What `datasets` leaves in a folder that it saved.
SAVED = ("dataset_dict.json", "dataset_info.json")


class _Dataset(Protocol):
    """One split, as `datasets` gives it."""

    @property
    def cache_files(self) -> list[dict[str, str]]: ...
    @property
    def num_rows(self) -> int: ...
    def with_format(self, kind: str) -> _Dataset: ...
    def iter(self, batch_size: int) -> Iterator[pa.Table]: ...


class HuggingFaceReader(BatchReader):
    """Reads a split of a dataset, or all of one that has a single split."""

    takes = ("folder", "name")
    part = "the name of a configuration"

    @classmethod
    def is_whole(cls, path: Path, options: ReadOptions) -> bool:
        return len(_load(str(path), options.part)) == 1

    @property
    def files(self) -> tuple[Path, ...]:
        return tuple(Path(file["filename"]) for file in self._dataset.cache_files)

    def count(self) -> int:
        return self._dataset.num_rows

    def schema(self) -> pa.Schema:
        first = next(self._tables(1), None)
        if first is None:
            raise CorpusError("there is no example in this dataset.", where=str(self.path))
        return first.schema

    def batches(self) -> Iterator[pa.RecordBatch]:
        for table in self._tables(BATCH_ROWS):
            yield from table.to_batches()

    def _tables(self, size: int) -> Iterator[pa.Table]:
        # As Arrow holds them: pictures and sounds are not decoded.
        return self._dataset.with_format("arrow").iter(batch_size=size)

    @cached_property
    def _dataset(self) -> _Dataset:
        splits = _load(str(self.path), self.options.part)
        if self.split is None:
            return next(iter(splits.values()))
        for name in NAMES[self.split]:
            if name in splits:
                return splits[name]
        raise CorpusError(
            f"the dataset has no split {self.split!r}.",
            where=f"hf:{self.path}",
            remedy=f"Its splits are {', '.join(splits)}.",
        )


@lru_cache(maxsize=4)
def _load(name: str, configuration: str | None) -> Mapping[str, _Dataset]:
    """The splits of a dataset by name."""
    where = f"hf:{name}"
    try:
        library = import_module("datasets")
    except ImportError as error:
        raise MissingExtraError(
            "reading Hugging Face datasets needs the extra 'datasets'.",
            where=where,
            remedy="Install it: pip install 'textsplice[datasets]'.",
        ) from error
    folder = Path(name).expanduser()
    is_saved = any((folder / file).is_file() for file in SAVED)
    try:
        if is_saved:
            found = cast("Callable[[str], object]", library.load_from_disk)(str(folder))
        else:
            load = cast("Callable[..., object]", library.load_dataset)
            found = load(str(folder) if folder.is_dir() else name, configuration)
    except Exception as error:  # whatever a dataset makes the library raise
        raise CorpusError(
            f"the dataset can't be loaded: {_first_sentence(error)}",
            where=where,
            remedy="Name a folder, or a dataset of huggingface.co: hf:OWNER/NAME or hf:OWNER/NAME#PART.",
        ) from error
    return cast("Mapping[str, _Dataset]", found) if isinstance(found, dict) else {"": cast(_Dataset, found)}


def _first_sentence(error: Exception) -> str:
    lines = str(error).strip().splitlines()
    return lines[0].removesuffix(".") + "." if lines else f"{type(error).__name__}."
