"""Rules about sentences: how many, and that none is replaced."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np

from textsplice.oracle.sources import OfferedNeighbor, Sources
from textsplice.oracle.splice import canvases
from textsplice.policy.problem import Draft
from textsplice.search.rules.reading import only, whole_number
from textsplice.search.rules.rule import Allowed, Rule
from textsplice.search.sentences import (
    NO_MARKS,
    Marks,
    count_after_splices,
    count_sentences,
    ends_with_mark,
    latest_stop,
)


@dataclass(frozen=True)
class SentenceRule(Rule):
    """A rule about sentences. A value is one piece, whatever marks it has; on a canvas they must be known."""

    marks: Marks | None = field(default=None, repr=False, compare=False, kw_only=True)

    def about(self, sources: Sources) -> Rule:
        return replace(self, marks=Marks.of_sources(sources))

    def _marks(self, draft: Draft) -> Marks:
        return Marks.of_sources(draft.sources) if self.marks is None else self.marks


@dataclass(frozen=True)
class KeepSentences(SentenceRule):
    """No splice removes a whole sentence from the canvas."""

    name: ClassVar[str] = "keep-sentences"

    def splices(self, canvas: Sequence[str], start: int, rest: Sequence[str]) -> Allowed | None:
        latest = latest_stop(canvas, start, self.marks or NO_MARKS)
        if latest >= len(canvas):
            return None
        allowed = np.zeros((len(canvas) - start + 1, len(rest)), dtype=np.bool_)
        allowed[: latest - start + 1] = True
        return allowed

    def violation(self, draft: Draft) -> str | None:
        before: list[str] = []
        marks = self._marks(draft)
        made = canvases(draft.derivation, draft.sources)
        for step, (splice, canvas) in enumerate(zip(draft.derivation, made, strict=True)):
            if splice.stop > latest_stop(before, splice.start, marks):
                return f"splice {step} replaces a whole sentence"
            before = list(map(draft.sources.token, canvas))
        return None

    def to_dict(self) -> dict[str, object]:
        return {"rule": self.name}

    @classmethod
    def from_dict(cls, data: Mapping[str, object], where: str) -> KeepSentences:
        only(data, (), where)
        return cls()


@dataclass(frozen=True)
class MinSentences(SentenceRule):
    """At least `count` sentences: only such neighbors are offered, and no splice goes below again."""

    count: int
    name: ClassVar[str] = "min-sentences"

    def admits(self, neighbor: OfferedNeighbor) -> bool:
        return count_sentences(neighbor.tokens, Marks.inside_words([neighbor.text])) >= self.count

    def splices(self, canvas: Sequence[str], start: int, rest: Sequence[str]) -> Allowed | None:
        before, after = count_after_splices(canvas, start, rest, self.marks or NO_MARKS)
        return after >= self.count if before >= self.count else None

    def lacks(self, draft: Draft) -> int:
        # A sentence without a mark at its end may go on forever.
        open_end = len(draft.tokens) > 0 and not ends_with_mark(draft.tokens)
        return max(self.count - count_sentences(draft.tokens, self._marks(draft)) + open_end, 0)

    def mendable(self, draft: Draft) -> bool:
        del draft
        return True

    def violation(self, draft: Draft) -> str | None:
        found = count_sentences(draft.tokens, self._marks(draft))
        return f"{_sentences(found)} where at least {self.count} are wanted" if found < self.count else None

    def to_dict(self) -> dict[str, object]:
        return {"rule": self.name, "count": self.count}

    @classmethod
    def from_dict(cls, data: Mapping[str, object], where: str) -> MinSentences:
        only(data, ("count",), where)
        return cls(whole_number(data, "count", where))


@dataclass(frozen=True)
class MaxSentences(SentenceRule):
    """At most `count` sentences: only such neighbors are offered, and no splice goes above."""

    count: int
    name: ClassVar[str] = "max-sentences"

    def admits(self, neighbor: OfferedNeighbor) -> bool:
        return count_sentences(neighbor.tokens, Marks.inside_words([neighbor.text])) <= self.count

    def splices(self, canvas: Sequence[str], start: int, rest: Sequence[str]) -> Allowed | None:
        before, after = count_after_splices(canvas, start, rest, self.marks or NO_MARKS)
        return after <= max(self.count, before)

    def violation(self, draft: Draft) -> str | None:
        found = count_sentences(draft.tokens, self._marks(draft))
        return f"{_sentences(found)} where at most {self.count} are wanted" if found > self.count else None

    def to_dict(self) -> dict[str, object]:
        return {"rule": self.name, "count": self.count}

    @classmethod
    def from_dict(cls, data: Mapping[str, object], where: str) -> MaxSentences:
        only(data, ("count",), where)
        return cls(whole_number(data, "count", where))


def _sentences(count: int) -> str:
    return "1 sentence" if count == 1 else f"{count} sentences"
