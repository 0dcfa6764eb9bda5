"""The two beams written down once more in loops: one table, one canvas at a time, nothing cut off early.

Specification, section 7: the top K by the first decision, of what follows the top K by the second; a canvas
is kept once; Stop finishes; the score is the mean log-probability of the decisions. It leaves open, and the
search settles so:

- The first splice begins with begin, no other lays it or goes before it. End is laid once, with nothing
  right of it, and stays. No canvas is longer than the policy's positions.
- Stop is chosen if fewer than K splices are more probable; it takes no splice's place. After the last
  round whatever is a text stops.
- "Once" is once in the whole search of a table, not once a round.
- A canvas is given up when `horizon` more splices could not bring it among the wanted.
- So with tokens: end is chosen if fewer than K words are more probable, and takes no word's place; all its
  keys are one choice. Without marginalisation other words that are copied from two places are two texts.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import torch

from policy_toys import IDS
from textsplice.oracle.splice import Splice
from textsplice.policy.cases import Case
from textsplice.policy.full.hypothesis import BeamSettings
from textsplice.policy.full.policy import FullPolicy
from textsplice.policy.lrt.beam import TokenSettings
from textsplice.policy.lrt.model import Cache
from textsplice.policy.lrt.policy import LrtPolicy
from textsplice.policy.reference import Reference
from textsplice.text.vocabulary import BEGIN_ID, END_ID, MASK_ID


class Found(NamedTuple):
    """A finished text."""

    words: tuple[int, ...]
    splices: tuple[Splice, ...]
    score: float


class Laid(NamedTuple):
    """A token of a canvas."""

    word: int
    source: int
    position: int
    step: int


class Live(NamedTuple):
    """A canvas under way."""

    total: float
    canvas: tuple[Laid, ...]
    splices: tuple[Splice, ...]

    @property
    def words(self) -> tuple[int, ...]:
        return tuple(token.word for token in self.canvas)

    @property
    def is_text(self) -> bool:
        words = self.words
        return len(words) > 2 and words[0] == BEGIN_ID and words[-1] == END_ID and MASK_ID not in words

    @property
    def ended(self) -> bool:
        return self.words[-1:] == (END_ID,)


class Finished:
    """The finished texts of a table, each with its best derivation."""

    def __init__(self) -> None:
        self.best: dict[tuple[int, ...], Found] = {}

    def add(self, found: Found) -> None:
        known = self.best.get(found.words)
        if known is None or found.score > known.score:
            self.best[found.words] = found

    def ranked(self) -> list[Found]:
        return sorted(self.best.values(), key=lambda found: -found.score)

    def bar(self, wanted: int) -> float:
        ranked = self.ranked()
        return ranked[wanted - 1].score if len(ranked) >= wanted else -math.inf


@torch.no_grad()
def naive_splices(policy: FullPolicy, case: Case, settings: BeamSettings) -> list[Found]:
    """The finished texts of one table, best first."""
    slow = Reference(policy)
    neighbors = slow.encode_neighbors(case)
    sources = [case.table.tolist(), *(text.tolist() for text in case.neighbors)]
    finished, seen = Finished(), set()
    live = [Live(0.0, (), ())]
    for step in range(settings.max_splices + 1):
        firsts, stops, reads = [], [], []
        for number, hypothesis in enumerate(live):
            copied = {token.position for token in hypothesis.canvas if token.source == 0}
            table = slow.encode(sources[0], [int(i in copied) for i in range(len(sources[0]))])
            ages = [min(step - token.step, policy.shape.config.max_age) for token in hypothesis.canvas]
            states = slow.decode(hypothesis.words, ages, table)
            scores, stop = slow.first_scores(states, case, table, neighbors)
            normal = float(torch.cat([*(s.flatten() for s in scores), stop[None]]).logsumexp(0))
            reads.append((states, table))
            stops.append(hypothesis.total + float(stop) - normal)
            for source, of_source in enumerate(scores):
                for start, row in enumerate(of_source.tolist()):
                    for begin, score in enumerate(row):
                        word = sources[source][begin] if source < len(sources) else slow.words[begin]
                        if score > -math.inf and may_begin(hypothesis, start, word):
                            firsts.append((hypothesis.total + score - normal, number, start, source, begin))
        firsts = sorted(firsts, key=lambda first: -first[0])[: settings.beam]
        for hypothesis, total in zip(live, stops, strict=True):
            beaten = sum(first[0] > total for first in firsts) >= settings.beam
            if hypothesis.is_text and (step == settings.max_splices or not beaten):
                score = total / (2 * len(hypothesis.splices) + 1)
                finished.add(Found(hypothesis.words[1:-1], hypothesis.splices, score))
        if step == settings.max_splices:
            break
        seconds: list[Live] = []
        for total, number, start, source, begin in firsts:
            is_word = source == len(sources)
            span = [slow.words[begin]] if is_word else sources[source][begin:]
            place = (source + slow.words[begin], 0) if is_word else (source, begin)
            first = Splice(start, start, *place, place[1] + 1)
            pairs = slow.second_scores(reads[number][0], case, reads[number][1], neighbors, first)
            for stop, row in enumerate(pairs.flatten().log_softmax(0).view_as(pairs).tolist()):
                for size, score in enumerate(row, 1):
                    if misplaced(case, live[number].canvas[start:stop], first):
                        score -= settings.misplaced
                    if score > -math.inf and may_end(live[number], stop, span[:size]):
                        seconds.append(extended(live[number], first, stop, span[:size], total + score))
        kept: list[Live] = []
        longest = policy.shape.config.max_positions - 2
        for hypothesis in sorted(seconds, key=lambda second: -second.total):
            known = hypothesis.words in seen
            if len(kept) < settings.beam and not known and len(hypothesis.canvas) <= longest:
                seen.add(hypothesis.words)
                kept.append(hypothesis)
        splices = min(step + 1 + settings.horizon, settings.max_splices)
        bar = finished.bar(settings.wanted)
        live = [hypothesis for hypothesis in kept if hypothesis.total / (2 * splices + 1) > bar]
        if not live:
            break
    return finished.ranked()


def may_begin(hypothesis: Live, start: int, word: int) -> bool:
    """Whether a splice at `start` may begin with a word."""
    if not hypothesis.canvas:
        return word == BEGIN_ID
    if start == 0 or word == BEGIN_ID:
        return False
    return not (hypothesis.ended and (start == len(hypothesis.canvas) or word == END_ID))


def misplaced(case: Case, replaced: tuple[Laid, ...], first: Splice) -> bool:
    """Whether a value replaces nothing but masks whose fields are known and not its own."""
    if first.neighbor != 0 or not replaced:
        return False
    name = max(i for i in range(first.begin) if case.segments[i] < 0)
    return not {field_of(case, token) for token in replaced} & {-1, int(case.table[name])}


def field_of(case: Case, token: Laid) -> int:
    """The field that a token of a canvas hides."""
    return int(case.mask_fields[token.source - 1][token.position]) if token.word == MASK_ID else -1


def may_end(hypothesis: Live, stop: int, span: list[int]) -> bool:
    """Whether a splice may replace the canvas up to `stop` with a span."""
    if END_ID in span:
        return stop == len(hypothesis.canvas) and not hypothesis.ended
    return not (hypothesis.ended and stop == len(hypothesis.canvas))


def extended(parent: Live, first: Splice, stop: int, span: list[int], total: float) -> Live:
    """The canvas after a splice."""
    start, _, source, begin, _ = first
    step = len(parent.splices)
    laid = [Laid(word, source, begin + place, step) for place, word in enumerate(span)]
    canvas = (*parent.canvas[:start], *laid, *parent.canvas[stop:])
    splice = Splice(start, stop, source, begin, begin + len(span))
    return Live(total, canvas, (*parent.splices, splice))


@torch.no_grad()
def naive_tokens(policy: LrtPolicy, case: Case, settings: TokenSettings) -> list[Found]:
    """The finished texts of one table, best first, written left to right."""
    states = policy.encode_cases([case])
    keys = states.keys[0]
    word_of, source_of, begin_of = (keys.word.tolist(), keys.source.tolist(), keys.begin.tolist())
    begin = 1 + len(case.neighbors) + BEGIN_ID
    longest = min(settings.max_tokens, policy.shape.config.max_positions - 2)
    finished = Finished()
    live: list[tuple[float, tuple[int, ...], Cache | None]] = [(0.0, (), None)]  # total, columns
    for step in range(longest):
        following, ends = [], []
        for total, columns, cache in live:
            last = np.array([word_of[columns[-1]] if columns else BEGIN_ID])
            scores, read = policy.step(states, np.zeros(1, dtype=np.int64), last, cache)
            row = scores[0].tolist()
            choices: dict[int, list[int]] = {}
            for column, word in enumerate(word_of):
                if word != BEGIN_ID and row[column] > -math.inf:
                    summed = settings.marginalize or word == END_ID
                    choices.setdefault(word if summed else IDS + column, []).append(column)
            for choice, own in choices.items():
                likeliest = max(own, key=row.__getitem__)
                score = row[likeliest]
                if settings.marginalize:
                    score = math.log(sum(math.exp(row[column]) for column in own))
                into = ends if choice == END_ID else following
                into.append((total + score, (*columns, likeliest), read))
        following = sorted(following, key=lambda option: -option[0])[: settings.beam]
        for total, columns, _ in ends:
            beaten = sum(option[0] > total for option in following) >= settings.beam
            if step > 0 and not beaten:
                places = [(begin, 0), *((source_of[column], begin_of[column]) for column in columns)]
                splices = tuple(Splice(i, i, source, at, at + 1) for i, (source, at) in enumerate(places))
                words = tuple(word_of[column] for column in columns[:-1])
                finished.add(Found(words, splices, total / len(columns)))
        bar = finished.bar(settings.wanted)
        decisions = min(step + 1 + settings.horizon, longest)
        live = [option for option in following if option[0] / decisions > bar]
    return finished.ranked()
