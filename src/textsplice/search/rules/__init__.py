"""Hard rules: what a text must be like. `rule.py` says what a rule is; one file per group of rules."""

from __future__ import annotations

from textsplice.search.rules.fields import RequireFields
from textsplice.search.rules.neighbors import ApprovedNeighbors, NeighborsWhere, NeverNeighbors, StartFrom
from textsplice.search.rules.registered import rule_from_dict, rules_from_dicts
from textsplice.search.rules.rule import Rule
from textsplice.search.rules.sentences import KeepSentences, MaxSentences, MinSentences
from textsplice.search.rules.wordings import NoContradictions
from textsplice.search.rules.words import CopyOnly, ForbidWords

__all__ = [
    "ApprovedNeighbors",
    "CopyOnly",
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
    "rule_from_dict",
    "rules_from_dicts",
]
