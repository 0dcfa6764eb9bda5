"""The gate: a draft of any origin is accepted, or refused with reasons.

A draft passes if each of its words stands in an approved text, in its record or in a short list; if it says
the values of its record and no others; if it keeps the rules; and if it is not pieced together from too many
spans.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Literal

from textsplice.policy.problem import Draft as RuleDraft
from textsplice.search.generation import Generation, utf16_spans
from textsplice.search.rules.rule import Rule
from textsplice.slots.check import check_slots, told
from textsplice.slots.lexicon import Lexicon
from textsplice.trace.reading import Draft
from textsplice.trace.tracing import Tracer

Why = Literal["gap", "slot", "rule", "splices", "seams"]


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
    """What a draft must be like. Words that are `allowed` need no source, whatever their case."""

    tracer: Tracer
    allowed: frozenset[str] = frozenset()
    rules: tuple[Rule, ...] = ()
    lexicon: Lexicon | None = None
    most_splices: int | None = None
    most_seams: int | None = None
    exact: bool = field(default=True, kw_only=True)

    def judge(self, draft: Draft) -> Verdict:
        """Accepts or refuses a draft."""
        trace = self.tracer.trace(draft.text, draft.table, id=draft.id, exact=self.exact)
        reasons = (
            *self._gaps(trace),
            *self._slots(draft, trace),
            *self._rules(trace),
            *self._pieces(trace),
        )
        return Verdict(draft, trace, reasons, None if reasons else trace)

    def _gaps(self, trace: Generation) -> Iterator[Reason]:
        """Runs of words that stand in no source and are not allowed."""
        numbering = trace.sources.numbering
        ranges: list[tuple[int, int]] = []
        last = -1
        for number, (place, token) in enumerate(zip(trace.provenance, trace.tokens, strict=True)):
            if numbering.is_word(place.source) and token.strip().casefold() not in self.allowed:
                start = ranges.pop()[0] if last == number - 1 and ranges else place.start
                ranges.append((start, place.stop))
                last = number
        for (start, stop), unit in zip(ranges, utf16_spans(trace.text, ranges), strict=True):
            yield Reason("gap", f"{trace.text[start:stop]!r} stands in no source", start, stop, unit)

    def _slots(self, draft: Draft, trace: Generation) -> Iterator[Reason]:
        if self.lexicon is not None and draft.table is not None:
            for slot in check_slots(trace.text, draft.table, self.lexicon).errors:
                yield Reason("slot", told(slot))

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
