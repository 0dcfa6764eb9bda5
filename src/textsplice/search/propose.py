"""Where candidates come from: the `Proposer` interface, and the proposer of a trained policy."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

from textsplice.config import SearchConfig
from textsplice.corpus.table import Example
from textsplice.memory import is_out_of_memory
from textsplice.oracle.sources import OfferedNeighbor, Sources
from textsplice.policy.cases import Case
from textsplice.policy.kind import Kind
from textsplice.policy.problem import Outcome, Problem
from textsplice.search.offers import Offers
from textsplice.search.rules.rule import Rule

if TYPE_CHECKING:
    from textsplice.policy.policy import Policy
    from textsplice.search.encodings import Encodings


@dataclass(frozen=True)
class Proposal:
    """What was found for one table, and the sources that its splices refer to; `words[id]` spells ids.

    `similar` is what people wrote of similar tables, where that is not what the splices refer to. `order` are
    the ids of the candidates, best first, where they were chosen among before they were derived.
    """

    example: Example
    sources: Sources
    words: Sequence[str]
    outcome: Outcome
    similar: Sequence[OfferedNeighbor] | None = None
    order: Sequence[tuple[int, ...]] | None = None


class Proposer(Protocol):
    """Proposes finished texts with their derivations. A proposer may ignore rules: they are checked again."""

    @property
    def kind(self) -> Kind:
        """What it says of itself."""
        ...

    def choosing(self, search: SearchConfig) -> SearchConfig:
        """The settings by which its candidates are chosen among."""
        ...

    def propose(
        self, examples: Sequence[Example], rules: tuple[Rule, ...], search: SearchConfig
    ) -> Iterable[Proposal]:
        """Candidates for each table, in order; they must not depend on which tables share a batch."""
        ...


@dataclass(frozen=True)
class Task:
    """One table, the rows of the store that are offered to it, and what the policy is given."""

    example: Example
    rows: Sequence[int]
    problem: Problem


@dataclass(frozen=True)
class PolicyProposer:
    """Asks a policy, which gets the neighbors of each table and their encodings."""

    policy: Policy
    offers: Offers
    encodings: Encodings

    @property
    def kind(self) -> Kind:
        """The policy's kind."""
        return self.policy.kind

    def choosing(self, search: SearchConfig) -> SearchConfig:
        """All settings apply."""
        return search

    def propose(
        self, examples: Sequence[Example], rules: tuple[Rule, ...], search: SearchConfig
    ) -> list[Proposal]:
        """What the policy proposes for each table."""
        tasks = self.tasks(examples, rules, mask_fields=search.misplaced_values != "free")
        return [
            Proposal(task.example, task.problem.sources, task.problem.words, outcome)
            for task, outcome in zip(tasks, self._search(tasks, search), strict=True)
        ]

    def tasks(
        self, examples: Sequence[Example], rules: tuple[Rule, ...], *, mask_fields: bool = False
    ) -> list[Task]:
        """What the policy is given; words that only these tables have get ids for the batch."""
        store = self.offers.store
        linearized = [store.linearize(example.table) for example in examples]
        vocabulary = self.offers.vocabulary.extended(token for each in linearized for token in each.tokens)
        tasks: list[Task] = []
        for example, table in zip(examples, linearized, strict=True):
            rows = self.offers.find(example.table, rules) if self.kind.uses_neighbors else []
            sources = Sources(table, tuple(map(self.offers.neighbor, rows)), {})
            case = Case(
                np.array(vocabulary.encode(table.tokens), dtype=np.int32),
                np.array(table.segment_numbers(), dtype=np.int32),
                [store.tokens[row] for row in rows],
                [self.offers.mask_fields(row) for row in rows] if mask_fields else (),
            )
            asked = tuple(rule.about(sources) for rule in rules)
            tasks.append(Task(example, rows, Problem(case, sources, asked, vocabulary.words)))
        return tasks

    def _search(self, tasks: Sequence[Task], search: SearchConfig) -> list[Outcome]:
        """Searches a batch; if it does not fit into memory, its halves."""
        try:
            encodings = self.encodings.of([task.rows for task in tasks])
            return self.policy.propose([task.problem for task in tasks], search, encodings)
        except (MemoryError, RuntimeError) as error:
            if len(tasks) == 1 or not is_out_of_memory(error):
                raise
        half = len(tasks) // 2
        warnings.warn(
            f"out of memory with {len(tasks)} tables at once; going on with {half}.",
            RuntimeWarning,
            stacklevel=2,
        )
        return [*self._search(tasks[:half], search), *self._search(tasks[half:], search)]
