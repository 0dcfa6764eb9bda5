"""S2S+copy's model."""

from __future__ import annotations

from textsplice.policy.lrt.policy import LrtPolicy


class CopyPolicy(LrtPolicy):
    """The model of LRT; what differs (no neighbors, frequent words) is said by its kind, `COPY`."""
