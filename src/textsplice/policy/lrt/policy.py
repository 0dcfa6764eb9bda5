"""LRT: its model, and the beam over tokens by which it proposes texts."""

from __future__ import annotations

from collections.abc import Sequence

from textsplice.config import SearchConfig
from textsplice.policy.lrt.beam import search_tokens
from textsplice.policy.lrt.model import LrtModel
from textsplice.policy.lrt.settings import TokenSettings
from textsplice.policy.policy import Encoded
from textsplice.policy.problem import Outcome, Problem


class LrtPolicy(LrtModel):
    """Writes one token at a time, left to right."""

    def propose(
        self, problems: Sequence[Problem], search: SearchConfig, encodings: Encoded | None = None
    ) -> list[Outcome]:
        return search_tokens(self, problems, TokenSettings.of(search), encodings)
