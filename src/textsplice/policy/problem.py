"""What a policy is given to generate the text of one table, and what it gives back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from textsplice.config import SearchConfig
from textsplice.oracle.sources import SourceKind, Sources
from textsplice.oracle.splice import Origin, Splice
from textsplice.policy.cases import Case, Keys
from textsplice.text.linearize import Segment


class Draft(NamedTuple):
    """A text that could be given: its words without begin and end, their origins, and how it was made."""

    tokens: Sequence[str]
    origins: Sequence[Origin]
    sources: Sources
    derivation: Sequence[Splice]


class Constraint(Protocol):
    """What a beam asks of a rule; `search.rules.Rule` answers all of it."""

    def permits(self, word: str, kind: SourceKind) -> bool:
        """Whether a token may be placed on a canvas from this kind of source."""
        ...

    def splices(self, canvas: Sequence[str], start: int, rest: Sequence[str]) -> NDArray[np.bool_] | None:
        """Which splices at `start` are allowed, by (stop - start, end - begin - 1); None if all are.

        `rest` is the source from `begin` on.
        """
        ...

    def missing(self, draft: Draft) -> Sequence[Segment]:
        """Values of the table that must be placed before the text may end."""
        ...

    def lacks(self, draft: Draft) -> int:
        """How far a text written left to right is from where it may end; 0 if the rule allows the end."""
        ...

    def mendable(self, draft: Draft) -> bool:
        """Whether a text that breaks the rule can still obey it if more is written after it."""
        ...

    def violation(self, draft: Draft) -> str | None:
        """How a text breaks the rule, as a clause; None if it does not."""
        ...


@dataclass(frozen=True)
class Problem:
    """One table to put into words: what the policy reads, what people read, and the rules in force.

    `words[id]` spells each id of the case, including words of the table that the vocabulary lacks.
    """

    case: Case
    sources: Sources
    rules: tuple[Constraint, ...]
    words: Sequence[str]

    def spell(self, ids: NDArray[np.int32]) -> list[str]:
        """The tokens of ids."""
        numbers: list[int] = ids.tolist()
        return [self.words[number] for number in numbers]

    def closed(self, keys: Keys) -> NDArray[np.bool_] | None:
        """The columns that some rule keeps off the canvas; None if there are none."""
        if not self.rules:
            return None
        kinds: list[SourceKind] = [self.sources.kind(source) for source in keys.source.tolist()]
        closed = np.array(
            [
                not all(rule.permits(word, kind) for rule in self.rules)
                for word, kind in zip(self.spell(keys.word.astype(np.int32)), kinds, strict=True)
            ],
            dtype=np.bool_,
        )
        return closed if closed.any() else None

    def draft(self, ids: NDArray[np.int32], origins: NDArray[np.int32], splices: Sequence[Splice]) -> Draft:
        """A canvas from begin to end, as the rules look at it."""
        inner = [Origin(*row) for row in origins[1:-1].tolist()]
        return Draft(self.spell(ids[1:-1]), inner, self.sources.using(splices, self.words), splices)


class Candidate(NamedTuple):
    """A text that was found: its derivation, the ids of its words, and the mean log-probability."""

    splices: tuple[Splice, ...]
    ids: tuple[int, ...]
    score: float


@dataclass
class Outcome:
    """What was found for one table, filled in during the search."""

    finished: dict[tuple[int, ...], Candidate] = field(default_factory=dict)
    unfinished: Candidate | None = None
    obstacle: str = "no splice is possible: the table, the neighbors and the vocabulary offer nothing"
    _obstacle_rank: tuple[int, float] = (0, float("-inf"))

    def finish(self, candidate: Candidate) -> None:
        """Keeps a finished text; of two derivations of one text the more probable one."""
        known = self.finished.get(candidate.ids)
        if known is None or candidate.score > known.score:
            self.finished[candidate.ids] = candidate

    def could_end(self, candidate: Candidate) -> None:
        """Keeps the best text that breaks no rule although the policy has not ended it."""
        if self.unfinished is None or candidate.score > self.unfinished.score:
            self.unfinished = candidate

    def hinder(self, reason: str, *, rule: bool, score: float) -> None:
        """Keeps why the most probable canvas is not a text; a broken rule says more than other reasons."""
        rank = (2 if rule else 1, score)
        if rank > self._obstacle_rank:
            self.obstacle, self._obstacle_rank = reason, rank

    def ranked(self) -> list[Candidate]:
        """The finished texts, most probable first; ties by the derivation."""
        return sorted(self.finished.values(), key=lambda c: (-c.score, c.splices))

    def worst_of_best(self, count: int) -> float:
        """The score that a text must beat to be among the best `count`."""
        scores = sorted((c.score for c in self.finished.values()), reverse=True)
        return scores[count - 1] if len(scores) >= count else float("-inf")


def broken_rule(rules: Sequence[Constraint], draft: Draft) -> str | None:
    """How a text breaks the first of the rules that it breaks."""
    for rule in rules:
        violation = rule.violation(draft)
        if violation:
            return violation
    return None


def wants_one(search: SearchConfig) -> bool:
    """Whether only the most probable text is needed, since nothing else has a say in the choice."""
    others = search.slots_first or search.seams or search.avoid or search.whole_sentences
    return search.choose == "likelihood" and not others
