"""The shape of a text: its table's values are replaced by the names of their fields."""

from __future__ import annotations

from collections.abc import Sequence

from textsplice.text.linearize import Linearized, field_token
from textsplice.text.masking import is_said


def delexicalize(tokens: Sequence[str], table: Linearized) -> str:
    """The shape of a text: each whole value becomes `field:`, longest first; the rest is case-folded."""
    by_first: dict[str, list[tuple[list[str], str]]] = {}
    for segment, value in zip(table.segments, table.value_tokens(), strict=True):
        folded = [token.casefold() for token in value]
        by_first.setdefault(folded[0].strip(" "), []).append((folded, field_token(segment.field)))
    for candidates in by_first.values():
        candidates.sort(key=lambda candidate: -len(candidate[0]))
    words = [token.casefold() for token in tokens]
    shape: list[str] = []
    place = 0
    while place < len(words):
        for value, marker in by_first.get(words[place].strip(" "), ()):
            run = words[place : place + len(value)]
            if len(run) == len(value) and all(is_said(word, value, at) for at, word in enumerate(run)):
                shape.append(marker)
                place += len(value)
                break
        else:
            shape.append(words[place])
            place += 1
    return " ".join(shape)
