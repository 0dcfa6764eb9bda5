"""What comes out: a text, the splices that made it, and where each of its words stood before."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple, cast, overload

from textsplice.corpus.table import Table
from textsplice.errors import InputError
from textsplice.extensions import VIEWS
from textsplice.oracle.splice import Origin, Splice, trace
from textsplice.text.linearize import Linearized, Segment
from textsplice.text.tokens import BEGIN, END, MASK, Tokenizer, detokenize_with_spans

FORMAT = "textsplice.generation/1"
Status = Literal["ok", "unfinished", "abstained"]
# "most-probable": the policy chose a word by all its occurrences together; the likeliest one is named.
Attribution = Literal["exact", "most-probable"]
SourceKind = Literal["table", "neighbor", "vocabulary"]


@dataclass(frozen=True, slots=True)
class OfferedNeighbor:
    """A training text that was offered for splicing: its id in the store, as written, and as masked."""

    id: str
    text: str
    tokens: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Sources(Sequence[Sequence[str]]):
    """What `Splice.neighbor` counts: 0 the table, 1…n the neighbours, 1 + n + id the vocabulary's words.

    Of the vocabulary a generation keeps only the words it used; the rest of the ids are not there.
    """

    table: Linearized
    neighbors: tuple[OfferedNeighbor, ...]
    words: Mapping[int, str]

    def __len__(self) -> int:
        return self.first_word + max(self.words, default=-1) + 1

    @property
    def first_word(self) -> int:
        """The number of the vocabulary's word 0."""
        return 1 + len(self.neighbors)

    @overload
    def __getitem__(self, index: int) -> Sequence[str]: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Sequence[str]]: ...
    def __getitem__(self, index: int | slice) -> Sequence[str] | Sequence[Sequence[str]]:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        if index == 0:
            return self.table.tokens
        if 1 <= index < self.first_word:
            return self.neighbors[index - 1].tokens
        word = self.words.get(index - self.first_word)
        if word is None:
            raise InputError(f"source {index} is neither a neighbour nor a word that was used.")
        return (word,)

    def using(self, splices: Sequence[Splice], words: Sequence[str]) -> Sources:
        """The same with the words of the vocabulary that a derivation uses, and no others."""
        first = self.first_word
        used = sorted({splice.neighbor - first for splice in splices if splice.neighbor >= first})
        return replace(self, words={number: words[number] for number in used})

    def token(self, origin: Origin) -> str:
        """The token at a place of a source."""
        return self[origin.neighbor][origin.position]

    def kind(self, source: int) -> SourceKind:
        """What sort of text a source is."""
        if source == 0:
            return "table"
        return "neighbor" if source < self.first_word else "vocabulary"

    def segment_at(self, position: int) -> Segment | None:
        """The value of the table that holds a position of it; None for a field's name."""
        return next((s for s in self.table.segments if s.start <= position < s.stop), None)

    def label(self, source: int, position: int) -> str:
        """Where a token comes from, for people: the field, the neighbour's id, or the vocabulary."""
        kind = self.kind(source)
        if kind == "neighbor":
            return self.neighbors[source - 1].id
        segment = self.segment_at(position) if kind == "table" else None
        return segment.field if segment else kind


class Provenance(NamedTuple):
    """Where a token came from, the splice that laid it, and its characters `text[start:stop]`."""

    source: int
    position: int
    step: int
    start: int
    stop: int


class Step(NamedTuple):
    """One splice: the text it took out, the text it laid, and the canvas it left."""

    splice: Splice
    removed: tuple[str, ...]
    inserted: tuple[str, ...]
    canvas: tuple[str, ...]
    origins: tuple[Origin, ...]


class Alternative(NamedTuple):
    """A finished text that was not given."""

    text: str
    score: float


