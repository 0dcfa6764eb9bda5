"""Drafts: what policies that write word by word propose, derived from people's texts with the fewest splices.

Such a policy chooses its words one by one. Its text is then derived from all texts that may be spliced from,
as if somebody else had written it: the provenance says what the text *can be made* of (`least`), and only
words that stand in no text and in no value of the table come from the vocabulary.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from statistics import fmean
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from textsplice.config import SearchConfig
from textsplice.corpus.table import Example
from textsplice.neighbors.by_text import TextIndex
from textsplice.oracle.canvas import TOKEN_MARKS, obstacle
from textsplice.oracle.pricing import LeastDerivation, Pricing
from textsplice.oracle.sources import OfferedNeighbor, SourceKind, Sources
from textsplice.oracle.splice import Splice
from textsplice.policy.kind import Kind
from textsplice.policy.problem import Candidate, Draft, Outcome, wants_one
from textsplice.search.choose import merits
from textsplice.search.derive import derive, renumbered, without_unused
from textsplice.search.judge import log_probabilities
from textsplice.search.offers import Offers
from textsplice.search.propose import PolicyProposer, Proposal
from textsplice.search.rules.rule import Rule
from textsplice.search.seams import cost_of_seams
from textsplice.search.style import Style
from textsplice.search.swap import SwapProposer
from textsplice.stopping import stop_if_unwanted
from textsplice.text.linearize import Linearized
from textsplice.text.masking import mask_runs
from textsplice.text.tokens import BEGIN, END
from textsplice.text.vocabulary import BEGIN_ID, END_ID, MASK_ID, Vocabulary

Words = tuple[str, ...]
DRAFTS = Kind("drafts", derives_after=True)
LOOKED_AT = 1000  # texts that share most with a draft; it is derived from these
SIMILAR = 3  # times k texts of similar tables say what is typical; on E2E dev 60 were better than 20 or 40


@dataclass(frozen=True)
class Derivations:
    """Derives texts from those that are offered: the same text always in the same way."""

    offers: Offers

    @cached_property
    def _offered(self) -> NDArray[np.int64]:
        """The rows that may be spliced from if no rule forbids it: only these are indexed."""
        return np.flatnonzero(self.offers.store.offered)

    @cached_property
    def _index(self) -> TextIndex:
        return TextIndex.build(self.offers.store.tokens.take(self._offered), MASK_ID)

    @cached_property
    def _pricing(self) -> Pricing:
        return Pricing(self.offers.store.tokens, MASK_ID)

    def of(
        self, text: Sequence[str], table: Linearized, words: Vocabulary, allow: NDArray[np.bool_]
    ) -> LeastDerivation:
        """The fewest splices from the rows that are allowed and share most with a text."""
        stop_if_unwanted()
        target = np.array([BEGIN_ID, *words.encode(text), END_ID], dtype=np.int32)
        masked = target.copy()
        for start, stop in mask_runs(text, table.value_tokens()):
            masked[start + 1 : stop + 1] = MASK_ID
        some = None if allow is self.offers.store.offered else allow[self._offered]
        near = self._index.search(masked, LOOKED_AT, allow=some)
        rows = self._offered[near].astype(np.int32)
        segments = np.array(table.segment_numbers(), dtype=np.int32)
        tokens = np.array(words.encode(table.tokens), dtype=np.int32)
        return self._pricing.least(target, rows, table=(tokens, segments), allow=allow, exact=False)

    def again(self, text: Sequence[str], table: Linearized, rules: tuple[Rule, ...]) -> Derivation:
        """The derivation that a row of drafts must have, given its text."""
        words = self.offers.vocabulary.extended((*text, *table.tokens))
        found = self.of(text, table, words, self.offers.allowed(rules))
        sources = Sources(table, tuple(map(self.offers.neighbor, found.rows)), {})
        return Derivation(*without_unused(sources.using(found.splices, words.words), found.splices))


class Derivation(NamedTuple):
    """Splices, and the sources that they number."""

    sources: Sources
    splices: tuple[Splice, ...]

    def spelled(self) -> list[tuple[object, ...]]:
        """The splices with sources by what they are: words have other numbers where more words are known."""
        numbering = self.sources.numbering
        return [
            (splice.start, splice.stop, *self.sources[splice.neighbor])
            if numbering.is_word(splice.neighbor)
            else tuple(splice)
            for splice in self.splices
        ]


@dataclass(frozen=True)
class DraftProposer:
    """Derives what policies write; all of their texts are candidates.

    If there are several, each of them judges the texts of the others too: a text's score is the mean. They
    also judge those of `swap`, if it is asked.
    """

    writers: tuple[PolicyProposer, ...]
    derivations: Derivations
    swap: SwapProposer | None = None
    kind: Kind = DRAFTS

    @property
    def offers(self) -> Offers:
        """The texts that may be spliced from."""
        return self.derivations.offers

    def choosing(self, search: SearchConfig) -> SearchConfig:
        """All settings apply."""
        return search

    def propose(
        self, examples: Sequence[Example], rules: tuple[Rule, ...], search: SearchConfig
    ) -> Iterator[Proposal]:
        """The drafts of each table, derived."""
        allow = self.offers.allowed(rules)
        asked = self._of_writers(rules, allow)
        proposers = (*self.writers, *([self.swap] if self.swap else []))
        written = zip(*(proposer.propose(examples, asked, search) for proposer in proposers), strict=True)
        for example, proposals in zip(examples, written, strict=True):
            near = self.offers.nearest(example.table, rules, reach=SIMILAR)
            similar = [*map(self.offers.neighbor, near)]
            texts = self._judged(example, proposals)
            table = self.offers.store.linearize(example.table)
            words = self.offers.vocabulary.extended(w for text in (*texts, table.tokens) for w in text)
            drafts = Drafts(example, texts, table, words, allow, self.derivations)
            order = None if rules else best_first(drafts, similar, search)
            # Of texts that only their probability ranks, no more are given than the beam is wide.
            most = search.beam if wants_one(search) and not rules else None
            found = drafts.proposal(_best(texts, most) if order is None else order)
            found.outcome.obstacle = proposals[0].outcome.obstacle
            yield replace(found, similar=similar, order=order and [*map(drafts.ids, order)])

    def _of_writers(self, rules: tuple[Rule, ...], allow: NDArray[np.bool_]) -> tuple[Rule, ...]:
        """The rules as writers must keep them, who do not know yet where a word will come from."""
        kept = tuple(rule for rule in rules if not rule.of_sources)
        if len(kept) == len(rules):
            return rules
        standing = np.unique(self.offers.store.tokens.take(np.flatnonzero(allow)).values)
        words = frozenset(self.offers.vocabulary.decode(standing.tolist()))
        return (*kept, Standing(words, tuple(rule for rule in rules if rule.of_sources)))

    def _written(self) -> list[bool]:
        """Whether each proposer is a policy."""
        return [True] * len(self.writers) + [False] * bool(self.swap)

    def _judged(self, example: Example, proposals: Sequence[Proposal]) -> dict[Words, float]:
        """The texts, each with its score."""
        texts: dict[Words, float] = {}
        for each, is_written in zip(proposals, self._written(), strict=True):
            for found in each.outcome.ranked():
                # What a policy writes has its words in its ids; only the splices of swap say them.
                ids = (number for number in found.ids if number not in (BEGIN_ID, END_ID))
                words = map(each.words.__getitem__, ids)
                swapped = () if is_written else derive(found, each.sources, each.words).draft.tokens
                texts[tuple(words if is_written else swapped)] = found.score
        if len(proposals) == 1 or not texts:
            return texts
        written = [*texts]
        opinions = [log_probabilities(writer, example.table, written) for writer in self.writers]
        return {text: fmean(scores) for text, *scores in zip(written, *opinions, strict=True)}


@dataclass(frozen=True)
class Drafts:
    """The texts of one table with their scores; each is derived when it is asked for."""

    example: Example
    scores: Mapping[Words, float]
    table: Linearized
    words: Vocabulary
    allow: NDArray[np.bool_]
    derivations: Derivations
    _derived: dict[Words, LeastDerivation] = field(default_factory=dict[Words, LeastDerivation])

    def ids(self, text: Words) -> tuple[int, ...]:
        """The words of a text, from begin to end."""
        return (BEGIN_ID, *self.words.encode(text), END_ID)

    def proposal(self, texts: Iterable[Words]) -> Proposal:
        """Some texts as candidates."""
        outcome = Outcome()
        found = [(self._derivation(text), text) for text in texts]
        rows = list(dict.fromkeys(row for each, _ in found for row in each.rows))
        place = {row: number for number, row in enumerate(rows)}
        for each, text in found:
            places = {rank: place[row] for rank, row in enumerate(each.rows)}
            splices = renumbered(each.splices, places, len(each.rows), len(rows))
            outcome.finish(Candidate(splices, self.ids(text), self.scores[text]))
        return Proposal(self.example, self._sources(rows), self.words.words, outcome)

    def draft(self, text: Words) -> Draft:
        """A text as its derivation makes it."""
        found = self._derivation(text)
        candidate = Candidate(found.splices, self.ids(text), self.scores[text])
        return derive(candidate, self._sources(found.rows), self.words.words).draft

    def _derivation(self, text: Words) -> LeastDerivation:
        if text not in self._derived:
            self._derived[text] = self.derivations.of(text, self.table, self.words, self.allow)
        return self._derived[text]

    def _sources(self, rows: Iterable[int]) -> Sources:
        return Sources(self.table, tuple(map(self.derivations.offers.neighbor, rows)), {})


def best_first(
    drafts: Drafts, similar: Sequence[OfferedNeighbor], search: SearchConfig
) -> list[Words] | None:
    """The texts that are given, best first, as `choose` orders them; None if all must be derived to tell.

    To derive a text takes longer than to choose it. Seams only take from the merit of a text, so a text need
    not be derived if those that are given have more merit with their seams than this one without.
    """
    if search.slots_first or search.judge or len(set(drafts.scores.values())) < len(drafts.scores):
        return None  # derivations decide between equals
    if any(obstacle([BEGIN, *text, END], TOKEN_MARKS) for text in drafts.scores):
        return None
    store = drafts.derivations.offers.store
    slips = _slips_of_style(drafts, Style.of(search, store.tokenizer))
    ranked = sorted(drafts.scores, key=lambda text: (slips[text], -drafts.scores[text]))
    candidates = [Candidate((), drafts.ids(text), drafts.scores[text]) for text in ranked]
    sources = Sources(drafts.table, tuple(similar), {})
    merit = merits(candidates, sources, drafts.words.words, search.choose)
    cost = cost_of_seams(search.seams, store.trigrams)
    # Equal merits are decided by the place among the ranked; where likelihood ranks, none are equal.
    costly = search.seams > 0 and search.choose != "likelihood"
    best: list[tuple[int, float, int]] = []
    for place in sorted(range(len(ranked)), key=lambda i: (slips[ranked[i]], -merit[i], i)):
        text = ranked[place]
        if len(best) >= search.given and best[search.given - 1] < (slips[text], -merit[place], place):
            break
        paid = cost(drafts.draft(text)) if costly else 0.0
        insort(best, (slips[text], -(merit[place] - paid), place))
    return [ranked[place] for *_, place in best[: search.given]]


def _slips_of_style(drafts: Drafts, style: Style | None) -> dict[Words, int]:
    if style is None:
        return dict.fromkeys(drafts.scores, 0)
    plain = Sources(drafts.table, (), {})
    return {
        text: style.slips(drafts.draft(text) if style.needs_origins(text) else Draft(text, (), plain, ()))
        for text in drafts.scores
    }


def _best(texts: Mapping[Words, float], most: int | None) -> list[Words]:
    """The most probable of texts, and what is as probable as the last of them."""
    if most is None or len(texts) <= most:
        return [*texts]
    bar = sorted(texts.values(), reverse=True)[most - 1]
    return [text for text, score in texts.items() if score >= bar]


@dataclass(frozen=True)
class Standing(Rule):
    """What rules about sources ask of a writer: a word counts as copied if it stands in some text."""

    words: frozenset[str]
    rules: tuple[Rule, ...]
    name = "standing"

    def permits(self, word: str, kind: SourceKind) -> bool:
        if kind == "vocabulary" and word in self.words:
            kind = "neighbor"
        return all(rule.permits(word, kind) for rule in self.rules)

    def violation(self, draft: Draft) -> str | None:
        del draft
        return None
