"""Which values a text says word for word, and how many it omits or words differently."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from textsplice.text.linearize import Linearized
from textsplice.text.masking import is_said
from textsplice.text.yes_no import is_yes_or_no


def unsaid_values(tokens: Sequence[str], table: Linearized) -> int:
    """How many values of the table do not appear verbatim in the text, ignoring case."""
    words = [token.casefold() for token in tokens]
    unsaid = 0
    for value in table.value_tokens():
        folded = [token.casefold() for token in value]
        if len(folded) == 1 and is_yes_or_no(folded[0]):
            continue
        if next(occurrences(words, folded), None) is None:
            unsaid += 1
    return unsaid


def occurrences(words: Sequence[str], value: Sequence[str]) -> Iterator[int]:
    """Where a value begins in a text, whatever spaces stand around its first and its last mark there."""
    size, first = len(value), value[0].strip(" ")
    for start in range(len(words) - size + 1):
        word = words[start]
        if (word == first or word.strip(" ") == first) and all(
            is_said(words[start + place], value, place) for place in range(size)
        ):
            yield start
