"""Characters that nobody sees, and the few places where they mean something.

They could hide a word from a rule (a soft hyphen in `cheap`) or keep a value from being found, so they are
taken out of all text at reading. Kept are those that change what is seen:

- U+200D between the parts of one emoji, U+FE0E and U+FE0F after an emoji, tags inside a flag;
- U+200C and U+200D beside a virama (conjuncts of Indic scripts);
- U+200C between two letters that would join without it (Persian, Kurdish and others; RFC 5892, A.1);
- Mongolian variation selectors and the vowel separator after a Mongolian letter.
"""

from __future__ import annotations

import unicodedata
from functools import cache

import regex

_KEPT = r"""
    (?<=\p{Extended_Pictographic}[\uFE0F\U0001F3FB-\U0001F3FF]?)\u200D(?=\p{Extended_Pictographic})
  | (?<=\p{ccc=9})[\u200C\u200D] | \u200D(?=\p{ccc=9})
  | (?<=[\p{jt=D}\p{jt=L}]\p{jt=T}*)\u200C(?=\p{jt=T}*[\p{jt=D}\p{jt=R}])
  | (?<=[\p{Emoji}--[0-9#*]])[\uFE0E\uFE0F] | (?<=[0-9#*])\uFE0F(?=\u20E3)
  | (?<=\U0001F3F4)[\U000E0030-\U000E0039\U000E0061-\U000E007A]{3,6}\U000E007F
  | (?<=[\u1820-\u18AA])[\u180B-\u180F]
"""
# Besides those that Unicode calls ignorable: marks of annotations, and halves of surrogate pairs.
_INVISIBLE = r"[\p{Default_Ignorable_Code_Point}\uFFF9-\uFFFB\p{Cs}]"


def visible(text: str) -> str:
    """The text in NFC, without invisible characters that mean nothing."""
    text = unicodedata.normalize("NFC", text)
    if not _any().search(text):
        return text
    # Marks that an invisible character kept apart may change places, and then another one means nothing.
    while (cleaned := unicodedata.normalize("NFC", _meaningless().sub(_kept, text))) != text:
        text = cleaned
    return text


def without_controls(text: str) -> str:
    """The text without control characters; those that are white space become spaces."""
    return "".join(" " if c.isspace() else c for c in text if c.isspace() or unicodedata.category(c) != "Cc")


def _kept(found: regex.Match[str]) -> str:
    return found[1] or ""


@cache
def _any() -> regex.Pattern[str]:
    return regex.compile(_INVISIBLE, regex.VERSION1)


@cache
def _meaningless() -> regex.Pattern[str]:
    return regex.compile(rf"({_KEPT})|{_INVISIBLE}", regex.VERSION1 | regex.VERBOSE)
