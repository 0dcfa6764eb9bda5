"""Text to tokens and back: what was tokenized comes back exactly as it was written.

There are two tokenizers: `words` for running text (it separates punctuation, hyphens and `'s`) and `spaces`
for corpora that are already tokenized (WikiBio). Scripts without spaces are cut into grapheme clusters, so
that values can be found and spliced in them. Every character but spaces belongs to one token. A token never
contains a control character, but the special tokens are control characters, so no user's text can forge one.
A mark that is written with an unusual space keeps it in its token: `" - "` is a different token from the
hyphen of `family-friendly`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from itertools import pairwise
from typing import Literal, NamedTuple

import regex

from textsplice.text import version_1
from textsplice.text.invisible import visible, without_controls
from textsplice.text.seams import QUOTES, SPACELESS, Placed, spaces, sticks_left, sticks_right

Tokenizer = Literal["words", "spaces", "words/1", "spaces/1"]
TOKENIZERS: tuple[Tokenizer, ...] = ("words", "spaces")
OLD_TOKENIZERS: tuple[Tokenizer, ...] = ("words/1", "spaces/1")  # for rows of format 1

BEGIN = "\x02"  # start of text
END = "\x03"  # end of text
MASK = "\x1a"  # substitute
SPECIAL = frozenset((BEGIN, END, MASK))

# What the pattern below is made of. Letters are those of scripts that have spaces between words.
_ANY_SCRIPT = {
    "letter": rf"[\p{{L}}--[{SPACELESS}]]\p{{M}}",
    "letter_or_digit": rf"[[\p{{L}}\p{{N}}]--[{SPACELESS}]]\p{{M}}",
    "joiner": r"\u200c\u200d",
    "alone": r"(?!\p{M})",
    # A grapheme cluster, and what is stacked below it (Khmer, Burmese, Tai Tham, Javanese, Balinese).
    "cluster": r"\X\p{M}*+(?:(?<=[\u17D2\u1039\u1A60\uA9C0\u1B44])(?=\p{L})\X\p{M}*+)*+",
}
# The same for texts of the first 256 characters, with Python's own and faster `re`.
_LATIN_1 = {
    "letter": "A-Za-zªµºÀ-ÖØ-öø-ÿ",
    "letter_or_digit": "0-9A-Za-zªµºÀ-ÖØ-öø-ÿ²³¹¼½¾",
    "joiner": "",
    "alone": "",
    "cluster": ".",
}
_PATTERN = r"""
    [£$€¥₹]?\d+(?:[.,:]\d+)*(?:st|nd|rd|th|s|km|m|pm|am|p|k|[£€])?(?![{letter}\d])  # £20.50, 3rd
  | [{letter_or_digit}_{joiner}]+?(?:['’][{letter}]+?)*?(?={clitic})  # Zizzi|'s, O'Neill|'s
  | {clitic}
  | [{letter_or_digit}_{joiner}]+(?:['’][{letter}]+)*             # don't, O'Neill
  | [£$€¥₹]\d+(?:[.,]\d+)*{alone}
  | (?:\.\.+ | --+ | [!?][!?]+){alone} | [ ]
  | {cluster}                                                     # anything else
"""
_CLITIC = "['’](?:s|re|ve|ll|d|m|S)(?![{letter_or_digit}])"


class Tokens(list[str]):
    """The tokens of a text, and the normalized text itself; made by `tokenize`, not to be changed."""

    __slots__ = ("text",)
    text: str

    @property
    def spans(self) -> list[tuple[int, int]]:
        """The half-open range of characters of each token."""
        spans: list[tuple[int, int]] = []
        end = 0
        for token in self:
            word = token.strip(" ") or token
            start = end + self.text.startswith(" ", end)
            end = start + len(word)
            if self.text[start:end] != word:
                raise ValueError(f"{word!r} is not a token of the text.")
            spans.append((start, end))
        return spans

    @property
    def spaced(self) -> list[bool]:
        """Whether a space comes before each token."""
        spans = self.spans
        return [False, *(start > end for (_, end), (start, _) in pairwise(spans))] if spans else []


class Detokenized(NamedTuple):
    """A text and the half-open character range of each of its tokens."""

    text: str
    spans: list[tuple[int, int]]


@cache
def _pattern() -> regex.Pattern[str]:
    return regex.compile(_filled(_ANY_SCRIPT), regex.VERBOSE | regex.VERSION1)


@cache
def _latin_1_pattern() -> re.Pattern[str]:
    return re.compile(_filled(_LATIN_1), re.VERBOSE)


def _filled(parts: Mapping[str, str]) -> str:
    return _PATTERN.format(**parts, clitic=_CLITIC.format(**parts))


def normalize(text: str) -> str:
    """The text in NFC, with single spaces and without control and meaningless invisible characters."""
    return " ".join(_cleaned(text).split())


def tokenize(text: str, tokenizer: Tokenizer = "words") -> Tokens:
    """The tokens of a text."""
    words = (version_1.cleaned(text) if tokenizer in OLD_TOKENIZERS else _cleaned(text)).split()
    normal = " ".join(words)
    if tokenizer == "words":
        simple = normal.isascii() or max(normal) < "\u0100"
        words = _with_unusual_spaces((_latin_1_pattern() if simple else _pattern()).findall(normal))
    elif tokenizer == "words/1":
        words = _with_unusual_spaces(version_1.pattern().findall(normal))
    tokens = Tokens(words)
    tokens.text = normal
    return tokens


def _cleaned(text: str) -> str:
    if not text.isprintable():
        text = without_controls(text)
    return text if text.isascii() else visible(text)


def _with_unusual_spaces(found: list[str]) -> list[str]:
    tokens: list[str] = []
    spaced = False  # whether a space precedes the current match
    for each in found:
        if each == " ":
            if tokens and sticks_right(tokens[-1]):
                tokens[-1] += " "
            spaced = True
            continue
        tokens.append(f" {each}" if spaced and sticks_left(each) else each)
        spaced = False
    return tokens


def detokenize(tokens: Sequence[str], tokenizer: Tokenizer = "words") -> str:
    """The text of tokens."""
    if isinstance(tokens, Tokens):
        return tokens.text
    if tokenizer == "words" and tokens and not any(quote in tokens for quote in QUOTES):
        return "".join((_bare(tokens[0]), *map(_next, tokens, tokens[1:])))
    return detokenize_with_spans(tokens, tokenizer).text


@lru_cache(maxsize=1 << 17)
def _next(before: str, token: str) -> str:
    """A token after another one, with the space between them; quotes depend on those before them too."""
    return " " * spaces((Placed(before), Placed(token)), (None, None))[1] + _bare(token)


def detokenize_with_spans(tokens: Sequence[str], tokenizer: Tokenizer = "words") -> Detokenized:
    """The text of tokens, and the character range of each token in it.

    What `tokenize` returned gives its own text. Between other tokens, the rule for seams decides.
    """
    if isinstance(tokens, Tokens):
        return Detokenized(tokens.text, tokens.spans)
    return write(list(map(_alone, tokens)), [None] * len(tokens), tokenizer)


def write(tokens: Sequence[Placed], given: Sequence[bool | None], tokenizer: Tokenizer) -> Detokenized:
    """The text of tokens from any sources; `given` says whether a space comes before each, None at a seam."""
    parts: list[str] = []
    spans: list[tuple[int, int]] = []
    length = 0
    for placed, space in zip(tokens, _spaced(tokens, given, tokenizer), strict=True):
        word = _bare(placed.token)
        parts.append(f" {word}" if space else word)
        length += space
        spans.append((length, length + len(word)))
        length += len(word)
    return Detokenized("".join(parts), spans)


def _spaced(tokens: Sequence[Placed], given: Sequence[bool | None], tokenizer: Tokenizer) -> list[bool]:
    """Whether a space comes before each token."""
    if tokenizer == "words":
        return spaces(tokens, given)
    if tokenizer == "words/1":
        return version_1.spaces([placed.token for placed in tokens])
    return [index > 0 for index in range(len(tokens))]


@lru_cache(maxsize=1 << 16)
def _alone(token: str) -> Placed:
    return Placed(token)


@lru_cache(maxsize=1 << 16)
def _bare(token: str) -> str:
    """A token without the spaces that are part of it."""
    return token.strip(" ") or token
