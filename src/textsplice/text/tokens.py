"""Text to tokens and back without a visible change.

There are two tokenizers: `words` for running text (it separates punctuation, hyphens and `'s`) and `spaces`
for corpora that are already tokenized (WikiBio). A token never contains a control character, but the special
tokens are control characters, so no user's text can forge one. Most punctuation attaches to an adjacent
word: a comma to the word on its left, a hyphen to both sides. A mark that is written with an unusual space
keeps it in its token: `" - "` is a different token from the hyphen of `family-friendly`.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from functools import cache
from typing import Literal, NamedTuple

import regex

Tokenizer = Literal["words", "spaces"]

BEGIN = "\x02"  # start of text
END = "\x03"  # end of text
MASK = "\x1a"  # substitute
SPECIAL = frozenset((BEGIN, END, MASK))

_PATTERN = r"""
    [£$€¥₹]?\d+(?:[.,:]\d+)*(?:st|nd|rd|th|s|km|m|pm|am|p|k|[£€])?(?![\p{L}\p{M}\d])  # £20.50, 3rd
  | [\p{L}\p{M}\p{N}_\u200c\u200d]+?(?=['’](?:s|re|ve|ll|d|m|S)(?![\p{L}\p{M}\p{N}]))  # Zizzi|'s
  | ['’](?:s|re|ve|ll|d|m|S)(?![\p{L}\p{M}\p{N}])
  | [\p{L}\p{M}\p{N}_\u200c\u200d]+(?:['’][\p{L}\p{M}]+)*         # don't, O'Neill, any script
  | [£$€¥₹]\d+(?:[.,]\d+)*
  | \.{2,} | -{2,} | [!?]{2,} | [ ]
  | \X                                                            # any other grapheme cluster
"""

_QUOTES: tuple[str, ...] = ('"', "'")
_CLITICS = frozenset(f"{mark}{tail}" for mark in "'’" for tail in ("s", "S", "re", "ve", "ll", "d", "m"))
_STICKS_LEFT = frozenset(".,;:!?%)]}…”’°*")
_STICKS_BOTH = frozenset("-/‑")
_STICKS_RIGHT = frozenset("([{“‘#£$€¥₹¿¡@") | _STICKS_BOTH


class Detokenized(NamedTuple):
    """A text and the half-open character range of each of its tokens."""

    text: str
    spans: list[tuple[int, int]]


@cache
def _compiled() -> regex.Pattern[str]:
    return regex.compile(_PATTERN, regex.VERBOSE)


def normalize(text: str) -> str:
    """The text in NFC, with single spaces and without control characters."""
    if not text.isprintable():
        text = "".join(
            " " if c.isspace() else c for c in text if c.isspace() or unicodedata.category(c) != "Cc"
        )
    if not text.isascii():
        text = unicodedata.normalize("NFC", text)
    return " ".join(text.split())


def tokenize(text: str, tokenizer: Tokenizer = "words") -> list[str]:
    """The tokens of a text."""
    normal = normalize(text)
    if tokenizer == "spaces":
        return normal.split()
    tokens: list[str] = []
    spaced = False  # whether a space precedes the current match
    for found in _compiled().findall(normal):
        if found == " ":
            if tokens and _sticks_right(tokens[-1]):
                tokens[-1] += " "
            spaced = True
            continue
        tokens.append(f" {found}" if spaced and _sticks_left(found) else found)
        spaced = False
    return tokens


def detokenize(tokens: Sequence[str], tokenizer: Tokenizer = "words") -> str:
    """The text of tokens."""
    return detokenize_with_spans(tokens, tokenizer).text


def detokenize_with_spans(tokens: Sequence[str], tokenizer: Tokenizer = "words") -> Detokenized:
    """The text of tokens, and the character range of each token in it."""
    parts: list[str] = []
    spans: list[tuple[int, int]] = []
    length = 0
    quote_is_open: dict[str, bool] = dict.fromkeys(_QUOTES, False)
    glued = True  # no space before the first token
    for index, token in enumerate(tokens):
        left = right = False
        if tokenizer == "words":
            if token in quote_is_open:
                left, right = _quote_sticks(tokens, index, quote_is_open)
            else:
                left, right = _sticks_left(token), _sticks_right(token)
        word = token.strip(" ") or token
        if not (glued or left):
            parts.append(" ")
            length += 1
        parts.append(word)
        spans.append((length, length + len(word)))
        length += len(word)
        glued = right
    return Detokenized("".join(parts), spans)


def _sticks_left(token: str) -> bool:
    bare = token.rstrip(" ")
    return token[0] in _STICKS_LEFT or bare in _STICKS_BOTH or bare in _CLITICS


def _sticks_right(token: str) -> bool:
    return token.lstrip(" ") in _STICKS_RIGHT


def _quote_sticks(tokens: Sequence[str], index: int, quote_is_open: dict[str, bool]) -> tuple[bool, bool]:
    """Straight quotes open and close in turn; an unpaired single quote is an apostrophe (`adults' menu`)."""
    quote = tokens[index]
    if quote == "'" and not quote_is_open[quote] and quote not in tokens[index + 1 :]:
        return True, False
    quote_is_open[quote] = not quote_is_open[quote]
    return not quote_is_open[quote], quote_is_open[quote]
