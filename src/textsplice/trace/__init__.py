"""Where texts come from, after they were made: which of them use a source, and doing without it."""

from textsplice.trace.gate import Gate, Reason, Verdict
from textsplice.trace.texts import SourceTexts
from textsplice.trace.tracing import Tracer
from textsplice.trace.uses import Use, uses
from textsplice.trace.values import KnownValues
from textsplice.trace.verifying import Finding, Verifier, Witness

__all__ = [
    "Finding",
    "Gate",
    "KnownValues",
    "Reason",
    "SourceTexts",
    "Tracer",
    "Use",
    "Verdict",
    "Verifier",
    "Witness",
    "uses",
]
