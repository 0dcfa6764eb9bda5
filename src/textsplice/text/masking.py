"""Masking: hides in a neighbor what it says about its own table, so that it is not copied."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from textsplice.text.linearize import Linearized, Segment
from textsplice.text.seams import spaceless
from textsplice.text.tokens import MASK

_STOP_WORDS = """
a an and are as at be by for from has have in is it its no not of on or out than that the there this to was
were which who with yes
"""
# A single stop word is not masked: it appears in values ("5 out of 5", "The Eagle") and everywhere else.
STOP_WORDS = frozenset(_STOP_WORDS.split())
_Place = tuple[list[str], int]  # a value, and a place in it


def mask(tokens: Sequence[str], values: Sequence[Sequence[str]]) -> list[str]:
    """The tokens, with each maximal run that is part of a value replaced by as many mask tokens."""
    masked = list(tokens)
    for start, stop in mask_runs(tokens, values):
        masked[start:stop] = [MASK] * (stop - start)
    return masked


def mask_runs(tokens: Sequence[str], values: Sequence[Sequence[str]]) -> list[tuple[int, int]]:
    """The maximal runs `tokens[start:stop]` that are also runs of one of `values`, ignoring case.

    A single stop word and a run of nothing but punctuation do not count, and a single character of a script
    without spaces only if it is a whole value: as part of one, it may be part of any other word.
    """
    words = [token.casefold() for token in tokens]
    starts: dict[str, list[_Place]] = {}
    for value in values:
        folded = [token.casefold() for token in value]
        for place, word in enumerate(folded):
            starts.setdefault(word, []).append((folded, place))
    whole = {value[0].casefold() for value in values if len(value) == 1}
    runs: list[tuple[int, int]] = []
    # Where a run ends, by its value and how far it is shifted: of many marks in a row, each begins one.
    ends: dict[tuple[int, int], int] = {}
    start = 0
    while start < len(words):
        length = 0
        for value, place in _places(words[start], starts):
            shift = (id(value), place - start)
            if ends.get(shift, 0) <= start:
                ends[shift] = start + _common(words, start, value, place)
            length = max(length, ends[shift] - start)
        run = words[start : start + length]
        if (length > 1 or (length == 1 and _says_enough(run[0], whole))) and any(map(_is_word, run)):
            runs.append((start, start + length))
            start += length
        else:
            start += 1
    return runs


def masked_fields(words: Sequence[str], own: Linearized) -> list[str | None]:
    """The field of each word that masking hides in a text of the table `own`; None for all other words.

    A run that is part of several values is of the first one's field.
    """
    found: list[str | None] = [None] * len(words)
    for start, stop in mask_runs(words, own.value_tokens()):
        segment = next(saying(words[start:stop], own))
        found[start:stop] = [segment.field] * (stop - start)
    return found


def saying(run: Sequence[str], table: Linearized) -> Iterator[Segment]:
    """The values of a table that a masked run is part of, in the table's order."""
    wanted = [word.casefold().strip(" ") for word in run]
    for segment, value in zip(table.segments, table.value_tokens(), strict=True):
        folded = [word.casefold().strip(" ") for word in value]
        if any(folded[i : i + len(wanted)] == wanted for i in range(len(folded) - len(wanted) + 1)):
            yield segment


def _places(word: str, starts: Mapping[str, Sequence[_Place]]) -> Sequence[_Place]:
    """Where values have this word."""
    found = starts.get(word, ())
    return found if word.isalnum() else [*found, *starts.get(word.strip(" "), ())]


def _says_enough(word: str, whole: Collection[str]) -> bool:
    return word not in STOP_WORDS and (word in whole or word.isascii() or not spaceless(word[0]))


def _common(words: Sequence[str], start: int, value: Sequence[str], place: int) -> int:
    length = 0
    while (
        start + length < len(words)
        and place + length < len(value)
        and is_said(words[start + length], value, place + length)
    ):
        length += 1
    return length


def is_said(word: str, value: Sequence[str], place: int) -> bool:
    """Whether a word of a text is this token of a value; a space that the text has around it doesn't count.

    The last token of `C#` is `"# "` in the middle of a text, the first one of `.NET` is `" ."`.
    """
    if word == value[place]:
        return True
    if place == 0:
        word = word.lstrip(" ")
    if place == len(value) - 1:
        word = word.rstrip(" ")
    return word == value[place]


def _is_word(token: str) -> bool:
    return any(character.isalnum() for character in token)
