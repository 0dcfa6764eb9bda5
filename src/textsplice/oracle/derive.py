"""Least derivation of one text from any sequences of hashable tokens."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TypeVar

import numpy as np

from textsplice.errors import InputError
from textsplice.oracle.batch import derive_corpus
from textsplice.oracle.splice import Splice
from textsplice.ragged import Ragged

Token = TypeVar("Token", bound=Hashable)


def derive(target: Sequence[Token], neighbors: Sequence[Sequence[Token]]) -> list[Splice]:
    """The fewest splices that make `target` out of `neighbors`, which stand in order of preference.

    Among derivations as short the choice is that of `textsplice.oracle.kernel`. The first call on a machine
    compiles the kernel; later ones load it.
    """
    require_sources(target, neighbors)
    ids = {token: number for number, token in enumerate(dict.fromkeys(target))}
    unknown = len(ids)  # a neighbour's token the target does not have
    derivations = derive_corpus(
        Ragged.from_rows([[ids[token] for token in target]]),
        table_tokens=Ragged.from_rows([[]]),
        table_segments=Ragged.from_rows([[]]),
        table_of=np.zeros(1, dtype=np.int32),
        store_tokens=Ragged.from_rows(
            [[ids.get(token, unknown) for token in neighbor] for neighbor in neighbors]
        ),
        neighbors=np.arange(len(neighbors), dtype=np.int32)[None],
        mask_id=-1,
    )
    return [splice._replace(neighbor=splice.neighbor - 1) for splice in derivations[0]]


def require_sources(target: Sequence[Token], neighbors: Sequence[Sequence[Token]]) -> None:
    """`InputError` unless every token of the target stands in some neighbour."""
    found = {token for neighbor in neighbors for token in neighbor}
    for position, token in enumerate(target):
        if token not in found:
            raise InputError(
                f"token {token!r} stands in no neighbour.",
                where=f"target position {position}",
                remedy="Add a neighbour that has it, such as the token alone.",
            )
