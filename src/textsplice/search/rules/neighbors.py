"""Rules about the texts that may be spliced from."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from textsplice.oracle.sources import OfferedNeighbor
from textsplice.policy.problem import Draft
from textsplice.search.rules.reading import only, strings, text
from textsplice.search.rules.rule import Rule


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
