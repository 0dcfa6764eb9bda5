"""From candidates to drafts, by replaying their splices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from textsplice.oracle.canvas import TOKEN_MARKS, obstacle
from textsplice.oracle.sources import Sources
from textsplice.oracle.splice import provenance
from textsplice.policy.problem import Candidate, Draft
from textsplice.search.generation import inner


class Derived(NamedTuple):
    """A candidate with the draft that its splices make; `obstacle` is why that is not a text, or None."""

    candidate: Candidate
    draft: Draft
    obstacle: str | None


def derive(candidate: Candidate, sources: Sources, words: Sequence[str]) -> Derived:
    """Replays the splices of a candidate; `words[id]` spells the vocabulary words among its sources."""
    used = sources.using(candidate.splices, words)
    origins = provenance(candidate.splices, used)
    canvas = list(map(used.token, origins))
    reason = obstacle(canvas, TOKEN_MARKS)
    if reason is None and any(map(used.is_field_name, origins)):
        reason = "a field's name stands in the text"
    own = inner(origins, used)
    return Derived(candidate, Draft(list(map(used.token, own)), own, used, candidate.splices), reason)
