"""Swap, the untrained baseline: the best neighbour, with the values it shows replaced by this table's.

It needs nothing but a corpus, so a stranger has text before any training, and every learned policy has
something honest to beat. Its texts are derivations like all others: one splice lays the neighbour, one
more a value replaces what the neighbour says of its own table.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from textsplice.corpus.table import Table
from textsplice.oracle.canvas import TOKEN_MARKS, obstacle
from textsplice.oracle.sources import OfferedNeighbor, Sources
from textsplice.oracle.splice import Splice, trace
from textsplice.search.choose import slot_slips
from textsplice.search.generation import inner
from textsplice.search.problem import Candidate, Outcome
from textsplice.search.rules import Draft, Rule, broken_rule
from textsplice.text.linearize import Linearized, Segment, linearize
from textsplice.text.masking import mask_runs
from textsplice.text.tokens import Tokenizer, tokenize


class SwapTask(NamedTuple):
    """A table to be said by swapping, and what must hold of the text."""

    table: Linearized
    rules: Sequence[Rule]
    tokenizer: Tokenizer


REACH = 10  # times k neighbours are looked at, since not every one can be used
NOT_USABLE = "no neighbour can be used: each shows a field that this table lacks"
NOT_OFFERED = "no text of the store may be spliced from"


def swap(
    task: SwapTask, neighbors: Iterable[tuple[OfferedNeighbor, Table]], *, window: int
) -> tuple[Sources, Outcome]:
    """Texts of the nearest neighbours that can be used, and the sources they are made of.

    `neighbors` come with their own tables, nearest first. Of each `window` of them in turn all are
    tried; the first window with a text ends the search, and its text with the fewest slips is the best.
    """
    outcome = Outcome()
    outcome.obstacle = NOT_OFFERED
    used: list[OfferedNeighbor] = []
    for rank, (neighbor, table) in enumerate(neighbors):
        if used and rank % window == 0:
            break
        sources = Sources(task.table, (*used, neighbor), {})
        splices = swap_values(sources, len(used) + 1, linearize(table, task.tokenizer), task.tokenizer)
        if splices is None:
            outcome.hinder(NOT_USABLE, rule=False, score=-rank)
            continue
        origins = trace(splices, sources)[-1]
        words = inner(origins, sources)
        draft = Draft(list(map(sources.token, words)), words, sources, splices)
        canvas = list(map(sources.token, origins))
        reason = obstacle(canvas, TOKEN_MARKS) or broken_rule(task.rules, draft)
        if reason is None:
            used.append(neighbor)
            # No probabilities here: fewer slips are better, then nearer. The number stands for the words.
            score = -slot_slips(draft) - rank / 1000
            outcome.finish(Candidate(tuple(splices), (len(used),), score))
        else:
            outcome.hinder(reason, rule=True, score=-rank)
    return Sources(task.table, tuple(used), {}), outcome


def swap_values(sources: Sources, number: int, own: Linearized, tokenizer: Tokenizer) -> list[Splice] | None:
    """The splices that lay a neighbour and put this table's values for its own; None if one is missing."""
    neighbor = sources.neighbors[number - 1]
    words = tokenize(neighbor.text, tokenizer)
    splices = [Splice(0, 0, number, 0, len(neighbor.tokens))]
    grown = 1  # begin stands before the words; each value shifts what follows it
    for start, stop in mask_runs(words, own.value_tokens()):
        value = _counterpart(words[start:stop], own, sources.table)
        if value is None:
            return None
        splices.append(Splice(start + grown, stop + grown, 0, value.start, value.stop))
        grown += (value.stop - value.start) - (stop - start)
    return splices


def _counterpart(run: Sequence[str], own: Linearized, table: Linearized) -> Segment | None:
    """This table's value of the field that a run of the neighbour's words says, if it has one."""
    for segment, value in zip(own.segments, own.value_tokens(), strict=True):
        if _stands_in(run, value):
            same = [other for other in table.segments if other.field == segment.field]
            rank = sum(s.field == segment.field for s in own.segments[: own.segments.index(segment)])
            if same:
                return same[min(rank, len(same) - 1)]
    return None


def _stands_in(run: Sequence[str], value: Sequence[str]) -> bool:
    folded, wanted = [w.casefold() for w in value], [w.casefold() for w in run]
    return any(folded[i : i + len(wanted)] == wanted for i in range(len(folded) - len(wanted) + 1))
