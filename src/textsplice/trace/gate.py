"""The gate: a draft of any origin is accepted, or refused with reasons.

A draft passes if each of its words stands in an approved text, in its record or in a short list; if it says
the values of its record and no others; if it keeps the rules; and if it is not pieced together from too many
spans.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import Literal

from textsplice.policy.problem import Draft as RuleDraft
from textsplice.search.generation import Generation, utf16_spans
from textsplice.search.rules.rule import Rule
from textsplice.slots.check import SIDE_BY_SIDE, Slot, check_slots, told
from textsplice.slots.lexicon import Lexicon
from textsplice.slots.mentions import Mention, verbatim_phrases
from textsplice.slots.wordings import placed_words, words_of
from textsplice.text.tokens import tokenize
from textsplice.trace.reading import Draft
from textsplice.trace.tracing import Tracer
from textsplice.trace.values import KnownValues

Why = Literal["gap", "value", "slot", "rule", "splices", "seams"]


@dataclass(frozen=True, slots=True)
class Reason:
    """Why a draft is refused; `text[start:stop]` is what it is about, None if it is all of it."""

    why: Why
    what: str
    start: int | None = None
    stop: int | None = None
    utf16: tuple[int, int] | None = None

    def to_dict(self) -> dict[str, object]:
        """As JSON."""
        place = {"start": self.start, "stop": self.stop, "utf16": self.utf16 and list(self.utf16)}
        return {"why": self.why, "what": self.what, **(place if self.start is not None else {})}


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the gate says of a draft. `given` is the text to publish: the draft, another one, or None."""

    draft: Draft
    trace: Generation
    reasons: tuple[Reason, ...]
    given: Generation | None

    @property
    def accepted(self) -> bool:
        """Whether the draft itself may be published."""
        return not self.reasons

    def to_dict(self) -> dict[str, object]:
        """As JSON, `textsplice.verdict/1`: docs/gate.md."""
        return {
            "format": "textsplice.verdict/1",
            "id": self.draft.id,
            "accepted": self.accepted,
            "reasons": [reason.to_dict() for reason in self.reasons],
            "text": self.given.text if self.given else None,
            "draft": self.trace.text,
            "trace": self.trace.to_dict(),
            **({"fall_back": self.given.to_dict()} if self.given and not self.accepted else {}),
        }


