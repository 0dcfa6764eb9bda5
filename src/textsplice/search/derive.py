"""From candidates to drafts, by replaying their splices."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from textsplice.oracle.canvas import TOKEN_MARKS, obstacle
from textsplice.oracle.numbering import TABLE, Numbering
from textsplice.oracle.sources import Sources
from textsplice.oracle.splice import Splice, origins_of, replay_pieces
from textsplice.policy.problem import Candidate, Draft
from textsplice.text.tokens import BEGIN, END


class Derived(NamedTuple):
    """A candidate with the draft that its splices make; `obstacle` is why that is not a text, or None."""

    candidate: Candidate
    draft: Draft
    obstacle: str | None


def derive(candidate: Candidate, sources: Sources, words: Sequence[str]) -> Derived:
    """Replays the splices of a candidate; `words[id]` spells the vocabulary words among its sources."""
    used = sources.using(candidate.splices, words)
    pieces = list(replay_pieces(candidate.splices, used))
    origins = origins_of(pieces)
    canvas = [token for n, begin, end, _ in pieces for token in used[n][begin:end]]
    reason = obstacle(canvas, TOKEN_MARKS)
    if reason is None and any(origin.neighbor == TABLE and used.is_field_name(origin) for origin in origins):
        reason = "a field's name appears in the text"
    first = int(canvas[:1] == [BEGIN])
    last = len(canvas) - (len(canvas) > first and canvas[-1] == END)
    draft = Draft(canvas[first:last], origins[first:last], used, candidate.splices)
    return Derived(candidate, draft, reason)


def without_unused(sources: Sources, splices: Sequence[Splice]) -> tuple[Sources, tuple[Splice, ...]]:
    """The same derivation with only those neighbors that it uses, in the order of their first use."""
    numbering = sources.numbering
    ranks = (numbering.rank(s.neighbor) for s in splices if numbering.is_neighbor(s.neighbor))
    used = list(dict.fromkeys(ranks))
    places = {rank: place for place, rank in enumerate(used)}
    kept = replace(sources, neighbors=tuple(sources.neighbors[rank] for rank in used))
    return kept, renumbered(splices, places, len(sources.neighbors), len(used))


def renumbered(
    splices: Sequence[Splice], places: Mapping[int, int], before: int, after: int
) -> tuple[Splice, ...]:
    """The splices of a derivation from `before` neighbors with these put to other places among `after`."""
    old, new = Numbering(before), Numbering(after)

    def number(source: int) -> int:
        if old.is_neighbor(source):
            return new.neighbor(places[old.rank(source)])
        return new.word(old.word_id(source)) if old.is_word(source) else source

    return tuple(splice._replace(neighbor=number(splice.neighbor)) for splice in splices)
