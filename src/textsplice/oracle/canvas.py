"""Questions about a canvas and how it came about: is it a text yet, was it written left to right?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

from textsplice.oracle.splice import Splice
from textsplice.text.tokens import BEGIN, END, MASK
from textsplice.text.vocabulary import BEGIN_ID, END_ID, MASK_ID

Token = TypeVar("Token")


class Marks(NamedTuple, Generic[Token]):
    """The tokens of a canvas that are not words."""

    begin: Token
    end: Token
    mask: Token


TOKEN_MARKS = Marks(BEGIN, END, MASK)
ID_MARKS = Marks(BEGIN_ID, END_ID, MASK_ID)


class Canvas(Protocol):
    """A sequence of tokens or an array of ids."""

    def __len__(self) -> int: ...
    def __getitem__(self, index: Any, /) -> Any: ...


def obstacle(canvas: Canvas, marks: Marks[Any]) -> str | None:
    """Why a canvas is not a text yet, whatever the rules, as a clause; None if it is one.

    A text is begin, at least one word, end, with no other begin or end and no mask. Names of fields need no
    check here: only provenance tells them from words.
    """
    if len(canvas) < 2 or canvas[0] != marks.begin or canvas[-1] != marks.end:
        return "the text does not run from begin to end"
    words = canvas[1:-1]
    if not len(words):
        return "the text has no words"
    if marks.mask in words:
        return "a masked word was not replaced"
    if marks.begin in words or marks.end in words:
        return "begin or end stands inside the text"
    return None


def is_left_to_right(splices: Sequence[Splice]) -> bool:
    """Whether every splice appends one token, as policies do that write token by token."""
    return all(
        start == stop == step and end == begin + 1
        for step, (start, stop, _, begin, end) in enumerate(splices)
    )
