"""How many values a text omits or words differently; masking can't see those."""

from __future__ import annotations

from collections.abc import Sequence

from textsplice.text.linearize import Linearized
from textsplice.text.yes_no import is_yes_or_no


def unsaid_values(tokens: Sequence[str], table: Linearized) -> int:
    """How many values of the table do not appear verbatim in the text, ignoring case."""
    words = [token.casefold() for token in tokens]
    unsaid = 0
    for value in table.value_tokens():
        folded = [token.casefold() for token in value]
        if len(folded) == 1 and is_yes_or_no(folded[0]):
            continue
        length = len(folded)
        if not any(words[i : i + length] == folded for i in range(len(words) - length + 1)):
            unsaid += 1
    return unsaid
