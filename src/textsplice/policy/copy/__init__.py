"""S2S+copy: LRT without neighbors, which may generate all frequent words of the corpus."""

from __future__ import annotations

from textsplice.policy.kind import PolicyKind

COPY = PolicyKind(
    "copy",
    uses_neighbors=False,
    sums_occurrences=True,
    writes="tokens",
    model="textsplice.policy.copy.policy:CopyPolicy",
    generates="frequent",
)
