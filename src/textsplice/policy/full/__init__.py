"""FULL: the paper's policy over splices."""

from __future__ import annotations

from textsplice.policy.kind import PolicyKind

FULL = PolicyKind("full", writes="splices", model="textsplice.policy.full.policy:FullPolicy")
