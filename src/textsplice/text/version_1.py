"""How version 1 of the formats cut and joined text; rows and stores of that time are checked by it."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from functools import cache

import regex

from textsplice.text.invisible import without_controls
from textsplice.text.seams import QUOTES, Quotes, sticks_left, sticks_right

_PATTERN = r"""
    [£$€¥₹]?\d+(?:[.,:]\d+)*(?:st|nd|rd|th|s|km|m|pm|am|p|k|[£€])?(?![\p{L}\p{M}\d])
  | [\p{L}\p{M}\p{N}_\u200c\u200d]+?(?=['’](?:s|re|ve|ll|d|m|S)(?![\p{L}\p{M}\p{N}]))
  | ['’](?:s|re|ve|ll|d|m|S)(?![\p{L}\p{M}\p{N}])
  | [\p{L}\p{M}\p{N}_\u200c\u200d]+(?:['’][\p{L}\p{M}]+)*
  | [£$€¥₹]\d+(?:[.,]\d+)*
  | \.{2,} | -{2,} | [!?]{2,} | [ ]
  | \X
"""


@cache
def pattern() -> regex.Pattern[str]:
    """What finds the tokens of a text, and single spaces."""
    return regex.compile(_PATTERN, regex.VERBOSE)


def cleaned(text: str) -> str:
    """The text in NFC, without control characters."""
    if not text.isprintable():
        text = without_controls(text)
    return text if text.isascii() else unicodedata.normalize("NFC", text)


def spaces(tokens: Sequence[str]) -> list[bool]:
    """Whether a space comes before each token; the same token always attaches in the same way."""
    spaced: list[bool] = []
    quotes = Quotes(tokens)
    glued = True
    for index, token in enumerate(tokens):
        if token in QUOTES:
            left, right = quotes.sticks(token, index)
        else:
            left, right = sticks_left(token), sticks_right(token)
        spaced.append(not (glued or left))
        glued = right
    return spaced
