"""S2S+copy: no neighbors; the frequent words of the corpus, and copying from the table."""

from __future__ import annotations

from textsplice.policy.token import TokenPolicy


class CopyPolicy(TokenPolicy):
    """S2S+copy: the same left-to-right decoder; its cases have no neighbors, its words are frequent."""
