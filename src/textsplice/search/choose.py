"""Which of the candidates is given. Their derivations, and so their provenance, stay as they are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace
from math import exp
from typing import Literal

import numpy as np

from textsplice.corpus.table import Table
from textsplice.oracle.numbering import TABLE
from textsplice.oracle.sources import OfferedNeighbor, Sources
from textsplice.oracle.writing import Writing
from textsplice.policy.problem import Candidate, Draft
from textsplice.search.derive import Derived
from textsplice.search.judge import Opinion
from textsplice.search.rules.fields import contains
from textsplice.slots.check import check_slots, out_of_act
from textsplice.slots.lexicon import Lexicon
from textsplice.text.masking import STOP_WORDS, mask
from textsplice.text.tokens import BEGIN, END, Tokenizer

Slips = Callable[[Draft], int]
SeamCost = Callable[[Draft], float]
Choice = Literal["likelihood", "consensus", "typical"]
ORDER = 4  # longest n-gram that the similarity compares
Text = Sequence[Hashable]
SHARPNESS = 10.0  # how much more a likelier candidate counts in the consensus
TYPICALITY = 4.0  # how much the neighbors count beside the other candidates
SENTENCE_ENDS = (".", "!", "?")
JUDGEMENT = 5.0  # how much a judge's mean log-probability of a text counts beside both


def choose(
    found: Sequence[Derived],
    sources: Sources,
    words: Sequence[str],
    *,
    by: Choice = "likelihood",
    slips: Slips | None = None,
    style: Slips | None = None,
    judge: Opinion | None = None,
    seams: SeamCost | None = None,
    similar: Sequence[OfferedNeighbor] | None = None,
) -> list[Candidate]:
    """The candidates, best first.

    `likelihood` ranks by the mean log-probability, `consensus` by the mean similarity to the other candidates
    (minimum Bayes risk), `typical` by that and by the similarity to what people wrote about similar tables.
    The last two also consider how probable a `judge` finds each text, and what `seams` says that its
    unattested seams cost; where `likelihood` ranks, that only decides between equals. If `slips` counts slips
    with the values of the table, fewer slips come before all that; then fewer slips of `style`.
    What people wrote are the neighbors, or `similar` where texts were derived after they were written; what
    such a derivation starts from was not chosen.
    """
    counts = {
        each.candidate.ids: tuple(count(each.draft) if count else 0 for count in (slips, style))
        for each in found
    }
    costs = {each.candidate.ids: seams(each.draft) if seams else 0.0 for each in found}
    ranked = sorted((each.candidate for each in found), key=lambda c: (counts[c.ids], -c.score, costs[c.ids]))
    if by == "likelihood":
        return ranked
    ranked = best_of_each_start(ranked) if similar is None else ranked
    known = sources if similar is None else replace(sources, neighbors=tuple(similar))
    merit = merits(ranked, known, words, by)
    if judge and ranked:
        merit = [one + JUDGEMENT * other for one, other in zip(merit, judge(ranked), strict=True)]
    merit = [one - costs[candidate.ids] for one, candidate in zip(merit, ranked, strict=True)]
    order = sorted(range(len(ranked)), key=lambda i: (counts[ranked[i].ids], -merit[i], i))
    return [ranked[i] for i in order]


def merits(ranked: Sequence[Candidate], sources: Sources, words: Sequence[str], by: Choice) -> list[float]:
    """What speaks for each candidate beside the others, without a judge."""
    if by == "likelihood":
        return [candidate.score for candidate in ranked]
    merit = consensus(ranked)
    if by == "typical":
        typical = typicality(ranked, sources, words)
        merit = [one + TYPICALITY * other for one, other in zip(merit, typical, strict=True)]
    return merit


def best_of_each_start(ranked: Sequence[Candidate], most: int = 3) -> list[Candidate]:
    """The first few that start from each source, if there are several: more would outvote the others."""
    starts = [candidate.splices[0].neighbor for candidate in ranked]
    if len(set(starts)) == 1:
        return list(ranked)
    kept: Counter[int] = Counter()
    pool: list[Candidate] = []
    for candidate, start in zip(ranked, starts, strict=True):
        kept[start] += 1
        if kept[start] <= most:
            pool.append(candidate)
    return pool


def typicality(candidates: Sequence[Candidate], sources: Sources, words: Sequence[str]) -> list[float]:
    """The mean similarity of each candidate to the neighbors, both with the values of their tables masked."""
    if not sources.neighbors:
        return [0.0] * len(candidates)
    values = sources.table.value_tokens()
    written = [[t.casefold() for t in n.tokens if t not in (BEGIN, END)] for n in sources.neighbors]
    masked = (mask([words[number] for number in candidate.ids], values) for candidate in candidates)
    mine = [[token.casefold() for token in each] for each in masked]
    return [sum(row) / len(row) for row in similarities(mine, written)]


def consensus(candidates: Sequence[Candidate]) -> list[float]:
    """The expected similarity of each candidate to one drawn from all of them by their scores."""
    texts = [candidate.ids for candidate in candidates]
    likeliest = max((candidate.score for candidate in candidates), default=0.0)
    weights = [exp(SHARPNESS * (candidate.score - likeliest)) for candidate in candidates]
    return [
        sum(w * alike for w, alike in zip(weights, row, strict=True)) / sum(weights)
        for row in similarities(texts, texts)
    ]


def similarities(ones: Sequence[Text], others: Sequence[Text]) -> list[list[float]]:
    """The mean over n of the F1 of the n-grams of each pair of texts, smoothed for short texts."""
    if not ones or not others:
        return [[] for _ in ones]
    number: dict[Hashable, int] = {}
    rows = [[number.setdefault(token, len(number)) for token in text] for text in (*ones, *others)]
    lengths = np.array([len(row) for row in rows])
    tokens = np.array([token for row in rows for token in row], dtype=np.int64)
    text_of = np.repeat(np.arange(len(rows)), lengths)
    left = np.repeat(np.cumsum(lengths), lengths) - np.arange(len(tokens))  # tokens from here to the end
    grams = np.zeros(len(tokens), dtype=np.int64)  # the number of the n-gram that begins at each token
    total = np.zeros((len(ones), len(others)))
    for n in range(1, ORDER + 1):
        begins = np.flatnonzero(left >= n)
        codes = grams[begins] * len(number) + tokens[begins + n - 1]
        distinct, grams[begins] = np.unique(codes, return_inverse=True)
        counts = np.zeros((len(rows), len(distinct)), dtype=np.int32)
        np.add.at(counts, (text_of[begins], grams[begins]), 1)
        mine, theirs = counts[: len(ones)], counts[len(ones) :]
        shared = np.minimum(mine[:, None], theirs[None]).sum(axis=2)
        total += (2 * shared + 1) / (mine.sum(axis=1)[:, None] + theirs.sum(axis=1)[None] + 1)
    return (total / ORDER).tolist()


def slot_slips(draft: Draft) -> int:
    """How many values of the table neither are copied nor appear word for word, or are copied twice.

    A value that is one stop word (yes, no) is said in other words and not counted.
    """
    table = draft.sources.table
    copied = Counter(origin.position for origin in draft.origins if origin.neighbor == TABLE)
    slips = 0
    for segment in table.segments:
        value = table.tokens[segment.start : segment.stop]
        if len(value) == 1 and value[0].casefold() in STOP_WORDS:
            continue
        times = min(copied[place] for place in range(segment.start, segment.stop))
        slips += times - 1 if times else not contains(draft.tokens, value)
    return slips


def worded_slips(table: Table, lexicon: Lexicon, tokenizer: Tokenizer) -> Slips:
    """Counts what a lexicon finds missing, wrong, repeated or made up, however it is worded.

    A value of a list that is copied twice in a row of that list (`the weir and the weir`) counts too.
    """

    def count(draft: Draft) -> int:
        text = Writing(draft.sources, table, tokenizer).write(draft.origins).text
        errors = len(check_slots(text, table, lexicon).errors) + len([*out_of_act(text, table, lexicon)])
        return errors + listed_twice(draft)

    return count


def listed_twice(draft: Draft) -> int:
    """How often a value, or a part of it, is copied again with nothing else of the table in between.

    The end of a sentence in between excuses it.
    """
    times, last, before = 0, None, None
    for token, origin in zip(draft.tokens, draft.origins, strict=True):
        if origin.neighbor == TABLE:
            segment = draft.sources.segment_at(origin.position)
            goes_on = before is not None and origin.position == before + 1
            times += segment is not None and segment == last and not goes_on
            last, before = segment, origin.position
        else:
            before = None
            last = None if token in SENTENCE_ENDS else last
    return times
