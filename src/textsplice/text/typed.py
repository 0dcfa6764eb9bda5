"""A text as its seams are judged: case-folded words, and one mask for each value, typed by its field."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from textsplice.text.linearize import Linearized
from textsplice.text.masking import mask_runs, saying
from textsplice.text.tokens import MASK


class Typed(NamedTuple):
    """Word `i` stands for the tokens from `starts[i]` to the next word's start."""

    words: list[str]
    starts: list[int]


def typed(tokens: Sequence[str], own: Linearized) -> Typed:
    """The words of a text of the table `own`; values of different lengths are one mask each."""
    words: list[str] = []
    starts: list[int] = []
    place = 0
    for start, stop in mask_runs(tokens, own.value_tokens()):
        words += [token.casefold() for token in tokens[place:start]]
        starts += range(place, start)
        words.append(MASK + next(saying(tokens[start:stop], own)).field)
        starts.append(start)
        place = stop
    words += [token.casefold() for token in tokens[place:]]
    starts += range(place, len(tokens))
    return Typed(words, starts)
