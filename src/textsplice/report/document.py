"""The derivation document: the value that all views are drawn from.

It is a generation together with what replaying it shows: every canvas, and what each splice inserted and
replaced. `docs/views.md` and `schemas/` describe its JSON. An oracle's derivation has one too.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from textsplice.corpus.table import Table
from textsplice.errors import InputError
from textsplice.oracle.sources import OfferedNeighbor, SourceKind, Sources
from textsplice.oracle.splice import Origin, Splice
from textsplice.oracle.writing import Writing
from textsplice.search.generation import FORMATS as GENERATION_FORMATS
from textsplice.search.generation import Generation, Step, make_generation
from textsplice.search.verify import find_lie
from textsplice.slots.check import Slot
from textsplice.text.linearize import NOTHING_UNSAID, Unsaid, linearize, unsaid_in
from textsplice.text.tokens import Tokenizer, tokenize

# What a span is shown as: in a trace, a word that no source has is a gap.
Kind = SourceKind | Literal["gap"]
# The format of a document goes with that of its generation.
FORMATS = {name.replace("generation", "derivation"): name for name in GENERATION_FORMATS}


class Cell(NamedTuple):
    """One value of one field, and its tokens `table[start:stop]` in the linearized table."""

    field: str
    value: str
    start: int
    stop: int


@dataclass(frozen=True, slots=True)
class Document:
    """A derivation whose every word has been checked against its splices."""

    generation: Generation
    steps: tuple[Step, ...]
    cells: tuple[Cell, ...]
    writing: Writing = field(repr=False, compare=False)
    slots: tuple[Slot, ...] | None = field(default=None, repr=False, compare=False)  # if it was checked

    @property
    def sources(self) -> Sources:
        """The table, the offered neighbors, and the words that were used."""
        return self.generation.sources

    @property
    def used(self) -> frozenset[int]:
        """The sources that some splice copied from."""
        return frozenset(step.splice.neighbor for step in self.steps)

    @property
    def origins(self) -> list[Origin]:
        """Where each token of the finished text came from."""
        return [Origin(p.source, p.position, p.step) for p in self.generation.provenance]

    def token(self, origin: Origin) -> str:
        """The token at an origin."""
        return self.sources[origin.neighbor][origin.position]

    def kind(self, source: int) -> Kind:
        """Which kind of text a source is."""
        kind = self.sources.kind(source)
        return "gap" if kind == "vocabulary" and self.generation.traced else kind

    def removed(self, step: int) -> Sequence[Origin]:
        """The origins of the tokens that a step replaced."""
        if step == 0:
            return ()
        splice = self.steps[step].splice
        return self.steps[step - 1].origins[splice.start : splice.stop]

    def to_dict(self) -> dict[str, object]:
        """The published JSON: the generation, what replaying it shows, and a digest of both."""
        value: dict[str, object] = {
            **self.generation.to_dict(),
            "format": self.generation.format.replace("generation", "derivation"),
            "steps": [
                {
                    "splice": list(step.splice),
                    "inserted": list(step.inserted),
                    "replaced": list(step.removed),
                    "canvas": list(step.canvas),
                }
                for step in self.steps
            ],
        }
        return {**value, "digest": _digest(value)}


def read_document(value: Mapping[str, object], where: str = "derivation") -> Document:
    """Checks a generation's or a derivation document's JSON; `InputError` if it was changed."""
    found = value.get("format")
    if found in GENERATION_FORMATS:
        return document(Generation.from_dict(value, where), where)
    if not isinstance(found, str) or found not in FORMATS:
        known = [repr(name) for name in (*GENERATION_FORMATS, *FORMATS)]
        raise InputError(
            f"its format is {found!r}; this version reads {', '.join(known[:-1])} and {known[-1]}.",
            where=where,
            remedy="Generate it again, or use the version of textsplice that wrote it.",
        )
    given = {key: item for key, item in value.items() if key != "digest"}
    if value.get("digest") != _digest(given):
        raise _tampered("the digest is not that of its contents", where)
    result = document(Generation.from_dict({**given, "format": FORMATS[found]}, where), where)
    if result.to_dict() != value:
        raise _tampered("its steps are not what its splices do", where)
    return result


def document(generation: Generation, where: str = "derivation") -> Document:
    """The document of a generation, after checking that its splices make all it says."""
    if lie := find_lie(generation):
        raise _tampered(lie, where)
    return Document(generation, tuple(generation.steps()), tuple(_cells(generation)), generation.writing)


def oracle_document(
    *,
    id: str,  # noqa: A002 - the name it has in the file
    table: Table,
    neighbors: Sequence[OfferedNeighbor],
    splices: Sequence[Splice],
    words: Mapping[int, str] | None = None,
    tokenizer: Tokenizer = "words",
    unsaid: Unsaid = NOTHING_UNSAID,
) -> Document:
    """The document of an oracle's derivation, to see what a policy learned from."""
    sources = Sources(linearize(table, tokenizer, unsaid), tuple(neighbors), words or {})
    generation = make_generation(
        id=id,
        table=table,
        sources=sources,
        splices=splices,
        score=0.0,
        status="ok",
        policy="oracle",
        run="",
        tokenizer=tokenizer,
    )
    return document(generation, id)


def _cells(generation: Generation) -> list[Cell]:
    """The table's values in order, as they were given, with their positions in the linearized table."""
    table = generation.sources.table
    unsaid = unsaid_in(table, generation.table, generation.cut)
    values = [
        value
        for field, given in generation.table
        for value in given
        if not unsaid.has(field, value) and tokenize(value, generation.cut)
    ]
    return [
        Cell(segment.field, value, segment.start, segment.stop)
        for value, segment in zip(values, table.segments, strict=True)
    ]


def _digest(value: Mapping[str, object]) -> str:
    canonical = json.dumps(value, sort_keys=True, separators=(",", ":"))
    return f"sha256:{hashlib.sha256(canonical.encode()).hexdigest()}"


def _tampered(what: str, where: str) -> InputError:
    return InputError(
        f"this derivation was changed after it was made: {what}.",
        where=where,
        remedy="Use the original file, or generate it again.",
    )