@dataclass(frozen=True)
class Gate:
    """What a draft must be like. Words that are `allowed` need no source, whatever their case.

    A draft with a record may say no value of `values`, the store's own, that its record does not have. For
    values that the `lexicon` knows, the lexicon decides.
    """

    tracer: Tracer
    allowed: frozenset[str] = frozenset()
    rules: tuple[Rule, ...] = ()
    lexicon: Lexicon | None = None
    most_splices: int | None = None
    most_seams: int | None = None
    values: KnownValues | None = field(default=None, kw_only=True)
    exact: bool = field(default=True, kw_only=True)

    def judge(self, draft: Draft) -> Verdict:
        """Accepts or refuses a draft."""
        trace = self.tracer.trace(draft.text, draft.table, id=draft.id, exact=self.exact)
        reasons = (
            *self._gaps(trace),
            *self._values(draft, trace),
            *self._slots(draft, trace),
            *self._rules(trace),
            *self._pieces(trace),
        )
        return Verdict(draft, trace, reasons, None if reasons else trace)

    def _gaps(self, trace: Generation) -> Iterator[Reason]:
        """Runs of words that stand in no source and are not allowed."""
        numbering = trace.sources.numbering
        allowed = self._allowed_places(trace.tokens)
        ranges: list[tuple[int, int]] = []
        last = -1
        for number, place in enumerate(trace.provenance):
            if numbering.is_word(place.source) and number not in allowed:
                start = ranges.pop()[0] if last == number - 1 and ranges else place.start
                ranges.append((start, place.stop))
                last = number
        for start, stop in ranges:
            yield _at(trace, "gap", f"{trace.text[start:stop]!r} stands in no source", start, stop)

    def _allowed_places(self, tokens: Sequence[str]) -> set[int]:
        """The tokens of a text that belong to an allowed word; `award-winning` has three tokens."""
        folded = [token.strip().casefold() for token in tokens]
        return {
            place
            for start, first in enumerate(folded)
            for word in self._allowed_by_first.get(first, ())
            if folded[start : start + len(word)] == word
            for place in range(start, start + len(word))
        }

    @cached_property
    def _allowed_by_first(self) -> dict[str, list[list[str]]]:
        by_first: dict[str, list[list[str]]] = {}
        for word in self.allowed:
            if tokens := [
                token.strip().casefold() for token in tokenize(word, self.tracer.sources.tokenizer)
            ]:
                by_first.setdefault(tokens[0], []).append(tokens)
        return by_first

    def _values(self, draft: Draft, trace: Generation) -> Iterator[Reason]:
        """Values of other records; each once, under the first field that it can be of."""
        if self.values is None or draft.table is None:
            return
        told_of: set[int] = set()
        for each in self.values.foreign(trace.tokens, draft.table):
            start, stop = trace.provenance[each.start].start, trace.provenance[each.stop - 1].stop
            said = trace.text[start:stop]
            if start in told_of or (each.field, tuple(words_of(said))) in self._worded:
                continue
            told_of.add(start)
            has = f"; it has {' and '.join(map(repr, each.instead))}" if each.instead else ""
            what = f"{said!r} is a value of {each.field} that the record does not have{has}"
            yield _at(trace, "value", what, start, stop)

    @cached_property
    def _worded(self) -> frozenset[tuple[str, tuple[str, ...]]]:
        """The fields and values that the lexicon knows, as words."""
        fields = self.lexicon.fields.items() if self.lexicon else ()
        phrases = (
            (name, phrase)
            for name, each in fields
            for value in each.known_values()
            for phrase in verbatim_phrases(value)
        )
        return frozenset((name, tuple(word for (word,) in phrase)) for name, phrase in phrases)

    def _slots(self, draft: Draft, trace: Generation) -> Iterator[Reason]:
        if self.lexicon is None:
            return
        if draft.table is None:
            yield Reason("slot", "it has no record to compare its values with")
            return
        placed = placed_words(trace.text)
        slots = [(name, value) for name, values in draft.table for value in values]
        mentions = self.lexicon.matcher.find([word for word, _, _ in placed], slots)
        for slot in check_slots(trace.text, draft.table, self.lexicon).errors:
            mention = _mention(slot, mentions)
            if mention is None:
                yield Reason("slot", told(slot))
            else:
                start, stop = placed[mention.start][1], placed[mention.stop - 1][2]
                yield _at(trace, "slot", told(slot), start, stop)

    def _rules(self, trace: Generation) -> Iterator[Reason]:
        origins = [place.origin for place in trace.provenance]
        text = RuleDraft(trace.tokens, origins, trace.sources, trace.splices)
        for rule in self.rules:
            if broken := rule.violation(text):
                yield Reason("rule", f"{rule.name}: {broken}")

    def _pieces(self, trace: Generation) -> Iterator[Reason]:
        splices = len(trace.splices)
        if self.most_splices is not None and splices > self.most_splices:
            yield Reason("splices", f"it takes {splices} splices, more than {self.most_splices}")
        seams = sum(
            (after.source, after.position) != (before.source, before.position + 1)
            for before, after in pairwise(trace.provenance)
        )
        if self.most_seams is not None and seams > self.most_seams:
            yield Reason("seams", f"it has {seams} seams, more than {self.most_seams}")


def _at(trace: Generation, why: Why, what: str, start: int, stop: int) -> Reason:
    return Reason(why, what, start, stop, utf16_spans(trace.text, [(start, stop)])[0])


def _mention(slot: Slot, mentions: Sequence[Mention]) -> Mention | None:
    """Where a text says what is wrong: the other value, or the value for the second time."""
    if slot.status in ("wrong", "added"):
        return next((m for m in mentions if m.field == slot.field and min(m.values) == slot.said), None)
    if slot.status == "repeated":
        said = [m for m in mentions if m.field == slot.field and slot.value in m.values]
        apart = (after for before, after in pairwise(said) if after.start - before.stop > SIDE_BY_SIDE)
        return next(apart, None)
    return None
