"""Which of the finished texts is given. Their derivations, and so their provenance, stay as they are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from math import exp
from typing import Literal

from textsplice.oracle.splice import provenance
from textsplice.search.generation import Sources, inner
from textsplice.search.problem import Candidate
from textsplice.search.rules import Draft, contains
from textsplice.text.masking import STOP_WORDS

Choice = Literal["likelihood", "consensus"]
ORDER = 4  # longest n-gram that the similarity compares


def choose(
    candidates: Sequence[Candidate],
    sources: Sources,
    words: Sequence[str],
    *,
    by: Choice = "likelihood",
    slots_first: bool = False,
) -> list[Candidate]:
    """The candidates, best first.

    `likelihood` ranks by the mean log-probability, `consensus` by the mean similarity to the other
    candidates (minimum Bayes risk). With `slots_first` fewer slips with the table's values come before both.
    """
    merit = consensus(candidates) if by == "consensus" else [c.score for c in candidates]
    slips = [slot_slips(_draft(c, sources, words)) if slots_first else 0 for c in candidates]
    order = sorted(range(len(candidates)), key=lambda i: (slips[i], -merit[i], i))
    return [candidates[i] for i in order]


def consensus(candidates: Sequence[Candidate]) -> list[float]:
    """Of each candidate, the expected similarity to a text drawn from all of them by their scores."""
    grams = [_ngrams(candidate.ids) for candidate in candidates]
    weights = [exp(candidate.score) for candidate in candidates]
    return [
        sum(w * similarity(mine, other) for w, other in zip(weights, grams, strict=True)) / sum(weights)
        for mine in grams
    ]


def similarity(one: Sequence[Counter[tuple[int, ...]]], other: Sequence[Counter[tuple[int, ...]]]) -> float:
    """The mean over n of the F1 of two texts' n-grams; smoothed, so short texts have one too."""
    total = 0.0
    for mine, theirs in zip(one, other, strict=True):
        shared = (mine & theirs).total()
        total += (2 * shared + 1) / (mine.total() + theirs.total() + 1)
    return total / len(one)


def slot_slips(draft: Draft) -> int:
    """How many values of the table are neither copied nor stand word for word, or are copied twice.

    A value that is one stop word (yes, no) is said in other words, and not counted.
    """
    table = draft.sources.table
    copied = Counter(origin.position for origin in draft.origins if origin.neighbor == 0)
    slips = 0
    for segment in table.segments:
        value = table.tokens[segment.start : segment.stop]
        if len(value) == 1 and value[0].casefold() in STOP_WORDS:
            continue
        times = min(copied[place] for place in range(segment.start, segment.stop))
        slips += times - 1 if times else not contains(draft.tokens, value)
    return slips


def _draft(candidate: Candidate, sources: Sources, words: Sequence[str]) -> Draft:
    used = sources.using(candidate.splices, words)
    origins = inner(provenance(candidate.splices, used), used)
    return Draft(list(map(used.token, origins)), origins, used, candidate.splices)


def _ngrams(ids: Sequence[int]) -> list[Counter[tuple[int, ...]]]:
    return [Counter(tuple(ids[i : i + n]) for i in range(len(ids) - n + 1)) for n in range(1, ORDER + 1)]
