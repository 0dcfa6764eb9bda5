"""How wide a word is drawn, without reading a font, and how words fill lines.

The figure uses Helvetica, Arial or Liberation Sans, which have the same widths by design. The widths below
are theirs for ASCII, in thousandths of the font size; other characters are estimated.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from typing import NamedTuple

FAMILY = "Helvetica, Arial, 'Liberation Sans', sans-serif"

_GROUPS: dict[int, str] = {
    191: "'",
    222: "ijl",
    260: "|",
    278: " !,./:;I[\\]ft",
    333: "()-`r",
    334: "{}",
    355: '"',
    389: "*",
    469: "^",
    500: "Jckszvxy",
    556: "#$0123456789?L_abdeghnopqu",
    584: "+<=>~",
    611: "FTZ",
    667: "&ABEKPSVXY",
    722: "CDHNRUw",
    778: "GOQ",
    833: "Mm",
    889: "%",
    944: "W",
    1015: "@",
}
_WIDTHS = {character: width for width, group in _GROUPS.items() for character in group}
_WIDE, _NARROW, _ZERO = 1000, 600, 0


class Placed(NamedTuple):
    """A word's position: its line, its left edge and its width, in the units of the font size."""

    line: int
    x: float
    width: float


def text_width(text: str, size: float) -> float:
    """The width of a word at a font size."""
    return sum(map(_width, text)) * size / 1000


def is_estimated(text: str) -> bool:
    """Whether a width is only estimated, so that the drawing must fit the word to it."""
    return any(character not in _WIDTHS for character in text)


def lay(words: Sequence[tuple[str, bool, float]], width: float, size: float) -> list[Placed]:
    """Fills lines of `width` with (word, space before it, room after it).

    Lines break only at spaces; a word longer than a line is made to fit one.
    """
    placed: list[Placed] = []
    space = text_width(" ", size)
    widths = [min(text_width(text, size), width - room) for text, _, room in words]
    line, x = 0, 0.0
    for n, (_, spaced, room) in enumerate(words):
        gap = space if spaced and x > 0 else 0.0
        ahead = _glued_width(words, widths, n) if spaced else widths[n] + room
        if x > 0 and x + gap + min(ahead, width) > width:
            line, x, gap = line + 1, 0.0, 0.0
        placed.append(Placed(line, x + gap, widths[n]))
        x += gap + widths[n] + room
    return placed


def _glued_width(words: Sequence[tuple[str, bool, float]], widths: Sequence[float], first: int) -> float:
    """The width of a word with all that follows it without a space: a comma must not start a line."""
    total = widths[first] + words[first][2]
    for (_, spaced, room), width in zip(words[first + 1 :], widths[first + 1 :], strict=True):
        if spaced:
            break
        total += width + room
    return total


def _width(character: str) -> int:
    if (known := _WIDTHS.get(character)) is not None:
        return known
    if unicodedata.combining(character) or unicodedata.category(character) in ("Cf", "Mn", "Me"):
        return _ZERO
    if unicodedata.east_asian_width(character) in ("W", "F"):
        return _WIDE
    # An accent does not widen a letter.
    base = unicodedata.normalize("NFD", character)[0]
    return _WIDTHS.get(base, _NARROW)
