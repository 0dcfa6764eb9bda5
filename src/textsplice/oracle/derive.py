"""A least derivation of one text from sequences of any hashable tokens."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TypeVar

import numpy as np

from textsplice.errors import InputError
from textsplice.oracle.batch import derive_corpus
from textsplice.oracle.numbering import Numbering
from textsplice.oracle.splice import Splice
from textsplice.ragged import Ragged

Token = TypeVar("Token", bound=Hashable)


def derive(target: Sequence[Token], neighbors: Sequence[Sequence[Token]]) -> list[Splice]:
    """The fewest splices that make `target` from `neighbors`, which are in order of preference.

    `textsplice.oracle.kernel` says which of several shortest derivations is chosen. The first call on a
    machine compiles the kernel; later calls load it. `InputError` if a token of the target is in no neighbor.
    """
    require_sources(target, neighbors)
    ids = {token: number for number, token in enumerate(dict.fromkeys(target))}
    unknown = len(ids)  # tokens of neighbors that the target does not have
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
    numbering = Numbering(len(neighbors))
    return [splice._replace(neighbor=numbering.rank(splice.neighbor)) for splice in derivations[0]]


def require_sources(target: Sequence[Token], neighbors: Sequence[Sequence[Token]]) -> None:
    """`InputError` unless every token of the target is in some neighbor."""
    found = {token for neighbor in neighbors for token in neighbor}
    for position, token in enumerate(target):
        if token not in found:
            raise InputError(
                f"token {token!r} is in no neighbor.",
                where=f"target position {position}",
                remedy="Add a neighbor that has it, such as the token alone.",
            )
