"""What comes out: a text, the splices that made it, and the source of each of its words."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Literal, NamedTuple, cast, get_args

from textsplice.corpus.table import Table
from textsplice.errors import InputError
from textsplice.extensions import VIEWS
from textsplice.neighbors.trigrams import Trigrams
from textsplice.oracle.sources import Sources
from textsplice.oracle.splice import Origin, Splice, canvases
from textsplice.oracle.splice import provenance as replay_origins
from textsplice.oracle.writing import Writing
from textsplice.policy.kind import Attribution
from textsplice.search.doubts import Doubt, Unchecked, reason_of
from textsplice.search.reading import JsonRow, read_sources
from textsplice.search.seams import Seams, find_seams
from textsplice.search.spans import pieces, spans
from textsplice.search.traced import Certificate, Gap, Traced
from textsplice.text.tokens import BEGIN, END, OLD_TOKENIZERS, TOKENIZERS, Tokenizer

FORMAT = "textsplice.generation/2"
# Rows of format 1 were cut and joined by other rules, and have no UTF-16 offsets.
OLD_FORMAT = "textsplice.generation/1"
FORMATS = (FORMAT, OLD_FORMAT)
Status = Literal["ok", "doubtful", "unfinished", "abstained"]
FINISHED = ("ok", "doubtful")  # there is a text, which the policy itself ended


class Provenance(NamedTuple):
    """The source of a token, the splice that placed it, and its characters `text[start:stop]`."""

    source: int
    position: int
    step: int
    start: int
    stop: int

    @property
    def origin(self) -> Origin:
        """The same without the characters."""
        return Origin(self.source, self.position, self.step)


class Step(NamedTuple):
    """One splice: the tokens it removed and inserted, and the canvas after it."""

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
    utf16: tuple[tuple[int, int], ...] | None = None
    traced: Traced | None = None
    seams: Seams | None = None  # absent in rows of older versions, and where there is no text
    doubts: tuple[Doubt, ...] | None = None  # absent in rows of older versions and traces
    unchecked: tuple[Unchecked, ...] = ()  # values of which nobody can tell whether the text says them
    selected: bool = False  # whether its row has selectors of W3C Web Annotation
    format: str = FORMAT

    @property
    def finished(self) -> bool:
        """Whether the policy itself ended the text."""
        return self.status in FINISHED

    @property
    def derivation(self) -> tuple[Splice, ...]:
        """The splices under the paper's name."""
        return self.splices

    @property
    def gaps(self) -> tuple[Gap, ...]:
        """What stands in no source; only traced texts have gaps."""
        return self.traced.gaps if self.traced else ()

    @property
    def certificate(self) -> Certificate | None:
        """What is proved of the splices of a traced text."""
        return self.traced.certificate if self.traced else None

    @property
    def writing(self) -> Writing:
        """How its sources are written out."""
        return Writing(self.sources, self.table, self.cut)

    @property
    def cut(self) -> Tokenizer:
        """Its tokenizer, in the version of its format."""
        return self.tokenizer if self.format == FORMAT else OLD_TOKENIZERS[TOKENIZERS.index(self.tokenizer)]

    def steps(self) -> list[Step]:
        """The derivation canvas by canvas, with what each splice replaced."""
        steps: list[Step] = []
        before: tuple[str, ...] = ()
        for splice, origins in zip(self.splices, canvases(self.splices, self.sources), strict=True):
            canvas = tuple(map(self.sources.token, origins))
            inserted = tuple(self.sources[splice.neighbor][splice.begin : splice.end])
            removed = before[splice.start : splice.stop]
            steps.append(Step(splice, removed, inserted, canvas, tuple(origins)))
            before = canvas
        return steps

    def spans(self) -> list[dict[str, object]]:
        """What was copied in one piece, and what stands in no source, by selectors of W3C Web Annotation."""
        numbering = self.sources.numbering
        copied = pieces(self.provenance)
        if self.traced is not None:  # words that stand nowhere are its gaps
            copied = (piece for piece in copied if not numbering.is_word(piece.source))
        return spans(self.text, copied, (gap[:2] for gap in self.gaps), self.sources, self.cut)

    def with_seams(self, trigrams: Trigrams) -> Generation:
        """The same, which says where its seams are not attested by texts that have these trigrams."""
        origins = [place.origin for place in self.provenance]
        spans = [(place.start, place.stop) for place in self.provenance]
        return replace(self, seams=find_seams(self.tokens, origins, spans, self.sources, trigrams))

    def with_doubts(self, doubts: tuple[Doubt, ...], unchecked: tuple[Unchecked, ...] = ()) -> Generation:
        """The same, which says what a person should look at; it is doubtful if there are doubts."""
        if not doubts:
            return replace(self, doubts=(), unchecked=unchecked)
        reason = reason_of(doubts)
        return replace(self, doubts=doubts, unchecked=unchecked, status="doubtful", reason=reason)

    def with_selectors(self) -> Generation:
        """The same, whose row also has `spans`."""
        return replace(self, selected=True)

    def show(self) -> None:
        """Shows the derivation: a player in a notebook, canvas by canvas in a terminal."""
        cast("Callable[[Mapping[str, object]], None]", VIEWS["show"])(self.to_dict())

    def _repr_html_(self) -> str:
        return cast("Callable[[Mapping[str, object]], str]", VIEWS["notebook"])(self.to_dict())

    def to_dict(self) -> dict[str, object]:
        """The published JSON, `textsplice.generation/2` (docs/formats.md), or 1 if it was read from that."""
        # Rows of the first versions do not have these keys and must stay as they are.
        later = {
            "search": self.search and dict(self.search),
            "weights": self.weights,
            "trace": self.traced and self.traced.to_dict(),
            "seams": self.seams and self.seams.to_dict(),
            "doubts": None if self.doubts is None else [doubt.to_dict() for doubt in self.doubts],
            "unchecked": [each._asdict() for each in self.unchecked] or None,
            "spans": self.spans() if self.selected else None,
        }
        return {
            "format": self.format,
            "id": self.id,
            "status": self.status,
            "reason": self.reason,
            "text": self.text,
            "table": self.table.to_record(),
            "tokens": list(self.tokens),
            "splices": [list(splice) for splice in self.splices],
            "provenance": self._places(),
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

    def _places(self) -> list[dict[str, object]]:
        places: list[dict[str, object]] = [place._asdict() for place in self.provenance]
        for place, span in zip(places, self.utf16 or (), strict=False):
            place["utf16"] = list(span)
        return places

    @classmethod
    def from_dict(cls, data: Mapping[str, object], where: str = "generation") -> Generation:
        """Reads what `to_dict` wrote; `InputError` if something is missing or of another type."""
        row = JsonRow(data, where)
        if data.get("format") not in FORMATS:
            raise InputError(
                f"is of format {data.get('format')!r}; this version reads {FORMAT!r} and {OLD_FORMAT!r}.",
                where=where,
            )
        is_old = data["format"] == OLD_FORMAT
        return cls(
            id=row.text("id"),
            table=_read_table(row, traced=data.get("trace") is not None),
            text=row.text("text"),
            tokens=tuple(row.texts("tokens")),
            sources=read_sources(row.row("sources")),
            splices=tuple(Splice(*row.numbers(splice, "splices", 5)) for splice in row.items("splices")),
            provenance=tuple(_read_provenance(place, row) for place in row.items("provenance")),
            score=row.score("score"),
            status=cast("Status", row.choice("status", get_args(Status))),
            reason=row.text("reason") if data.get("reason") is not None else None,
            rules=tuple(rule.data for rule in row.rows("rules")),
            policy=row.text("policy"),
            run=row.text("run"),
            tokenizer=cast("Tokenizer", row.choice("tokenizer", TOKENIZERS)),
            attribution=cast("Attribution", row.choice("attribution", get_args(Attribution))),
            alternatives=tuple(
                Alternative(other.text("text"), other.score("score")) for other in row.rows("alternatives")
            ),
            search=row.mapping("search") if data.get("search") is not None else None,
            weights=row.text("weights") if data.get("weights") is not None else None,
            traced=Traced.from_row(row.row("trace")) if data.get("trace") is not None else None,
            seams=Seams.from_row(row.row("seams")) if data.get("seams") is not None else None,
            doubts=_read_doubts(row),
            unchecked=tuple(map(Unchecked.from_row, row.rows("unchecked"))) if "unchecked" in data else (),
            selected=data.get("spans") is not None,
            utf16=None if is_old else tuple(_read_utf16(place, row) for place in row.items("provenance")),
            format=row.text("format"),
        )


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
    origins = inner(replay_origins(splices, sources), sources)
    tokens = tuple(map(sources.token, origins))
    text, spans = Writing(sources, table, tokenizer).write(origins)
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
        utf16=tuple(utf16_spans(text, spans)),
    )


