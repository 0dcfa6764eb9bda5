"""The sentences of a canvas, as the rules about sentences count them."""

from __future__ import annotations

from collections.abc import Sequence

from textsplice.text.tokens import BEGIN, END


def ends_sentence(token: str) -> bool:
    """Whether a token is a full stop, a question or exclamation mark, or a run of them."""
    return token != "" and all(character in ".!?" for character in token)


def count_sentences(tokens: Sequence[str]) -> int:
    """How many sentences a text has; one without a mark at its end counts too."""
    return len(sentence_spans(tokens))


def sentence_spans(tokens: Sequence[str]) -> list[tuple[int, int]]:
    """The half-open spans of the sentences, each with the marks that end it; begin and end are in none."""
    spans: list[tuple[int, int]] = []
    start: int | None = None
    for position, token in enumerate(tokens):
        if token in (BEGIN, END):
            if start is not None:
                spans.append((start, position))
            start = None
        elif ends_sentence(token):
            if start is not None:
                spans.append((start, position + 1))
            elif spans and spans[-1][1] == position:
                spans[-1] = (spans[-1][0], position + 1)
            start = None
        elif start is None:
            start = position
    if start is not None:
        spans.append((start, len(tokens)))
    return spans


def latest_stop(canvas: Sequence[str], start: int) -> int:
    """The last `stop` for which `canvas[start:stop]` does not contain a whole sentence.

    Words after the last mark are a sentence only once `END` closes them.
    """
    open_end = len(canvas) if canvas and not ends_sentence(canvas[-1]) else -1
    return min(
        (b - 1 for a, b in sentence_spans(canvas) if a >= start and b != open_end),
        default=len(canvas),
    )
