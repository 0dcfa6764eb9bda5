"""The boxes of the figure: words laid out in lines, and the position of each box."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

from textsplice.report.document import Document, Kind
from textsplice.report.frames import GAP_SIGN, MASK_SIGN, Frame, Piece, finished, spacing, span
from textsplice.report.widths import Placed, lay, text_width
from textsplice.text.tokens import BEGIN, END, MASK

SIZE = 14.0
NOTE_SIZE = 9.0
LEADING = 25.0
PADDING = 10.0
TITLE = 20.0
GAP = 16.0

Look = Literal["plain", "field", "masked", "struck"]


class Word(NamedTuple):
    """A word in a box; `note` are the numbers of the steps whose span ends with it."""

    text: str
    spaced: bool
    look: Look
    kind: Kind
    note: str = ""


class Extent(NamedTuple):
    """The part of a line that a span covers."""

    line: int
    left: float
    right: float


@dataclass(frozen=True, slots=True)
class Box:
    """A titled box of words; `spans` has the words `[start, stop)` that each step copied or inserted."""

    title: str
    kind: Kind | None
    words: tuple[Word, ...]
    spans: dict[int, tuple[int, int]]
    placed: tuple[Placed, ...]
    x: float
    y: float
    width: float

    @property
    def height(self) -> float:
        """Including the title above the border."""
        lines = self.placed[-1].line + 1 if self.placed else 1
        return TITLE + 2 * PADDING + lines * LEADING - 6

    @property
    def bottom(self) -> float:
        """The lower edge."""
        return self.y + self.height

    def baseline(self, line: int) -> float:
        """The y of a line's baseline."""
        return self.y + TITLE + PADDING + line * LEADING + SIZE

    def extents(self, start: int, stop: int) -> list[Extent]:
        """What words `[start, stop)` cover on each line, in the figure's coordinates."""
        left = self.x + PADDING
        lines: dict[int, Extent] = {}
        for place in self.placed[start:stop]:
            old = lines.get(place.line)
            begin = old.left if old else left + place.x
            lines[place.line] = Extent(place.line, begin, left + place.x + place.width)
        return list(lines.values())


def canvas_boxes(document: Document, all_frames: Sequence[Frame], x: float, width: float) -> list[Box]:
    """One dotted box per canvas, from top to bottom, and the finished text."""
    boxes: list[Box] = []
    y = GAP
    for frame in all_frames:
        words = tuple(_piece_word(document, piece) for piece in frame.pieces)
        new = [n for n, piece in enumerate(frame.pieces) if piece.role == "inserted"]
        spans = {frame.number: (new[0], new[-1] + 1)} if new else {}
        kind = document.kind(frame.step.splice.neighbor)
        boxes.append(_box(_short(frame.sentence), kind, words, spans, x, y, width))
        y = boxes[-1].bottom + GAP
    text = tuple(_gaps_noted([_piece_word(document, piece) for piece in finished(document)]))
    boxes.append(_box("the finished text", None, text, {}, x, y, width))
    return boxes


def source_boxes(document: Document, all_frames: Sequence[Frame], x: float, width: float) -> list[Box]:
    """The used neighbors, the table, and the used words of the vocabulary, or those that no source has."""
    used = dict.fromkeys(frame.step.splice.neighbor for frame in all_frames)
    neighbors = [source for source in used if document.kind(source) == "neighbor"]
    table = [0] if document.cells or not document.generation.traced else []
    boxes = [_text_source(document, source, all_frames, x, width) for source in [*neighbors, *table]]
    kind: Kind = "gap" if document.generation.traced else "vocabulary"
    words = [f for f in all_frames if document.kind(f.step.splice.neighbor) == kind]
    if words:
        boxes.append(_words_box(words, kind, x, width))
    return boxes