def utf16_spans(text: str, spans: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Ranges of characters counted in UTF-16 units, as JavaScript does; a character has one or two."""
    if text.isascii() or max(text) < "\U00010000":
        return list(spans)
    units = [0, *accumulate(1 + (character > "\uffff") for character in text)]
    return [(units[start], units[stop]) for start, stop in spans]


def inner(origins: Sequence[Origin], sources: Sources) -> Sequence[Origin]:
    """A canvas without the begin at its left end and the end at its right end."""
    first, last = 0, len(origins)
    if first < last and sources.token(origins[0]) == BEGIN:
        first += 1
    if first < last and sources.token(origins[last - 1]) == END:
        last -= 1
    return origins[first:last]


def _read_table(row: JsonRow, *, traced: bool) -> Table:
    record = cast("Mapping[str, str | list[str]]", row.mapping("table"))
    # A text can be traced without a record.
    return Table(()) if traced and not record else Table.from_record(record)


def _read_doubts(row: JsonRow) -> tuple[Doubt, ...] | None:
    if row.data.get("doubts") is None:
        return None
    return tuple(map(Doubt.from_row, row.rows("doubts")))


def _read_provenance(place: object, row: JsonRow) -> Provenance:
    each = cast("Mapping[str, object]", place) if isinstance(place, Mapping) else {}
    return Provenance(*row.numbers([each.get(key) for key in Provenance._fields], "provenance", 5))


def _read_utf16(place: object, row: JsonRow) -> tuple[int, int]:
    each = cast("Mapping[str, object]", place) if isinstance(place, Mapping) else {}
    start, stop = row.numbers(each.get("utf16"), "utf16", 2)
    return start, stop
