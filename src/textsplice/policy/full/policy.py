"""FULL: its model, and the beam over splices by which it proposes texts."""

from __future__ import annotations

from collections.abc import Sequence

from textsplice.config import SearchConfig
from textsplice.policy.full.beam import search_splices
from textsplice.policy.full.hypothesis import BeamSettings
from textsplice.policy.full.model import FullModel
from textsplice.policy.policy import Encoded
from textsplice.policy.problem import Outcome, Problem


class FullPolicy(FullModel):
    """The paper's policy over splices."""

    def propose(
        self, problems: Sequence[Problem], search: SearchConfig, encodings: Encoded | None = None
    ) -> list[Outcome]:
        return search_splices(self, problems, BeamSettings.of(search), encodings)
