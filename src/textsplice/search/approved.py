"""Approved texts: where one was added for the very same record, it is given as it is.

It is asked for before any policy, if `search.approved_first`. The text is one splice of the whole approved
text. Its values are not masked there: they are those of this record.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from textsplice.config import SearchConfig
from textsplice.corpus.table import Example, Table
from textsplice.oracle.sources import OfferedNeighbor, Sources
from textsplice.oracle.splice import Splice
from textsplice.policy.kind import Kind
from textsplice.policy.problem import Candidate, Outcome, broken_rule
from textsplice.search.derive import derive
from textsplice.search.offers import Offers
from textsplice.search.propose import Proposal
from textsplice.search.rules.rule import Rule
from textsplice.text.tokens import BEGIN, END, tokenize

APPROVED = Kind("approved")
NONE_APPROVED = "no text of this very record was approved"


@dataclass(frozen=True)
class ApprovedProposer:
    """Proposes the newest approved text of a record that the rules allow, and nothing else."""

    offers: Offers
    kind: Kind = APPROVED

    def choosing(self, search: SearchConfig) -> SearchConfig:
        """There is one text, so there is nothing to choose."""
        plain = replace(search, choose="likelihood", slots_first=False, judge="", seams=0.0)
        return replace(plain, avoid=(), whole_sentences=False)

    def propose(
        self, examples: Sequence[Example], rules: tuple[Rule, ...], search: SearchConfig
    ) -> Iterator[Proposal]:
        """The approved text of each table, if it has one."""
        del search
        return (self._proposal(example, rules) for example in examples)

    def find(self, table: Table, rules: tuple[Rule, ...]) -> OfferedNeighbor | None:
        """The text that is given for a table under these rules; None if there is none."""
        proposal = self._proposal(Example("", table, None), rules)
        return proposal.sources.neighbors[0] if proposal.outcome.finished else None

    def _proposal(self, example: Example, rules: tuple[Rule, ...]) -> Proposal:
        store = self.offers.store
        table = store.linearize(example.table)
        outcome = Outcome()
        outcome.obstacle = NONE_APPROVED
        for age, row in enumerate(store.approved_of(example.table)):
            words = tokenize(store.texts[row], store.tokenizer)
            neighbor = OfferedNeighbor(store.ids[row], store.texts[row], (BEGIN, *words, END))
            sources = Sources(table, (neighbor,), {})
            whole = Splice(0, 0, sources.numbering.neighbor(0), 0, len(neighbor.tokens))
            found = derive(Candidate((whole,), (0,), 0.0), sources, ())
            admitted = all(rule.admits(neighbor) for rule in rules)
            reason = found.obstacle or broken_rule(rules, found.draft)
            if admitted and reason is None:
                outcome.finish(found.candidate)
                return Proposal(example, sources, (), outcome)
            outcome.hinder(reason or "a rule does not admit the approved text", rule=True, score=-age)
        return Proposal(example, Sources(table, (), {}), (), outcome)
