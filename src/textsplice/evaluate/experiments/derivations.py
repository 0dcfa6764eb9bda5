"""The splices that a reader of a derivation has to read."""

from __future__ import annotations

from collections.abc import Sequence

from textsplice.oracle.canvas import is_left_to_right
from textsplice.oracle.splice import Splice


def sources_read(splices: Sequence[Splice], tokens: Sequence[int]) -> Sequence[int]:
    """The source of each splice that a reader reads; `tokens` are the sources of the text's tokens.

    From left to right, begin and end are spliced too, and no reader sees them: what is read are the tokens.
    """
    return tokens if is_left_to_right(splices) else [splice.neighbor for splice in splices]
