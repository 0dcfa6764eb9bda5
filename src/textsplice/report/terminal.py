"""The view for a terminal. Labels and underlines tell sources apart; color only helps."""

from __future__ import annotations

from io import StringIO
from itertools import groupby

from rich.console import Console, ConsoleOptions, Group, RenderResult
from rich.padding import Padding
from rich.table import Table as Grid
from rich.text import Text

from textsplice.report.document import Document, Kind
from textsplice.report.frames import CARET, GAP_SIGN, MASK_SIGN, Frame, Piece, finished, frames, shown, tag
from textsplice.report.joins import SEAM_SIGN, seam_lines, unattested
from textsplice.report.marks import marks
from textsplice.report.plain import coverage, heading
from textsplice.visible import visible

# One underline per kind: single, double, and italics, since terminals have no third. A gap stands out.
_STYLES: dict[Kind, str] = {
    "neighbor": "blue underline",
    "table": "dark_orange underline2",
    "vocabulary": "green italic underline",
    "gap": "magenta reverse",
}
_STRUCK = "strike dim"
_SEAM = (SEAM_SIGN, "bold red")


class TerminalView:
    """A derivation that Rich can print; below a width of 60, labels go above instead of beside."""

    def __init__(self, document: Document) -> None:
        self.document = document

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield _finished_line(self.document)
        yield Text(visible(heading(self.document)), style="dim")
        if self.document.generation.traced:
            yield Text(coverage(self.document))
        for told in seam_lines(self.document.generation):
            yield Text(visible(told))
        yield Text()
        yield _legend(self.document)
        yield Text()
        yield _table(self.document, narrow=options.max_width < 60)
        for frame in frames(self.document):
            yield Text()
            yield _step(self.document, frame)
        yield Text()
        yield from _neighbors(self.document)


def terminal(document: Document) -> TerminalView:
    """A derivation for `rich.print` or a `Console`."""
    return TerminalView(document)


def ansi(document: Document, *, width: int | None = None) -> str:
    """A derivation as text with the escape sequences of a terminal."""
    out = StringIO()
    Console(file=out, force_terminal=True, color_system="256", width=width).print(terminal(document))
    return out.getvalue()


def _finished_line(document: Document) -> Text:
    generation = document.generation
    if not generation.text:
        return Text(visible(f"(no text: {generation.reason or generation.status})"), style="bold")
    line = Text(style="bold")
    torn = {seam.token for seam in unattested(generation)}

    def run_of(placed: tuple[int, Piece]) -> tuple[int, int]:
        """The step that laid it, adjacent words of a gap being one, and the unattested seams before it."""
        at, piece = placed
        step = -1 if document.kind(piece.origin.neighbor) == "gap" else piece.origin.step
        return step, sum(seam <= at for seam in torn)

    for (step, _), run in groupby(enumerate(finished(document)), key=run_of):
        placed = list(run)
        pieces = [piece for _, piece in placed]
        line.append(" " if pieces[0].spaced else "")
        line.append(*_SEAM if placed[0][0] in torn else ("",))
        line.append(_joined(pieces), _style(document, pieces[0]))
        line.append(f"⁽{GAP_SIGN}⁾" if step == -1 else "")
    line.append(*_SEAM if len(generation.tokens) in torn else ("",))
    return line


def _legend(document: Document) -> Text:
    traced = document.generation.traced
    kind: Kind = "gap" if traced else "vocabulary"
    return Text.assemble(
        ("neighbor", _STYLES["neighbor"]),
        " N1  ",
        ("table", _STYLES["table"]),
        " T  ",
        ("stands in no source" if traced else kind, _STYLES[kind]),
        f" {GAP_SIGN if traced else 'V'}  {CARET} inserted here  ",
        ("replaced", _STRUCK),
        f"  {MASK_SIGN} masked",
    )


def _table(document: Document, *, narrow: bool) -> Grid | Group:
    rows = [(mark.sign, *cell[:2]) for cell, mark in zip(document.cells, marks(document), strict=True)]
    if narrow:
        return Group(*(Text(visible(f"{sign} {field}: {value}")) for sign, field, value in rows))
    grid = Grid.grid(padding=(0, 1))
    for sign, field, value in rows:
        grid.add_row(sign, Text(visible(field), style="dim"), Text(visible(value)))
    return grid


def _step(document: Document, frame: Frame) -> Group:
    return Group(
        Text.assemble((f"{frame.number}. ", "bold"), visible(frame.sentence)),
        Padding(_canvas(document, frame), (0, 0, 0, 3)),
    )


def _canvas(document: Document, frame: Frame) -> Text:
    if not frame.pieces:
        return Text(visible(shown(document, frame.step.origins)), style="dim")
    line = Text()
    for role, run in groupby(frame.pieces, key=lambda piece: (piece.role, piece.origin.step)):
        pieces = list(run)
        line.append(" " if pieces[0].spaced else "")
        if role[0] == "inserted":
            line.append(CARET, "bold")
        line.append(_joined(pieces), _style(document, pieces[0]))
        if role[0] == "inserted":
            line.append(f"⁽{tag(document, frame.step.splice.neighbor)}⁾", "bold")
    return line


def _joined(pieces: list[Piece]) -> str:
    """A run of pieces with its inner spaces, so that its underline is unbroken."""
    return visible("".join(f"{' ' if p.spaced else ''}{p.text}" for p in pieces).removeprefix(" "))


def _style(document: Document, piece: Piece) -> str:
    if piece.role == "replaced":
        return _STRUCK
    style = _STYLES[document.kind(piece.origin.neighbor)]
    return f"bold {style}" if piece.role == "inserted" else style


def _neighbors(document: Document) -> list[Text]:
    lines = [
        Text.assemble((f"N{source} ", "bold"), (visible(f"{offered.id}: "), "dim"), visible(offered.text))
        for source, offered in enumerate(document.sources.neighbors, 1)
        if source in document.used
    ]
    unused = len(document.sources.neighbors) - len(lines)
    if unused:
        noun = "neighbor was" if unused == 1 else "neighbors were"
        lines.append(Text(f"{unused} more {noun} offered and not used.", style="dim"))
    return lines
