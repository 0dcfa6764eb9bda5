"""Swap, the untrained baseline: the best neighbor, with its values replaced by those of this table.

It needs nothing but a corpus, so there is text before any training, and every trained policy has an honest
baseline to beat. Its texts are derivations like all others: one splice places the neighbor, one more per
value replaces what the neighbor says of its own table.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from textsplice.config import SearchConfig
from textsplice.corpus.table import Example
from textsplice.oracle.numbering import TABLE
from textsplice.oracle.sources import OfferedNeighbor, Sources
from textsplice.oracle.splice import Splice
from textsplice.oracle.writing import unmasked
from textsplice.policy.kind import Kind
from textsplice.policy.problem import Candidate, Outcome, broken_rule
from textsplice.search.choose import slot_slips
from textsplice.search.derive import derive
from textsplice.search.offers import Offers
from textsplice.search.propose import Proposal
from textsplice.search.rules.rule import Rule
from textsplice.slots.dates import day_of
from textsplice.stopping import stop_if_unwanted
from textsplice.text.linearize import Linearized, Segment
from textsplice.text.masking import mask_runs, saying
from textsplice.text.tokens import Tokenizer

SWAP = Kind("swap")
REACH = 10  # times k neighbors are looked at, since not every one can be used
NOT_USABLE = "no neighbor can be used: each shows a field that this table lacks"
NOT_OFFERED = "no text of the store may be spliced from"


class SwapTask(NamedTuple):
    """A table to put into words by swapping, the rules for the text, and the fields of numbers or days."""

    table: Linearized
    rules: Sequence[Rule]
    tokenizer: Tokenizer
    numbers: Collection[str] = ()


@dataclass(frozen=True)
class SwapProposer:
    """Proposes what swapping makes of the nearest usable neighbors, of `reach · k` at a time."""

    offers: Offers
    reach: int = 1
    kind: Kind = SWAP

    def choosing(self, search: SearchConfig) -> SearchConfig:
        """Its scores already count slips, and there is no likelihood to weigh a judge against."""
        return replace(search, choose="likelihood", slots_first=False, judge="")

    def propose(
        self, examples: Sequence[Example], rules: tuple[Rule, ...], search: SearchConfig
    ) -> Iterator[Proposal]:
        """The swapped texts of each table, one table after another."""
        del search
        return (self._proposal(example, rules) for example in examples)

    def _proposal(self, example: Example, rules: tuple[Rule, ...]) -> Proposal:
        offers, store = self.offers, self.offers.store
        # Swapping takes one text: if a rule says which, no other one is tried.
        asked = any(rule.starts() for rule in rules)
        rows = offers.starts(rules) if asked else offers.find(example.table, rules, reach=REACH)
        tables = (store.linearize(store.tables[int(store.table_of[row])]) for row in rows)
        neighbors = zip(map(offers.neighbor, rows), tables, strict=True)
        numbers = [name for name, kind in store.kinds.items() if kind in ("number", "date")]
        task = SwapTask(store.linearize(example.table), rules, store.tokenizer, numbers)
        sources, outcome = swap(task, neighbors, window=self.reach * offers.k)
        return Proposal(example, sources, offers.vocabulary.words, outcome)


def swap(
    task: SwapTask, neighbors: Iterable[tuple[OfferedNeighbor, Linearized]], *, window: int
) -> tuple[Sources, Outcome]:
    """Texts of the nearest neighbors that can be used, and the sources they are made of.

    `neighbors` come with their own tables, nearest first. They are tried in groups of `window`; the first
    group that has a text is the last, and its text with the fewest slips is the best.
    """
    outcome = Outcome()
    outcome.obstacle = NOT_OFFERED
    used: list[OfferedNeighbor] = []
    for rank, (neighbor, table) in enumerate(neighbors):
        if used and rank % window == 0:
            break
        stop_if_unwanted()
        sources = Sources(task.table, (*used, neighbor), {})
        splices = swap_values(sources, len(used), table, task.tokenizer, task.numbers)
        if splices is None:
            outcome.hinder(NOT_USABLE, rule=False, score=-rank)
            continue
        # The number of the neighbor stands for the words: each neighbor has one text.
        found = derive(Candidate(tuple(splices), (len(used),), 0.0), sources, ())
        reason = found.obstacle or broken_rule(task.rules, found.draft)
        if reason is None:
            used.append(neighbor)
            # No probabilities here: fewer slips are better, then nearer.
            score = -slot_slips(found.draft) - rank / 1000
            outcome.finish(found.candidate._replace(score=score))
        else:
            outcome.hinder(reason, rule=True, score=-rank)
    return Sources(task.table, tuple(used), {}), outcome


def swap_values(
    sources: Sources, rank: int, own: Linearized, tokenizer: Tokenizer, numbers: Collection[str] = ()
) -> list[Splice] | None:
    """The splices that place a neighbor and replace its values by this table's; None if one is missing."""
    neighbor = sources.neighbors[rank]
    words = unmasked(neighbor, tokenizer)
    if words is None:
        return None
    splices = [Splice(0, 0, sources.numbering.neighbor(rank), 0, len(neighbor.tokens))]
    grown = 1  # begin comes before the words; each value shifts what follows it
    for start, stop in mask_runs(words, own.value_tokens()):
        value = _counterpart(words[start:stop], own, sources.table, numbers)
        if value is None:
            return None
        splices.append(Splice(start + grown, stop + grown, TABLE, value.start, value.stop))
        grown += (value.stop - value.start) - (stop - start)
    return splices


def _counterpart(
    run: Sequence[str], own: Linearized, table: Linearized, numbers: Collection[str]
) -> Segment | None:
    """What this table has of the field that a run of the neighbor's words says, if it has any."""
    for segment in saying(run, own):
        same = [other for other in table.segments if other.field == segment.field]
        rank = sum(s.field == segment.field for s in own.segments[: own.segments.index(segment)])
        if same:
            value = same[min(rank, len(same) - 1)]
            return _part(run, segment, own, value, table) if segment.field in numbers else value
    return None


def _part(
    run: Sequence[str], segment: Segment, own: Linearized, value: Segment, table: Linearized
) -> Segment:
    """The part of a number that a run is of the neighbor's, if both differ in nothing else; or all of it.

    Of a day written in the same form, it is the same part.

    Where the neighbor says `152 square metres` of its `152 m²`, the unit is in the words around it.
    """
    said, words = (
        [word.casefold() for word in linearized.tokens[each.start : each.stop]]
        for linearized, each in ((own, segment), (table, value))
    )
    part = [word.casefold().strip(" ") for word in run]
    for start in range(len(said) - len(part) + 1):
        stop = start + len(part)
        around = said[:start] + said[stop:]
        if not around or said[start:stop] != part:
            continue
        # `March 1987` of one day is `May 1962` of another one.
        alike = len(said) == len(words) and day_of(" ".join(said)) and day_of(" ".join(words))
        if alike or around == words[:start] + words[stop:]:
            return value._replace(start=value.start + start, stop=value.start + stop)
    return value
