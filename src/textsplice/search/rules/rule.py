"""What a rule is: restrictions of the search, and a check of each text.

A rule can act in four places. It says which neighbors may be offered (and which first), which words may be
placed, which splices may be made on a canvas, and whether a finished text obeys it. The last is asked before
any text is given, so a rule holds even where the first three can't enforce it; the search abstains then.
Beams that write left to right never replace anything; instead of the third they ask the last about each
prefix.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from textsplice.errors import InputError
from textsplice.oracle.sources import OfferedNeighbor, SourceKind, Sources
from textsplice.policy.problem import Draft
from textsplice.text.linearize import Segment

Allowed = NDArray[np.bool_]


class Rule:
    """A rule overrides the methods for the places where it acts; `violation` at least.

    To add one, write a frozen dataclass with a `name` and a line in `extensions.RULES`.
    """

    name: ClassVar[str]
    of_sources: ClassVar[bool] = False  # it asks where words come from, not only which they are

    def admits(self, neighbor: OfferedNeighbor) -> bool:
        """Whether a text of the store may be offered as a neighbor."""
        del neighbor
        return True

    def starts(self) -> Sequence[str]:
        """Ids of texts of the store that are offered before all others, since a text must begin with one."""
        return ()

    def about(self, sources: Sources) -> Rule:
        """The rule as the search asks it about texts of these sources; what it says must not change."""
        del sources
        return self

    def permits(self, word: str, kind: SourceKind) -> bool:
        """Whether a token may be placed on a canvas from this kind of source."""
        del word, kind
        return True

    def splices(self, canvas: Sequence[str], start: int, rest: Sequence[str]) -> Allowed | None:
        """Which splices at `start` are allowed, by (stop - start, end - begin - 1); None if all are.

        `rest` is the source from `begin` on.
        """
        del canvas, start, rest
        return None

    def missing(self, draft: Draft) -> Sequence[Segment]:
        """Values of the table that must be placed before the text may end."""
        del draft
        return ()

    def lacks(self, draft: Draft) -> int:
        """How far a text written left to right is from where it may end; 0 if the rule allows the end."""
        return sum(segment.stop - segment.start for segment in self.missing(draft))

    def mendable(self, draft: Draft) -> bool:
        """Whether a text that breaks the rule can still obey it if more is written after it."""
        del draft
        return False

    def violation(self, draft: Draft) -> str | None:
        """How a text breaks the rule, as a clause; None if it does not."""
        raise NotImplementedError

    def to_dict(self) -> dict[str, object]:
        """The rule as JSON: its name and its settings, which are the fields of a dataclass."""
        settings = fields(self) if is_dataclass(self) else ()
        return {"rule": self.name, **{setting.name: getattr(self, setting.name) for setting in settings}}

    @classmethod
    def from_dict(cls, data: Mapping[str, object], where: str) -> Rule:
        """Reads what `to_dict` wrote; `InputError` if the settings are not those of the rule."""
        settings = {name: value for name, value in data.items() if name != "rule"}
        try:
            return cls(**settings)
        except TypeError as error:
            raise InputError(
                f"the rule {cls.name!r} does not have these settings: {error}.", where=where
            ) from error
