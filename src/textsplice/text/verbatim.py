"""How many values a text omits or words differently; masking can't see those."""

from __future__ import annotations

from collections.abc import Sequence

from textsplice.text.linearize import Linearized

# Nobody writes "yes" for `dogs: yes`; such a value is never expected word for word.
YES_NO = frozenset(("yes", "no", "true", "false"))


def unsaid_values(tokens: Sequence[str], table: Linearized) -> int:
    """How many values of the table do not appear verbatim in the text, ignoring case."""
    words = [token.casefold() for token in tokens]
    unsaid = 0
    for value in table.value_tokens():
        folded = [token.casefold() for token in value]
        if len(folded) == 1 and folded[0] in YES_NO:
            continue
        length = len(folded)
        if not any(words[i : i + length] == folded for i in range(len(words) - length + 1)):
            unsaid += 1
    return unsaid
