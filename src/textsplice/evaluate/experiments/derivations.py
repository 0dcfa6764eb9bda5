"""The splices that a reader of a derivation has to read."""

from __future__ import annotations

from collections.abc import Sequence

from textsplice.oracle.splice import Splice


def is_left_to_right(splices: Sequence[Splice]) -> bool:
    """Whether every splice inserts one token at the right end, as LRT and S2S+copy do."""
    return all(
        splice.start == splice.stop == place and splice.end == splice.begin + 1
        for place, splice in enumerate(splices)
    )


def sources_read(splices: Sequence[Splice], tokens: Sequence[int]) -> Sequence[int]:
    """The source of each splice that a reader reads; `tokens` are the sources of the text's tokens.

    From left to right, begin and end are spliced too, and no reader sees them: what is read are the tokens.
    """
    return tokens if is_left_to_right(splices) else [splice.neighbor for splice in splices]