@dataclass(frozen=True, slots=True)
class Generation:
    """A text with its proof. `tokens` are those of the text, without begin and end."""

    id: str
    table: Table
    text: str
    tokens: tuple[str, ...]
    sources: Sources
    splices: tuple[Splice, ...]
    provenance: tuple[Provenance, ...]
    score: float
    status: Status
    reason: str | None
    rules: tuple[Mapping[str, object], ...]
    policy: str
    run: str
    tokenizer: Tokenizer
    attribution: Attribution = "exact"
    alternatives: tuple[Alternative, ...] = ()
    search: Mapping[str, object] | None = None
    weights: str | None = None

    @property
    def finished(self) -> bool:
        """Whether the policy itself ended the text."""
        return self.status == "ok"

    @property
    def derivation(self) -> tuple[Splice, ...]:
        """The splices, by the paper's name for all of them together."""
        return self.splices

    def steps(self) -> list[Step]:
        """The derivation canvas by canvas, with what each splice replaced."""
        steps: list[Step] = []
        before: tuple[str, ...] = ()
        for splice, origins in zip(self.splices, trace(self.splices, self.sources), strict=True):
            canvas = tuple(map(self.sources.token, origins))
            inserted = tuple(self.sources[splice.neighbor][splice.begin : splice.end])
            removed = before[splice.start : splice.stop]
            steps.append(Step(splice, removed, inserted, canvas, tuple(origins)))
            before = canvas
        return steps

    def show(self) -> None:
        """Shows the derivation: a player in a notebook, canvas by canvas in a terminal."""
        cast("Callable[[Mapping[str, object]], None]", VIEWS["show"])(self.to_dict())

    def _repr_html_(self) -> str:
        return cast("Callable[[Mapping[str, object]], str]", VIEWS["notebook"])(self.to_dict())

    def to_dict(self) -> dict[str, object]:
        """The published JSON, `textsplice.generation/1` (docs/formats.md)."""
        # Rows of the first versions do not have these keys; read back, they are the same rows.
        later = {"search": self.search and dict(self.search), "weights": self.weights}
        return {
            "format": FORMAT,
            "id": self.id,
            "status": self.status,
            "reason": self.reason,
            "text": self.text,
            "table": self.table.to_record(),
            "tokens": list(self.tokens),
            "splices": [list(splice) for splice in self.splices],
            "provenance": [place._asdict() for place in self.provenance],
            "sources": {
                "table": {
                    "tokens": list(self.sources.table.tokens),
                    "segments": [list(segment) for segment in self.sources.table.segments],
                },
                "neighbors": [
                    {"id": n.id, "text": n.text, "tokens": list(n.tokens)} for n in self.sources.neighbors
                ],
                "words": {str(n): word for n, word in sorted(self.sources.words.items())},
            },
            "score": None if self.status == "abstained" else self.score,
            "alternatives": [alternative._asdict() for alternative in self.alternatives],
            "rules": [dict(rule) for rule in self.rules],
            "policy": self.policy,
            "run": self.run,
            "tokenizer": self.tokenizer,
            "attribution": self.attribution,
            **{key: value for key, value in later.items() if value is not None},
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, object], where: str = "generation") -> Generation:
        """Reads what `to_dict` wrote; `InputError` if something is missing or of another kind."""
        from textsplice.search.reading import read_generation

        return read_generation(data, where)


def make_generation(
    *,
    id: str,  # noqa: A002 - the name it has in the file
    table: Table,
    sources: Sources,
    splices: Sequence[Splice],
    score: float,
    status: Status,
    reason: str | None = None,
    rules: Sequence[Mapping[str, object]] = (),
    policy: str,
    run: str,
    tokenizer: Tokenizer,
    attribution: Attribution = "exact",
    alternatives: Sequence[Alternative] = (),
    search: Mapping[str, object] | None = None,
    weights: str | None = None,
) -> Generation:
    """Replays the splices: the only way text is made."""
    canvases = trace(splices, sources)
    origins = inner(canvases[-1], sources) if canvases else []
    tokens = tuple(map(sources.token, origins))
    text, spans = detokenize_with_spans(tokens, tokenizer)
    return Generation(
        id=id,
        table=table,
        text=text,
        tokens=tokens,
        sources=sources,
        splices=tuple(splices),
        provenance=tuple(
            Provenance(o.neighbor, o.position, o.step, start, stop)
            for o, (start, stop) in zip(origins, spans, strict=True)
        ),
        score=score,
        status=status,
        reason=reason,
        rules=tuple(rules),
        policy=policy,
        run=run,
        tokenizer=tokenizer,
        attribution=attribution,
        alternatives=tuple(alternatives),
        search=search,
        weights=weights,
    )


def inner(origins: Sequence[Origin], sources: Sources) -> Sequence[Origin]:
    """A canvas without the begin at its left end and the end at its right end."""
    first, last = 0, len(origins)
    if first < last and sources.token(origins[0]) == BEGIN:
        first += 1
    if first < last and sources.token(origins[last - 1]) == END:
        last -= 1
    return origins[first:last]


def unfit(canvas: Sequence[str], origins: Sequence[Origin], sources: Sources) -> str | None:
    """Why a canvas can't be a text under any rules, or None if it can.

    A text is begin, at least one word, end; no begin, end or mask between; nothing of a field's name.
    """
    if len(canvas) < 2 or canvas[0] != BEGIN or canvas[-1] != END:
        return "the text does not run from begin to end"
    if len(canvas) == 2:
        return "the text has no words"
    words = canvas[1:-1]
    if MASK in words:
        return "a masked word was not replaced"
    if BEGIN in words or END in words:
        return "begin or end stands inside the text"
    if any(o.neighbor == 0 and sources.segment_at(o.position) is None for o in origins):
        return "a field's name stands in the text"
    return None
