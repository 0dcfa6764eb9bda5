"""Rules about sentences: how many, and that none is replaced."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from textsplice.oracle.sources import OfferedNeighbor
from textsplice.oracle.splice import canvases
from textsplice.policy.problem import Draft
from textsplice.search.rules.reading import whole_number
from textsplice.search.rules.rule import Allowed, Rule
from textsplice.search.sentences import count_sentences, ends_sentence, latest_stop


@dataclass(frozen=True)
class KeepSentences(Rule):
    """No splice removes a whole sentence from the canvas."""

    name: ClassVar[str] = "keep-sentences"

    def splices(self, canvas: Sequence[str], start: int, rest: Sequence[str]) -> Allowed | None:
        latest = latest_stop(canvas, start)
        if latest >= len(canvas):
            return None
        allowed = np.zeros((len(canvas) - start + 1, len(rest)), dtype=np.bool_)
        allowed[: latest - start + 1] = True
        return allowed

    def violation(self, draft: Draft) -> str | None:
        before: list[str] = []
        made = canvases(draft.derivation, draft.sources)
        for step, (splice, canvas) in enumerate(zip(draft.derivation, made, strict=True)):
            if splice.stop > latest_stop(before, splice.start):
                return f"splice {step} replaces a whole sentence"
            before = list(map(draft.sources.token, canvas))
        return None


@dataclass(frozen=True)
class MinSentences(Rule):
    """At least `count` sentences: only such neighbors are offered, and no splice goes below again."""

    count: int
    name: ClassVar[str] = "min-sentences"

    def admits(self, neighbor: OfferedNeighbor) -> bool:
        return count_sentences(neighbor.tokens) >= self.count

    def splices(self, canvas: Sequence[str], start: int, rest: Sequence[str]) -> Allowed | None:
        before, after = _marks(canvas, start, rest)
        return after >= self.count if before >= self.count else None

    def lacks(self, draft: Draft) -> int:
        # A sentence without a mark at its end may go on forever.
        open_end = len(draft.tokens) > 0 and not ends_sentence(draft.tokens[-1])
        return max(self.count - count_sentences(draft.tokens) + open_end, 0)

    def mendable(self, draft: Draft) -> bool:
        del draft
        return True

    def violation(self, draft: Draft) -> str | None:
        found = count_sentences(draft.tokens)
        return f"{_sentences(found)} where at least {self.count} are wanted" if found < self.count else None

    def to_dict(self) -> dict[str, object]:
        return {"rule": self.name, "count": self.count}

    @classmethod
    def from_dict(cls, data: Mapping[str, object], where: str) -> MinSentences:
        return cls(whole_number(data, "count", where))


@dataclass(frozen=True)
class MaxSentences(Rule):
    """At most `count` sentences: only such neighbors are offered, and no splice goes above."""

    count: int
    name: ClassVar[str] = "max-sentences"

    def admits(self, neighbor: OfferedNeighbor) -> bool:
        return count_sentences(neighbor.tokens) <= self.count

    def splices(self, canvas: Sequence[str], start: int, rest: Sequence[str]) -> Allowed | None:
        before, after = _marks(canvas, start, rest)
        return after <= max(self.count, before)

    def violation(self, draft: Draft) -> str | None:
        found = count_sentences(draft.tokens)
        return f"{_sentences(found)} where at most {self.count} are wanted" if found > self.count else None

    def to_dict(self) -> dict[str, object]:
        return {"rule": self.name, "count": self.count}

    @classmethod
    def from_dict(cls, data: Mapping[str, object], where: str) -> MaxSentences:
        return cls(whole_number(data, "count", where))


def _marks(canvas: Sequence[str], start: int, rest: Sequence[str]) -> tuple[int, NDArray[np.int64]]:
    """How many marks end sentences on the canvas, and how many would after each splice."""
    marks = np.array([ends_sentence(token) for token in canvas], dtype=np.int64)
    before = int(marks.sum())
    removed = np.concatenate(([0], np.cumsum(marks[start:])))
    laid = np.cumsum([ends_sentence(token) for token in rest])
    return before, before - removed[:, None] + laid[None, :]


def _sentences(count: int) -> str:
    return "1 sentence" if count == 1 else f"{count} sentences"
