"""Hard rules on texts, for instance `splicer.generate(table, rules=[rules.CopyOnly()])`."""

from __future__ import annotations

from textsplice.policy.problem import Draft
from textsplice.search.rules import (
    ApprovedNeighbors,
    CopyOnly,
    ForbidWords,
    KeepSentences,
    MaxSentences,
    MinSentences,
    NeighborsWhere,
    NeverNeighbors,
    NoContradictions,
    RequireFields,
    Rule,
    StartFrom,
)

__all__ = [
    "ApprovedNeighbors",
    "CopyOnly",
    "Draft",
    "ForbidWords",
    "KeepSentences",
    "MaxSentences",
    "MinSentences",
    "NeighborsWhere",
    "NeverNeighbors",
    "NoContradictions",
    "RequireFields",
    "Rule",
    "StartFrom",
]
