"""Where a space goes between two tokens: the one place that decides it.

Inside a span that was copied whole the space is the source's, and nothing is decided. At a seam a rule
decides by what both sides are: a comma attaches to the word on its left, a hyphen to both sides. A mark that
the rule does not know (`&`, `–`, `=`) and a quotation mark attach as they do in the text they were copied
from. A mark that opens or closes a value (`.NET`, `C#`) belongs to the value. Scripts without spaces get
none.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from functools import cache, lru_cache
from typing import NamedTuple

import regex

QUOTES: tuple[str, ...] = ('"', "'")
# Scripts that are written without spaces between words.
SPACELESS = (
    r"\p{scx=Han}\p{scx=Hiragana}\p{scx=Katakana}\p{Bopomofo}\p{Yi}\p{Tangut}"
    r"\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}\p{Tai_Tham}\p{Tai_Le}\p{New_Tai_Lue}\p{Tai_Viet}\p{Javanese}\p{Balinese}"
)
_WIDE_MARK = r"[\u3001-\u303F\u30FB\uFE30-\uFE4F\uFF01-\uFF65]"  # 。「」，
_OPENING = ("Ps", "Pi")
_CLITICS = frozenset(f"{mark}{tail}" for mark in "'’" for tail in ("s", "S", "re", "ve", "ll", "d", "m"))
_STICKS_LEFT = frozenset(".,;:!?%)]}…”’°*")
_STICKS_BOTH = frozenset("-/‑")
_STICKS_RIGHT = frozenset("([{“‘#£$€¥₹¿¡@") | _STICKS_BOTH
# These attach in one way whatever their source does: a missing space beside them is a slip of the pen.
_CERTAIN = frozenset(".,;:!?%)]}…([{¿¡") | _STICKS_BOTH
_OTHER_SCRIPTS_LEFT = frozenset("،؛؟۔।॥՝։።፣")


class Placed(NamedTuple):
    """A token, and whether its source has a space before and after it.

    None: the source begins or ends there, or it is a single word.
    """

    token: str
    before: bool | None = None
    after: bool | None = None


def sticks_left(token: str) -> bool:
    """Whether a token usually has no space before it."""
    bare = token.rstrip(" ")
    return token[0] in _STICKS_LEFT or bare in _STICKS_BOTH or bare in _CLITICS


def sticks_right(token: str) -> bool:
    """Whether a token usually has no space after it."""
    return token.lstrip(" ") in _STICKS_RIGHT


def spaces(tokens: Sequence[Placed], given: Sequence[bool | None]) -> list[bool]:
    """Whether a space comes before each token; `given` are those that are not at a seam."""
    spaced: list[bool] = []
    quotes = Quotes([placed.token for placed in tokens])
    before: Placed | None = None
    after_word = right_of_before = False
    for index, (placed, known) in enumerate(zip(tokens, given, strict=True)):
        manner = _manner(placed.token)
        usual, fixed, _, word = manner
        if word and after_word and known is None:  # most often
            spaced.append(True)
            before = placed
            continue
        left, right = usual if fixed else _sticks(placed, manner, quotes, index)
        if before is None:
            spaced.append(False)
        elif known is not None:
            spaced.append(known)
        else:
            spaced.append(_space(before, placed, glued=left or right_of_before))
        before, after_word, right_of_before = placed, word, right
    return spaced


class Quotes:
    """Straight quotes open and close in turn; an unpaired single quote is an apostrophe (`adults' menu`)."""

    def __init__(self, tokens: Sequence[str]) -> None:
        self._open = dict.fromkeys(QUOTES, False)
        self._last = len(tokens) - 1 - tokens[::-1].index("'") if "'" in tokens else -1

    def sticks(self, quote: str, index: int) -> tuple[bool, bool]:
        """Whether the next quote attaches to the left and to the right."""
        if quote == "'" and not self._open[quote] and index == self._last:
            return True, False
        self._open[quote] = not self._open[quote]
        return not self._open[quote], self._open[quote]


class _Manner(NamedTuple):
    """How a token attaches, as far as the token itself says it."""

    usual: tuple[bool, bool]  # to the left and to the right
    fixed: bool  # its source does not matter
    certain: bool
    word: bool  # of ASCII letters and digits, between which there is a space


@lru_cache(maxsize=1 << 16)
def _manner(token: str) -> _Manner:
    usual = sticks_left(token) or token in _OTHER_SCRIPTS_LEFT, sticks_right(token)
    fixed = (any(map(str.isalnum, token)) and token not in _CLITICS) or token < " "
    certain = token.strip(" ")[0] in _CERTAIN or token in _CLITICS
    word = usual == (False, False) and token.isascii() and token.isalnum()
    return _Manner(usual, fixed and token not in QUOTES, certain, word)


def _sticks(placed: Placed, manner: _Manner, quotes: Quotes, index: int) -> tuple[bool, bool]:
    """Whether a mark attaches to the left and to the right."""
    token, before, after = placed
    left, right = quotes.sticks(token, index) if token in QUOTES else manner.usual
    if not manner.certain and not (before is None and after is None):
        left, right = before is False, after is False
    if before is None and after is not None:
        left = False  # the first mark of `.NET`, `- x`, `'s-Gravenhage`
    if after is None and before is not None:
        right = False  # the last mark of `C#`, `x -`
    return left, right


def _space(left: Placed, right: Placed, *, glued: bool) -> bool:
    """Whether a space goes between two tokens at a seam, where `glued` is what their marks say."""
    one, other = left.token[-1], right.token[0]
    if glued or " " in (one, other):
        return not glued
    if not (one.isascii() and other.isascii()):
        if _is_wide_mark(one, opening=True) or _is_wide_mark(other, opening=False):
            return False
        wide = spaceless(one), spaceless(other)
        if all(wide):
            return left.after is True and right.before is True
        if any(wide):
            known = left.after, right.before
            return True in known or False not in known
    # `www.` before a value, as in the source.
    inside = one in ".:" and left.before is False and left.after is False
    return not (inside and (other.islower() or other.isdigit()))


@cache
def spaceless(character: str) -> bool:
    """Whether a character belongs to a script without spaces between words."""
    return regex.match(rf"[{SPACELESS}{_WIDE_MARK}]", character, regex.VERSION1) is not None


@cache
def _is_wide_mark(character: str, *, opening: bool) -> bool:
    category = unicodedata.category(character)
    is_mark = category.startswith("P") and regex.match(_WIDE_MARK, character) is not None
    return is_mark and (category in _OPENING) == opening
