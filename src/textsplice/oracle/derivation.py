"""A derivation: the splices that lead from the empty canvas to a text."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from textsplice.oracle.splice import Origin, Splice, provenance, replay, trace

Token = TypeVar("Token", bound=Hashable)


@dataclass(frozen=True, slots=True)
class Derivation(Generic[Token]):
    """Splices and the texts they copy from."""

    splices: tuple[Splice, ...]
    neighbors: tuple[Sequence[Token], ...]

    @property
    def cost(self) -> int:
        """The number of splices."""
        return len(self.splices)

    @property
    def target(self) -> list[Token]:
        """The text it makes."""
        return replay(self.splices, self.neighbors)

    @property
    def canvases(self) -> list[list[Token]]:
        """The canvas after each splice; the last one is the target."""
        return [
            [self.neighbors[origin.neighbor][origin.position] for origin in canvas]
            for canvas in trace(self.splices, self.neighbors)
        ]

    @property
    def provenance(self) -> list[Origin]:
        """The origin of each token of the target."""
        return provenance(self.splices, self.neighbors)
