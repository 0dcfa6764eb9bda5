"""LRT: one token at a time, left to right, from the table, the neighbors or the vocabulary."""

from __future__ import annotations

from textsplice.policy.kind import PolicyKind

LRT = PolicyKind(
    "lrt", sums_occurrences=True, writes="tokens", model="textsplice.policy.lrt.policy:LrtPolicy"
)
