"""Whether a row is true, drifted or fabricated, told by the store that made it or by one that came later.

A row is *fabricated* if no store can have made it, or if the store that it names did not. It has *drifted* if
nothing speaks against it, but a source's text has changed or is gone in the store at hand.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from textsplice.config import SearchConfig
from textsplice.errors import TextspliceError
from textsplice.oracle.sources import OfferedNeighbor
from textsplice.search.generation import Generation
from textsplice.search.proof import Proof, made_with
from textsplice.search.rules.rule import Rule
from textsplice.search.verify import find_lie
from textsplice.trace.drift import UNCHANGED, Held, Span, is_masked, spans_now
from textsplice.trace.tracing import Tracer

Verdict = Literal["verified", "unchanged", "drifted", "fabricated"]
VERDICTS: tuple[Verdict, ...] = ("verified", "unchanged", "drifted", "fabricated")


@dataclass(frozen=True)
class Witness:
    """A store that can speak for rows: what it holds, all that its run fixes, and what traces texts to it.

    `proof` is None for a corpus, which makes no texts. `open_earlier` gives what is left of a store that this
    one was made from.
    """

    held: Held
    proof: Proof | None
    open_tracer: Callable[[], Tracer]
    open_earlier: Callable[[str], Witness] | None = None

    @cached_property
    def tracer(self) -> Tracer:
        """Opened when the first trace is met."""
        return self.open_tracer()

    @cached_property
    def _opened(self) -> dict[str, Witness]:
        return {}

    def left_of(self, run: str) -> Witness:
        """What is left here of an earlier store: its texts, without those that were added since."""
        then = self.held.earlier[run]
        if self.open_earlier is None or not (then.added or then.is_whole):
            return self
        if run not in self._opened:
            self._opened[run] = self.open_earlier(run)
        return self._opened[run]

    def maker_of(self, generation: Generation) -> Witness | None:
        """The store that made a row, if it is this one, or an earlier one that is still here as a whole."""
        if generation.run == self.held.name:
            return self
        then = self.held.earlier.get(generation.run)
        whole = then is not None and then.is_whole and self.open_earlier is not None
        return self.left_of(generation.run) if whole else None

    @classmethod
    def of_corpus(cls, tracer: Tracer) -> Witness:
        """The texts of a corpus that was not prepared."""
        sources = tracer.sources
        held = Held(
            sources.name,
            sources.ids,
            sources.texts,
            lambda row: sources.neighbor(row, sources.masked),
            sources.tokenizer,
        )
        return cls(held, None, lambda: tracer)


@dataclass(frozen=True, slots=True)
class Finding:
    """What is found of a row. `vouched`: that its sources were what it says is known, not only said by it."""

    verdict: Verdict
    why: str | None = None
    vouched: bool = True
    spans: tuple[Span, ...] = ()  # what has become of them; empty if the store that made it was asked

    def to_dict(self) -> dict[str, object]:
        """As JSON."""
        return {
            "verdict": self.verdict,
            "why": self.why,
            "vouched": self.vouched,
            "spans": [span.to_dict() for span in self.spans],
        }


@dataclass(frozen=True)
class Verifier:
    """Verifies rows by the store of `now` and, if it has moved on, by the one of `before` that made them."""

    now: Witness
    before: Witness | None = None
    asked: Sequence[Rule] | None = None
    search: SearchConfig | None = None

    def find(self, generation: Generation) -> Finding:
        """What the stores say of a row."""
        stores = filter(None, (self.now, self.before))
        maker = next((found for each in stores if (found := each.maker_of(generation))), None)
        lie = self._lie(generation, maker)
        if lie is not None:
            return Finding("fabricated", lie)
        if maker is self.now:
            return Finding("verified")
        spans = tuple(spans_now(generation, self.now.held))
        lost = [span for span in spans if span.fate not in UNCHANGED]
        vouched = maker is not None or generation.run in self.now.held.earlier
        if lost:
            return Finding("drifted", str(lost[0]), vouched, spans)
        return Finding("verified" if maker is not None else "unchanged", None, vouched, spans)

    def _lie(self, generation: Generation, maker: Witness | None) -> str | None:
        proof = maker.proof if maker else None
        lie = find_lie(generation, proof, asked=self.asked, search=self.search)
        if lie is not None:
            return lie
        if maker is not None:
            if generation.traced is not None:
                return untrue(generation, maker)
            return None if maker.proof else "it is of a corpus, yet no trace"
        return self._of_earlier(generation)

    def _of_earlier(self, generation: Generation) -> str | None:
        """What a store knows of the one that it was made from."""
        held, proof = self.now.held, self.now.proof
        if generation.run not in held.earlier:
            return None
        if (neighbor := held.invented(generation)) is not None:
            return (
                f"neighbor {neighbor.id!r} is neither in the store nor what was withdrawn from run "
                f"{generation.run!r}"
            )
        if generation.traced is not None:  # that store had all texts of this one
            tracer = self.now.left_of(generation.run).tracer
            return _traced_otherwise(generation, tracer, held.earlier[generation.run].rows)
        return None if proof is None else made_with(generation, proof)


def untrue(generation: Generation, witness: Witness) -> str | None:
    """What tracing again says otherwise of a trace over the same texts, as a clause; None if nothing.

    Other splices may be as few. Which rows the fast mode looked at is not said, so it is not asked.
    """
    if generation.traced is None:
        return None
    for neighbor in generation.sources.neighbors:
        if not _is_source(neighbor, witness, masked=is_masked(generation)):
            return f"neighbor {neighbor.id!r} is not in the store, or has another text or other masks there"
    return _traced_otherwise(generation, witness.tracer, len(witness.tracer.sources))


def _traced_otherwise(generation: Generation, tracer: Tracer, rows: int) -> str | None:
    """What tracing says otherwise of a trace over `rows` texts, all of the tracer's among them."""
    said = generation.traced
    if said is None:
        return None
    if generation.tokenizer != tracer.sources.tokenizer:
        return f"its tokenizer is {generation.tokenizer!r}, the store's {tracer.sources.tokenizer!r}"
    if said.certificate.rows != rows:
        return f"its certificate is over {said.certificate.rows:,} rows, the store has {rows:,}"
    try:
        again = tracer.trace(generation.text, generation.table, exact=said.certificate.proved)
    except TextspliceError as error:  # a text that is too long to be traced
        return error.sentence().removesuffix(".")
    gaps, gaps_again = _gap_tokens(generation), _gap_tokens(again)
    if found := sorted(gaps - gaps_again):
        return f"token {found[0]}, {generation.tokens[found[0]]!r}, is said to be a gap, yet has a source"
    many, fewest = len(generation.splices), len(again.splices)
    if said.certificate.proved and many > fewest:
        return f"its {many} splices are not the fewest: {fewest} {'is' if fewest == 1 else 'are'} enough"
    return None


def _gap_tokens(generation: Generation) -> set[int]:
    numbering = generation.sources.numbering
    return {at for at, place in enumerate(generation.provenance) if numbering.is_word(place.source)}


def _is_source(neighbor: OfferedNeighbor, witness: Witness, *, masked: bool) -> bool:
    """Whether the store has this text, with the tokens that a trace is given."""
    sources = witness.tracer.sources
    rows = sources.masked if masked else sources.written
    return any(sources.neighbor(row, rows) == neighbor for row in witness.held.rows_of.get(neighbor.id, []))
