"""Whether a canvas is a text yet, and whether it was written left to right."""

from __future__ import annotations

import numpy as np
import pytest

from textsplice.oracle import Splice, lrt_oracle
from textsplice.oracle.canvas import ID_MARKS, TOKEN_MARKS, is_left_to_right, obstacle
from textsplice.text.tokens import BEGIN, END, MASK
from textsplice.text.vocabulary import BEGIN_ID, END_ID, MASK_ID

IDS = {BEGIN: BEGIN_ID, END: END_ID, MASK: MASK_ID, "a": 7, "b": 8}
CANVASES = [
    ((), "the text does not run from begin to end"),
    ((BEGIN,), "the text does not run from begin to end"),
    ((BEGIN, "a"), "the text does not run from begin to end"),
    (("a", END), "the text does not run from begin to end"),
    ((BEGIN, END), "the text has no words"),
    ((BEGIN, "a", MASK, END), "a masked word was not replaced"),
    ((BEGIN, "a", END, "b", END), "begin or end stands inside the text"),
    ((BEGIN, "a", BEGIN, "b", END), "begin or end stands inside the text"),
    ((BEGIN, "a", END), None),
]


@pytest.mark.parametrize(("canvas", "reason"), CANVASES)
def test_a_canvas_that_is_not_a_text_says_why(canvas: tuple[str, ...], reason: str | None) -> None:
    assert obstacle(canvas, TOKEN_MARKS) == reason


@pytest.mark.parametrize(("canvas", "reason"), CANVASES)
def test_ids_are_judged_as_their_tokens_are(canvas: tuple[str, ...], reason: str | None) -> None:
    ids = np.array([IDS[token] for token in canvas], dtype=np.int32)
    assert obstacle(ids, ID_MARKS) == reason


def test_a_derivation_that_appends_token_by_token_is_left_to_right() -> None:
    assert is_left_to_right(lrt_oracle("abc", ["cab"]))
    assert is_left_to_right([])


@pytest.mark.parametrize(
    "splices",
    [
        [Splice(0, 0, 1, 0, 2)],  # two tokens at once
        [Splice(0, 0, 1, 0, 1), Splice(0, 0, 1, 0, 1)],  # to the left of what is there
        [Splice(0, 0, 1, 0, 1), Splice(0, 1, 1, 0, 1)],  # replaces
    ],
)
def test_other_derivations_are_not_left_to_right(splices: list[Splice]) -> None:
    assert not is_left_to_right(splices)
