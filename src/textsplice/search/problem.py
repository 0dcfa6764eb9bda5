"""What a search is given for one table, and what it gives back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from textsplice.oracle.sources import SourceKind, Sources
from textsplice.oracle.splice import Origin, Splice
from textsplice.policy.cases import Case, Keys
from textsplice.search.rules import Draft, Rule, broken_rule


@dataclass(frozen=True)
class Problem:
    """One table to be said: what the policy reads, what people read, and the rules in force.

    `words[id]` spells every id of the case, also words of the table that the vocabulary lacks.
    """

    case: Case
    sources: Sources
    rules: tuple[Rule, ...]
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


class Candidate(NamedTuple):
    """A text that was found: its derivation, the ids of its words, and the mean log-probability."""

    splices: tuple[Splice, ...]
    ids: tuple[int, ...]
    score: float


@dataclass
class Outcome:
    """What was found for one table, filled while the search goes on."""

    finished: dict[tuple[int, ...], Candidate] = field(default_factory=dict)
    unfinished: Candidate | None = None
    obstacle: str = "no splice is possible: the table, the neighbours and the vocabulary offer nothing"
    _obstacle_rank: tuple[int, float] = (0, float("-inf"))

    def finish(self, candidate: Candidate) -> None:
        """Keeps a finished text; of two derivations of one text the more probable one."""
        known = self.finished.get(candidate.ids)
        if known is None or candidate.score > known.score:
            self.finished[candidate.ids] = candidate

    def could_end(self, candidate: Candidate) -> None:
        """Keeps the best text that breaks no rule though the policy has not ended it."""
        if self.unfinished is None or candidate.score > self.unfinished.score:
            self.unfinished = candidate

    def hinder(self, reason: str, *, rule: bool, score: float) -> None:
        """Remembers why the most probable canvas can't be a text; broken rules say more than gaps."""
        rank = (2 if rule else 1, score)
        if rank > self._obstacle_rank:
            self.obstacle, self._obstacle_rank = reason, rank

    def ranked(self) -> list[Candidate]:
        """The finished texts, most probable first; ties by the derivation."""
        return sorted(self.finished.values(), key=lambda c: (-c.score, c.splices))

    def worst_of_best(self, count: int) -> float:
        """The score a text must beat to be among the best `count`."""
        scores = sorted((c.score for c in self.finished.values()), reverse=True)
        return scores[count - 1] if len(scores) >= count else float("-inf")


def draft(
    problem: Problem,
    ids: NDArray[np.int32],
    origins: NDArray[np.int32],
    splices: Sequence[Splice],
) -> Draft:
    """A canvas without gaps, as the rules look at it."""
    inner = [Origin(*row) for row in origins[1:-1].tolist()]
    sources = problem.sources.using(splices, problem.words)
    return Draft(problem.spell(ids[1:-1]), inner, sources, splices)


def breaks(problem: Problem, text: Draft) -> str | None:
    """How a draft breaks the problem's rules."""
    return broken_rule(problem.rules, text)
