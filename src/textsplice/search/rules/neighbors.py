"""Rules about the texts that may be spliced from."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from textsplice.oracle.sources import OfferedNeighbor, Sources
from textsplice.policy.problem import Draft
from textsplice.search.rules.reading import only, strings, text
from textsplice.search.rules.rule import Allowed, Rule


@dataclass(frozen=True)
class ApprovedNeighbors(Rule):
    """Only these texts of the store may be spliced from."""

    ids: frozenset[str]
    name: ClassVar[str] = "approved-neighbors"
    of_sources: ClassVar[bool] = True

    def __init__(self, ids: Sequence[str] | frozenset[str]) -> None:
        object.__setattr__(self, "ids", frozenset(ids))

    def admits(self, neighbor: OfferedNeighbor) -> bool:
        return neighbor.id in self.ids

    def violation(self, draft: Draft) -> str | None:
        for neighbor in draft.sources.neighbors:
            if neighbor.id not in self.ids:
                return f"neighbor {neighbor.id!r} is not approved"
        return None

    def to_dict(self) -> dict[str, object]:
        return {"rule": self.name, "ids": sorted(self.ids)}

    @classmethod
    def from_dict(cls, data: Mapping[str, object], where: str) -> ApprovedNeighbors:
        only(data, ("ids",), where)
        return cls(strings(data, "ids", where))


@dataclass(frozen=True)
class NeverNeighbors(Rule):
    """These texts of the store are never spliced from."""

    ids: frozenset[str]
    name: ClassVar[str] = "never-neighbors"
    of_sources: ClassVar[bool] = True

    def __init__(self, ids: Sequence[str] | frozenset[str]) -> None:
        object.__setattr__(self, "ids", frozenset(ids))

    def admits(self, neighbor: OfferedNeighbor) -> bool:
        return neighbor.id not in self.ids

    def violation(self, draft: Draft) -> str | None:
        for neighbor in draft.sources.neighbors:
            if neighbor.id in self.ids:
                return f"neighbor {neighbor.id!r} is never to be used"
        return None

    def to_dict(self) -> dict[str, object]:
        return {"rule": self.name, "ids": sorted(self.ids)}

    @classmethod
    def from_dict(cls, data: Mapping[str, object], where: str) -> NeverNeighbors:
        only(data, ("ids",), where)
        return cls(strings(data, "ids", where))


@dataclass(frozen=True)
class StartFrom(Rule):
    """The first splice is of this text: it is offered first, however far it is from the table.

    For policies that choose splices, and for swap. A draft is derived after it was written, so what its
    derivation begins with was nobody's choice.
    """

    id: str
    whole: tuple[str, ...] = ()  # its tokens, where it is asked about splices
    name: ClassVar[str] = "start-from"
    of_sources: ClassVar[bool] = True

    def starts(self) -> Sequence[str]:
        return (self.id,)

    def about(self, sources: Sources) -> StartFrom:
        found = (neighbor.tokens for neighbor in sources.neighbors if neighbor.id == self.id)
        return replace(self, whole=next(found, ()))

    def splices(self, canvas: Sequence[str], start: int, rest: Sequence[str]) -> Allowed | None:
        if len(canvas) or tuple(rest) == self.whole:
            return None
        return np.zeros((len(canvas) - start + 1, len(rest)), dtype=np.bool_)

    def violation(self, draft: Draft) -> str | None:
        first = draft.derivation[0].neighbor if draft.derivation else None
        numbering = draft.sources.numbering
        started = None
        if first is not None and numbering.is_neighbor(first):
            started = draft.sources.neighbors[numbering.rank(first)].id
        return None if started == self.id else f"it does not start from {self.id!r}"

    def to_dict(self) -> dict[str, object]:
        return {"rule": self.name, "id": self.id}

    @classmethod
    def from_dict(cls, data: Mapping[str, object], where: str) -> StartFrom:
        only(data, ("id",), where)
        return cls(text(data, "id", where))


@dataclass(frozen=True)
class NeighborsWhere(Rule):
    """Only neighbors that a predicate accepts; files hold its `label` and not the predicate."""

    label: str
    predicate: Callable[[OfferedNeighbor], bool] | None
    name: ClassVar[str] = "neighbors-where"
    of_sources: ClassVar[bool] = True

    def admits(self, neighbor: OfferedNeighbor) -> bool:
        return self.predicate is None or self.predicate(neighbor)

    def violation(self, draft: Draft) -> str | None:
        for neighbor in draft.sources.neighbors:
            if not self.admits(neighbor):
                return f"neighbor {neighbor.id!r} is not {self.label!r}"
        return None

    def to_dict(self) -> dict[str, object]:
        return {"rule": self.name, "label": self.label}

    @classmethod
    def from_dict(cls, data: Mapping[str, object], where: str) -> NeighborsWhere:
        only(data, ("label",), where)
        return cls(text(data, "label", where), None)
