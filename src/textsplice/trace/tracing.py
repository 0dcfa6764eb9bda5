"""Any text, a person's or a program's, derived from all texts of a store with the fewest splices.

Sources are the record, if one is given, and the texts of the store, and nothing else: a word that stands in
none of them is a gap. With a record, the texts have their own values masked, so that a value comes from the
record.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from textsplice.corpus.table import Table
from textsplice.errors import InputError
from textsplice.oracle.numbering import Numbering
from textsplice.oracle.pricing import LONGEST, LeastDerivation
from textsplice.oracle.sources import Sources
from textsplice.oracle.splice import Splice
from textsplice.oracle.splice import provenance as replay_origins
from textsplice.parsing import short_repr
from textsplice.search.generation import Generation, Provenance, inner, utf16_spans
from textsplice.search.traced import POLICY, Certificate, Gap, Traced
from textsplice.text.linearize import NOTHING_UNSAID, Linearized, Unsaid, linearize
from textsplice.text.masking import mask
from textsplice.text.tokens import BEGIN, END, Tokens, tokenize
from textsplice.trace.texts import Rows, SourceTexts

NO_TABLE = Table(())
PROMISING = 1000  # at most so many rows that share most with a text are priced first
FIRST_WORK = 25_000  # and at most so many times the tokens of a text, since long texts take longer


class _Words:
    """Numbers of words; those that are not known get one each."""

    def __init__(self, known: Mapping[str, int]) -> None:
        self.known = known
        self.new: dict[str, int] = {}

    def numbered(self, words: Sequence[str]) -> NDArray[np.int32]:
        first, new = len(self.known), self.new
        numbers = (self.known[w] if w in self.known else new.setdefault(w, first + len(new)) for w in words)
        return np.fromiter(numbers, dtype=np.int32, count=len(words))


class Tracer:
    """Traces texts to those of a store; what is `unsaid` of a table is no source."""

    def __init__(self, sources: SourceTexts, unsaid: Unsaid = NOTHING_UNSAID) -> None:
        self.sources = sources
        self.unsaid = unsaid

    def trace(
        self,
        text: str,
        table: Table | Mapping[str, object] | None = None,
        *,
        id: str = "text",  # noqa: A002 - the name it has in the file
        exact: bool = True,
    ) -> Generation:
        """The fewest splices that make a text; not `exact`: over the rows that share most with it."""
        if not isinstance(text, str):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise InputError(f"a text is traced, not {short_repr(text)}.", where=id)
        tokens = tokenize(text, self.sources.tokenizer)
        if not tokens:
            raise InputError("there is no text to trace.", where=id)
        if len(tokens) + 2 > LONGEST:
            raise InputError(
                f"a text of {len(tokens):,} tokens is too long to trace; {LONGEST - 2:,} is the most.",
                where=id,
                remedy="Split it into paragraphs.",
            )
        record = table if isinstance(table, Table) else Table.of(table) if table else NO_TABLE
        linear = linearize(record, self.sources.tokenizer, self.unsaid)
        # Words that no text has get numbers for this text only.
        words = _Words(self.sources.numbers)
        found = self._derive(tokens, linear, words.numbered, exact=exact)
        spelled = dict(zip(words.numbered(tokens).tolist(), tokens, strict=True))
        splices, foreign = _renumbered(found.splices, len(found.rows), spelled)
        return self._generation(id, record, linear, tokens, (splices, foreign), found)

    def _derive(
        self,
        tokens: Tokens,
        table: Linearized,
        numbered: Callable[[Sequence[str]], NDArray[np.int32]],
        *,
        exact: bool,
    ) -> LeastDerivation:
        rows = self._rows(table)

        target = numbered((BEGIN, *tokens, END))
        hidden = mask(tokens, table.value_tokens()) if table.segments else tokens
        first = rows.index.search(numbered((BEGIN, *hidden, END)), promising(len(target)))
        segments = np.array(table.segment_numbers(), dtype=np.int32)
        return rows.pricing.least(target, first, table=(numbered(table.tokens), segments), exact=exact)

    def _rows(self, table: Linearized) -> Rows:
        return self.sources.masked if table.segments else self.sources.written

    def _generation(
        self,
        id_: str,
        table: Table,
        linear: Linearized,
        tokens: Tokens,
        derivation: tuple[tuple[Splice, ...], dict[int, str]],
        found: LeastDerivation,
    ) -> Generation:
        rows = self._rows(linear)
        splices, words = derivation
        neighbors = tuple(self.sources.neighbor(row, rows) for row in found.rows)
        sources = Sources(linear, neighbors, words)
        origins = inner(replay_origins(splices, sources), sources)
        spans = tokens.spans
        return Generation(
            id=id_,
            table=table,
            text=tokens.text,
            tokens=tuple(tokens),
            sources=sources,
            splices=splices,
            provenance=tuple(
                Provenance(o.neighbor, o.position, o.step, *span)
                for o, span in zip(origins, spans, strict=True)
            ),
            score=0.0,
            status="ok",
            reason=None,
            rules=(),
            policy=POLICY,
            run=self.sources.name,
            tokenizer=self.sources.tokenizer,
            attribution="least",
            utf16=tuple(utf16_spans(tokens.text, spans)),
            traced=traced(tokens, [place - 1 for place in found.foreign], found),
        )


def promising(length: int) -> int:
    """How many rows are priced first for a target, or at all in fast mode."""
    return min(PROMISING, FIRST_WORK // length)


def traced(tokens: Tokens, foreign: Sequence[int], found: LeastDerivation) -> Traced:
    """What the row of a trace says; adjacent foreign tokens are one gap."""
    spans = tokens.spans
    ranges: list[tuple[int, int]] = []
    for before, place in zip([None, *foreign], foreign, strict=False):
        start, stop = spans[place]
        if ranges and before == place - 1:
            start = ranges.pop()[0]
        ranges.append((start, stop))
    units = utf16_spans(tokens.text, ranges)
    certificate = found.certificate
    return Traced(
        tuple(Gap(start, stop, unit) for (start, stop), unit in zip(ranges, units, strict=True)),
        1 - len(foreign) / len(tokens),
        Certificate(certificate.rows, certificate.looked_at, certificate.proved),
    )


def _renumbered(
    splices: Sequence[Splice], neighbors: int, words: Mapping[int, str]
) -> tuple[tuple[Splice, ...], dict[int, str]]:
    """The splices with foreign words numbered from 0 as they are first used, and these words."""
    numbering = Numbering(neighbors)
    numbers: dict[int, int] = {}
    renumbered: list[Splice] = []
    for splice in splices:
        if numbering.is_word(splice.neighbor):
            number = numbers.setdefault(numbering.word_id(splice.neighbor), len(numbers))
            splice = splice._replace(neighbor=numbering.word(number))
        renumbered.append(splice)
    return tuple(renumbered), {number: words[id_] for id_, number in numbers.items()}
