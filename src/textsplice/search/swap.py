"""Swap, the untrained baseline: the best neighbour, with the values it shows replaced by this table's.

It needs nothing but a corpus, so a stranger has text before any training, and every learned policy has
something honest to beat. Its texts are derivations like all others: one splice lays the neighbour, one
more a value replaces what the neighbour says of its own table.
"""

from __future__ import annotations

from collections.abc import Sequence

from textsplice.corpus.table import Table
from textsplice.oracle.splice import Splice, trace
from textsplice.search.generation import Sources, inner, unfit
from textsplice.search.problem import Candidate, Outcome
from textsplice.search.rules import Draft, Rule, broken_rule
from textsplice.text.linearize import Linearized, Segment, linearize
from textsplice.text.masking import mask_runs
from textsplice.text.tokens import Tokenizer, tokenize


def swap(sources: Sources, tables: Sequence[Table], rules: Sequence[Rule], tokenizer: Tokenizer) -> Outcome:
    """Texts from the neighbours, the nearest first; `tables[n]` is the table of neighbour n + 1."""
    outcome = Outcome()
    for number, table in enumerate(tables, start=1):
        splices = swap_values(sources, number, linearize(table, tokenizer), tokenizer)
        if splices is None:
            reason = "every neighbour shows a field that this table lacks"
            outcome.hinder(reason, rule=False, score=-number)
            continue
        origins = trace(splices, sources)[-1]
        canvas = list(map(sources.token, origins))
        words = inner(origins, sources)
        draft = Draft(list(map(sources.token, words)), words, sources, splices)
        reason = unfit(canvas, origins, sources) or broken_rule(rules, draft)
        if reason is None:
            # No probabilities here: the score is the neighbour's rank, and its number stands for the text.
            outcome.finish(Candidate(tuple(splices), (number,), float(1 - number)))
        else:
            outcome.hinder(reason, rule=True, score=-number)
    return outcome


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
