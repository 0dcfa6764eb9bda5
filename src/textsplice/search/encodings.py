"""Encodings of neighbors: computed once per text, since they depend on neither table nor canvas."""

from __future__ import annotations

import hashlib
import warnings
from collections import OrderedDict
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, cast

import numpy as np

from textsplice.errors import StorageError
from textsplice.neighbors.store import Store
from textsplice.progress import bar
from textsplice.runs.run import Run

if TYPE_CHECKING:
    from safetensors import safe_open
    from torch import Tensor

    from textsplice.policy.policy import Policy

FORMAT = 3
SHARD = 2048  # rows per file
CHUNK = 64  # rows encoded at a time
KEPT = 20_000  # encodings held in memory: about 0.5 GB at 30 tokens and d 192


class Encodings:
    """Encodings by store row: from memory, from the run's folder if they were saved, or computed."""

    def __init__(self, policy: Policy, store: Store, run: Run | None) -> None:
        self.policy = policy
        self.store = store
        self.folder = None if run is None else run.encodings
        self._kept: OrderedDict[int, Tensor] = OrderedDict()
        self._useless: set[int] = set()  # first rows of files that can't be used

    def of(self, cases: Sequence[Sequence[int]]) -> list[list[Tensor]]:
        """The encodings of the neighbors of each case, on the policy's device."""
        wanted = list(dict.fromkeys(row for rows in cases for row in rows))
        here = {row: self._kept[row] for row in wanted if row in self._kept}
        here.update(self._load([row for row in wanted if row not in here]))
        here.update(self._compute([row for row in wanted if row not in here]))
        for row in wanted:
            self._kept[row] = here[row]
            self._kept.move_to_end(row)
        while len(self._kept) > KEPT:
            self._kept.popitem(last=False)
        device = self.policy.device
        return [[here[row].to(device) for row in rows] for rows in cases]

    def save(self, *, known: Encodings | None = None, quiet: bool = False) -> Path:
        """Encodes all texts of the store that are not in the run's folder yet; later runs only read.

        `known` are encodings of its first texts by the same policy, which are not made again.
        """
        from safetensors.torch import save

        if self.folder is None:
            raise StorageError("only a run on disk has a place for encodings.")
        with bar(len(self.store), "encoding the store", quiet=quiet) as progress:
            for first in range(0, len(self.store), SHARD):
                rows = range(first, min(first + SHARD, len(self.store)))
                if not self._has(first, rows):
                    found = known._load([row for row in rows if row < len(known.store)]) if known else {}
                    found |= self._compute([row for row in rows if row not in found])
                    made = {str(row): found[row].cpu().contiguous() for row in rows}
                    self.folder.write(first, save(made, {"made_from": self.key}))
                progress.advance(len(rows))
        self._useless.clear()
        return self.folder.path

    def _has(self, first: int, rows: Sequence[int]) -> bool:
        try:
            with _opened(self._shard(first), self.key) as shard:
                return set(shard.keys()) >= {str(row) for row in rows}
        except StorageError:
            return False

    @cached_property
    def key(self) -> str:
        """A hash of what made the encodings: the weights in memory, their shape, and the texts.

        Not of the run's files: a training that goes on may replace them meanwhile.
        """
        digest = hashlib.sha256(f"{FORMAT} {self.policy.shape.to_json()}".encode())
        for name, weights in sorted(self.policy.state_dict().items()):
            digest.update(name.encode())
            digest.update(weights.cpu().contiguous().numpy().tobytes())
        for part in (self.store.tokens.values, self.store.tokens.offsets):
            digest.update(np.ascontiguousarray(part).tobytes())
        return digest.hexdigest()

    def _compute(self, rows: Sequence[int]) -> dict[int, Tensor]:
        found: dict[int, Tensor] = {}
        # Texts of similar length together, for little padding.
        by_length = sorted(rows, key=lambda row: (int(self.store.tokens.lengths[row]), row))
        for chunk in _chunks(by_length):
            texts = [np.asarray(self.store.tokens[row]) for row in chunk]
            found.update(zip(chunk, self.policy.encode_texts(texts), strict=True))
        return found

    def _load(self, rows: Sequence[int]) -> dict[int, Tensor]:
        """What the folder has of these rows; warns of a file that can't be used, and skips it."""
        found: dict[int, Tensor] = {}
        if self.folder is None or not self.folder.exists():
            return found
        for first in sorted({row // SHARD * SHARD for row in rows} - self._useless):
            own = [row for row in rows if row // SHARD * SHARD == first]
            try:
                with _opened(self._shard(first), self.key) as shard:
                    found.update({row: cast("Tensor", shard.get_tensor(str(row))) for row in own})
            except StorageError as error:
                if not self._useless:  # once is enough: if one file is of other weights, all are
                    warnings.warn(f"{error} Encodings are computed instead.", RuntimeWarning, stacklevel=2)
                self._useless.add(first)
        return found

    def _shard(self, first: int) -> Path:
        assert self.folder is not None
        return self.folder.shard(first)


@contextmanager
def _opened(path: Path, key: str) -> Generator[safe_open]:
    """A file of encodings with this key; `StorageError` if it has another or can't be read."""
    from safetensors import SafetensorError, safe_open

    remedy = "Make it again with `textsplice generate --cache-encodings`, or delete the folder."
    try:
        with safe_open(path, framework="pt") as shard:
            if (shard.metadata() or {}).get("made_from") != key:
                raise StorageError("was made from other weights or texts.", where=str(path), remedy=remedy)
            yield shard
    except FileNotFoundError:
        raise StorageError("is missing.", where=str(path), remedy=remedy) from None
    except (SafetensorError, OSError) as error:
        raise StorageError(f"can't be read ({error}).", where=str(path), remedy=remedy) from error


def _chunks(rows: Sequence[int]) -> Iterator[Sequence[int]]:
    for first in range(0, len(rows), CHUNK):
        yield rows[first : first + CHUNK]
