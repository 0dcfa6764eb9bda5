"""Encodings of neighbours: computed once a text, since neither table nor canvas has a say in them."""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, cast

import numpy as np

from textsplice.errors import StorageError
from textsplice.files import atomic_path, atomic_write_text, file_hash
from textsplice.neighbors.store import Store
from textsplice.progress import bar

if TYPE_CHECKING:
    from torch import Tensor

    from textsplice.policy.full import FullPolicy
    from textsplice.policy.token import TokenPolicy

FORMAT = 1
SHARD = 2048  # rows a file
CHUNK = 64  # rows encoded at a time
KEPT = 20_000  # encodings held in memory: about 0.5 GB at 30 tokens and d 192


class Encodings:
    """Encodings by store row: from memory, else from the folder they were saved in, else computed."""

    def __init__(self, policy: FullPolicy | TokenPolicy, store: Store, run: Path | None) -> None:
        self.policy = policy
        self.store = store
        self.run = run
        self.saved = run is not None and _is_saved(run)
        self._kept: OrderedDict[int, Tensor] = OrderedDict()

    def of(self, cases: Sequence[Sequence[int]]) -> list[list[Tensor]]:
        """The encodings of each case's neighbours."""
        wanted = list(dict.fromkeys(row for rows in cases for row in rows))
        here = {row: self._kept[row] for row in wanted if row in self._kept}
        missing = [row for row in wanted if row not in here]
        here.update(self._load(missing) if self.saved else self._compute(missing))
        for row in wanted:
            self._kept[row] = here[row]
            self._kept.move_to_end(row)
        while len(self._kept) > KEPT:
            self._kept.popitem(last=False)
        return [[here[row] for row in rows] for rows in cases]

    def save(self, *, quiet: bool = False) -> Path:
        """Encodes the whole store into the run's folder, so that later runs only read."""
        from safetensors.torch import save_file

        if self.run is None:
            raise StorageError("only a run on disk has a place for encodings.")
        folder = self.run / "encodings"
        with bar(len(self.store), "encoding the store", quiet=quiet) as progress:
            for first in range(0, len(self.store), SHARD):
                rows = list(range(first, min(first + SHARD, len(self.store))))
                with atomic_path(_shard(folder, first)) as temporary:
                    save_file({str(r): t.contiguous() for r, t in self._compute(rows).items()}, temporary)
                progress.advance(len(rows))
        atomic_write_text(folder / "about.json", json.dumps(_about(self.run)) + "\n")
        self.saved = True
        return folder

    def _compute(self, rows: Sequence[int]) -> dict[int, Tensor]:
        found: dict[int, Tensor] = {}
        # Texts of about one length together, so that little is padded.
        by_length = sorted(rows, key=lambda row: (int(self.store.tokens.lengths[row]), row))
        for chunk in _chunks(by_length):
            texts = [np.asarray(self.store.tokens[row]) for row in chunk]
            found.update(zip(chunk, self.policy.encode_texts(texts), strict=True))
        return found

    def _load(self, rows: Sequence[int]) -> dict[int, Tensor]:
        from safetensors import safe_open

        assert self.run is not None
        found: dict[int, Tensor] = {}
        for first in sorted({row // SHARD * SHARD for row in rows}):
            with safe_open(_shard(self.run / "encodings", first), framework="pt") as shard:
                for row in rows:
                    if row // SHARD * SHARD == first:
                        found[row] = cast("Tensor", shard.get_tensor(str(row)))
        return found


def _chunks(rows: Sequence[int]) -> Iterator[Sequence[int]]:
    for first in range(0, len(rows), CHUNK):
        yield rows[first : first + CHUNK]


def _shard(folder: Path, first: int) -> Path:
    return folder / f"{first:08}.safetensors"


def _about(run: Path) -> dict[str, object]:
    return {"format": FORMAT, "weights": file_hash(run / "model.safetensors")}


def _is_saved(run: Path) -> bool:
    """Whether the run's folder has encodings made by the weights that it has now."""
    about = run / "encodings" / "about.json"
    if not about.is_file():
        return False
    try:
        return json.loads(about.read_text(encoding="utf-8")) == _about(run)
    except ValueError:
        return False