def beside(sources: Sequence[Box], canvases: Sequence[Box]) -> list[Box]:
    """Each source at the height of the canvases that use it, so that lines stay short; none overlap."""
    centers = {step: box.y + box.height / 2 for box in canvases for step in box.spans}

    def wish(box: Box) -> float:
        heights = [centers[step] for step in box.spans if step in centers]
        return sum(heights) / len(heights) - box.height / 2 if heights else 0.0

    placed: list[Box] = []
    y = GAP
    for box in sorted(sources, key=wish):
        placed.append(replace(box, y=max(y, wish(box))))
        y = placed[-1].bottom + GAP
    limit = max(canvases[-1].bottom, sum(box.height + GAP for box in sources))
    for n in reversed(range(len(placed))):
        placed[n] = replace(placed[n], y=min(placed[n].y, limit - placed[n].height))
        limit = placed[n].y - GAP
    return placed


def _text_source(document: Document, source: int, all_frames: Sequence[Frame], x: float, width: float) -> Box:
    tokens = document.sources[source]
    shown = [n for n, token in enumerate(tokens) if token not in (BEGIN, END)]
    kind = document.kind(source)
    spans: dict[int, tuple[int, int]] = {}
    for frame in all_frames:
        if frame.step.splice.neighbor == source:
            inside = [
                word for word, n in enumerate(shown) if frame.step.splice.begin <= n < frame.step.splice.end
            ]
            if inside:
                spans[frame.number] = (inside[0], inside[-1] + 1)
    written = spacing(document.writing, span(source, 0, len(tokens)))
    words = tuple(
        Word(
            MASK_SIGN if token == MASK else token.strip(" ") or token,
            spaced,
            _look(document, source, origin.position, token),
            kind,
            _note(spans, word),
        )
        for word, (origin, token, spaced) in enumerate(written)
    )
    title = "table"
    if kind == "neighbor":
        title = f"neighbor {source} · {document.sources.neighbors[source - 1].id}"
    return _box(title, kind, words, spans, x, 0.0, width)


def _words_box(all_frames: Sequence[Frame], kind: Kind, x: float, width: float) -> Box:
    spans: dict[int, tuple[int, int]] = {}
    order: dict[str, int] = {}
    for frame in all_frames:
        place = order.setdefault(frame.step.inserted[0], len(order))
        spans[frame.number] = (place, place + 1)
    words = tuple(Word(word, True, "plain", kind, _note(spans, place)) for word, place in order.items())
    title = f"{GAP_SIGN} stands in no source" if kind == "gap" else "vocabulary"
    return _box(title, kind, words, spans, x, 0.0, width)


def _box(
    title: str,
    kind: Kind | None,
    words: tuple[Word, ...],
    spans: dict[int, tuple[int, int]],
    x: float,
    y: float,
    width: float,
) -> Box:
    rooms = [(w.text, w.spaced, text_width(w.note, NOTE_SIZE) + 2 if w.note else 0.0) for w in words]
    placed = tuple(lay(rooms, width - 2 * PADDING, SIZE))
    return Box(title, kind, words, spans, placed, x, y, width)


def _piece_word(document: Document, piece: Piece) -> Word:
    look: Look = "plain"
    if piece.role == "replaced":
        look = "struck"
    elif piece.masked:
        look = "masked"
    return Word(piece.text, piece.spaced, look, document.kind(piece.origin.neighbor))


def _gaps_noted(words: Sequence[Word]) -> list[Word]:
    """The words, with a sign at the end of each gap."""
    after = [*(word.kind for word in words[1:]), None]
    return [
        word._replace(note=GAP_SIGN) if word.kind == "gap" != kind else word
        for word, kind in zip(words, after, strict=False)
    ]


def _look(document: Document, source: int, position: int, token: str) -> Look:
    if token == MASK:
        return "masked"
    return "field" if source == 0 and not document.sources.segment_at(position) else "plain"


def _note(spans: dict[int, tuple[int, int]], word: int) -> str:
    return ",".join(str(step) for step, (_, stop) in spans.items() if stop == word + 1)


def _short(sentence: str) -> str:
    """`replaces, from table · name`: the box shows the words themselves."""
    return f"{sentence.split(' “', 1)[0]}, from {sentence.rsplit('” from ', 1)[1]}"
