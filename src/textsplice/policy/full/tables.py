"""The tables of a search, encoded. A table is read with flags of its tokens that are on the canvas.

Shapes in comments: H canvases, S tokens of a table, N tokens of all encoded tables, d model width.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from textsplice.policy.cases import Case
from textsplice.policy.full.model import FullModel
from textsplice.policy.reading import Texts

Flagged = tuple[int, bytes]  # a case, and which tokens of its table are on the canvas


@dataclass(frozen=True)
class Tables:
    """Encoded tables one after another, and what is made of them for the canvases that read them."""

    start: dict[Flagged, int]  # where each begins
    encoded: Tensor  # [N, d]
    layers: list[Tensor]  # per decoder layer, [N, 2d]: keys and values
    first_keys: Tensor  # [N, d]: the first head's keys
    ends: Tensor  # [N, d]: the second head's

    def take(self, rows: NDArray[np.int64], new: Tables | None, start: dict[Flagged, int]) -> Tables:
        """These rows of it, and then all of `new`."""

        def part(mine: Tensor, more: Tensor | None) -> Tensor:
            own = mine.index_select(0, torch.from_numpy(rows).to(mine.device))
            return own if more is None else torch.cat([own, more])

        return Tables(
            start,
            part(self.encoded, new and new.encoded),
            [part(mine, new and new.layers[number]) for number, mine in enumerate(self.layers)],
            part(self.first_keys, new and new.first_keys),
            part(self.ends, new and new.ends),
        )


def encode_tables(
    policy: FullModel,
    cases: Sequence[Case],
    case_of: NDArray[np.int64],
    copied: NDArray[np.bool_],
    known: Tables | None = None,
) -> tuple[Tables, NDArray[np.int64]]:
    """The tables of canvases with their flags `[H, S]`, and where the table of each canvas begins.

    Each is encoded once. Few splices change the flags, so most are `known` from the canvases before.
    """
    wanted: dict[Flagged, NDArray[np.bool_]] = {}
    table_of: list[Flagged] = []
    for case, flags in zip(case_of.tolist(), copied, strict=True):
        own = flags[: len(cases[case].table)]
        table_of.append((case, own.tobytes()))
        wanted.setdefault(table_of[-1], own)
    if known is None:
        found = _encode(policy, cases, wanted)
    else:
        new = {table: flags for table, flags in wanted.items() if table not in known.start}
        found = _keep(known, wanted, _encode(policy, cases, new) if new else None)
    return found, np.array([found.start[table] for table in table_of], dtype=np.int64)


def _keep(known: Tables, wanted: dict[Flagged, NDArray[np.bool_]], new: Tables | None) -> Tables:
    """What is wanted of the known tables, and the new ones."""
    kept = {table: len(flags) for table, flags in wanted.items() if table in known.start}
    sizes = np.array(list(kept.values()), dtype=np.int64)
    ends = np.cumsum(sizes)
    begins = np.array([known.start[table] for table in kept], dtype=np.int64)
    total = int(sizes.sum())
    rows = np.repeat(begins - (ends - sizes), sizes) + np.arange(total)
    start = dict(zip(kept, (ends - sizes).tolist(), strict=True))
    if new is not None:
        start |= {table: total + at for table, at in new.start.items()}
    return known.take(rows, new, start)


@torch.no_grad()
def _encode(policy: FullModel, cases: Sequence[Case], wanted: dict[Flagged, NDArray[np.bool_]]) -> Tables:
    lengths = np.array([len(flags) for flags in wanted.values()], dtype=np.int64)
    ids = np.concatenate([cases[case].table for case, _ in wanted])
    copied = np.concatenate(list(wanted.values())).astype(np.int64)
    encoded = policy.read_texts(Texts(ids, copied, lengths))
    starts = np.cumsum(lengths) - lengths
    return Tables(
        dict(zip(wanted, starts.tolist(), strict=True)),
        encoded,
        policy.decoder.project_tables(encoded),
        policy.first.table_keys(encoded),
        policy.second.table_keys(encoded),
    )
