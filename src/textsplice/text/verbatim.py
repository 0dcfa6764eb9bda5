"""How many values a text omits or words differently; masking can't see those."""

from __future__ import annotations

from collections.abc import Sequence

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
        if not _appears(folded, words):
            unsaid += 1
    return unsaid


def _appears(value: Sequence[str], words: Sequence[str]) -> bool:
    return any(
        is_said(words[start], value, 0)
        and all(is_said(words[start + place], value, place) for place in range(1, len(value)))
        for start in range(len(words) - len(value) + 1)
    )
