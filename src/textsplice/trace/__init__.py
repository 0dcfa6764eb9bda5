"""Where texts come from, after they were made: which of them use a source, and doing without it."""

from textsplice.trace.uses import Use, uses

__all__ = ["Use", "uses"]
